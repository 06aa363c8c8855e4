"""The cost of each wire format: a streamed chunk relative to the minimum, and a long conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import jiter
from botocore import loaders
from botocore.eventstream import EventStream
from botocore.model import ServiceModel
from botocore.parsers import EventStreamJSONParser
from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import Message, ModelCall, ModelReply, ToolCall, ToolResult, ToolSpec, Usage
from abstractcore.framing import AwsEventStreamFramer, ServerSentEventFramer
from abstractcore.ports import Transpiler
from abstractcore.schema import TextDelta, TextPart, WireResponse
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.published import fixtures, frames_of, stream_of

_CHUNKS = 2000
_PIECE = 500
"""Bytes that arrive together: two or three chunks."""
_ROUNDS = 25
"""Turns of a question, a tool call, its result and an answer: 100 messages."""
_TEXT = "Light in a vacuum travels 299,792,458 metres in a second, which is how the metre is defined. "
_HEADERS = {"content-type": "application/json"}


def chunks(setup: Setup) -> list[Row]:
    """A streamed chunk in each format, from a published example, from its bytes to its delta."""
    rows: list[Row] = []
    for name, make in FORMATS.items():
        stream = _stream(name)
        pieces = [stream[i : i + _PIECE] for i in range(0, len(stream), _PIECE)]
        ways = {"ours": _decoding(make(), pieces), "bar": _bar(make(), pieces)}
        times = best({way: cpu_seconds(read, _CHUNKS) for way, read in ways.items()}, setup.rounds)
        bar = "botocore" if isinstance(make().framer(), AwsEventStreamFramer) else "frames, jiter"
        rows.append(Row(f"{name}: chunk / {bar}", times["ours"], times["bar"], 1.3))
    return rows


def conversations(setup: Setup) -> list[Row]:
    """Encoding a conversation of 100 messages with 10 tools, and decoding an answer, in each format."""
    rows: list[Row] = []
    for name, make in FORMATS.items():
        transpiler = make()
        call = transpiler.parse(transpiler.encode(_call()).request).call
        answer = WireResponse(200, _HEADERS, transpiler.render(_answer()).body)

        def exchange(
            transpiler: Transpiler = transpiler, call: ModelCall = call, answer: WireResponse = answer
        ) -> None:
            transpiler.encode(call)
            transpiler.decode(answer)

        time = best({"ours": cpu_seconds(repeated(exchange, 50), 50)}, setup.rounds)["ours"]
        rows.append(Row(f"{name}: 100 messages, 10 tools", time, goal=1e-3))
    return rows


def _stream(name: str) -> bytes:
    """Returns a published stream in which the first text frame is repeated many times.

    Of several streams it is the one with the longest such frame: it omits least of what vendors send.
    """
    transpiler = FORMATS[name]()
    printed = [fixture.read() for fixture in fixtures("stream") if fixture.format == name]
    texts = [(frames, *found) for frames in printed if (found := _first_text(transpiler, frames))]
    frames, index, text = max(texts, key=lambda found: len(str(found[0][found[1]])))
    words = [word + " " for word in _TEXT.split() * _CHUNKS][:_CHUNKS]
    pieces = [_saying(frames[index], text, word) for word in words]
    return stream_of(transpiler, [*frames[:index], *pieces, *frames[index + 1 :]])


def _first_text(transpiler: Transpiler, frames: list[Any]) -> tuple[int, str] | None:
    """Returns the first text frame, and its text."""
    decoder = transpiler.decoder()
    for index, frame in enumerate(frames_of(transpiler, [stream_of(transpiler, frames)])):
        for delta in decoder.feed(frame):
            if isinstance(delta, TextDelta):
                return index, delta.text
    return None


def _saying(frame: Any, text: str, word: str) -> Any:
    """Returns the JSON with `word` in place of `text`."""
    if isinstance(frame, dict):
        return {key: _saying(value, text, word) for key, value in cast("dict[str, Any]", frame).items()}
    if isinstance(frame, list):
        return [_saying(value, text, word) for value in cast("list[Any]", frame)]
    return word if frame == text else frame


def _decoding(transpiler: Transpiler, pieces: list[bytes]) -> Callable[[], None]:
    def read() -> None:
        framer, decoder = transpiler.framer(), transpiler.decoder()
        for piece in pieces:
            for frame in framer.feed(piece):
                decoder.feed(frame)

    return read


def _bar(transpiler: Transpiler, pieces: list[bytes]) -> Callable[[], None]:
    """Returns the minimum work: framing and JSON. For Amazon's event stream, botocore's decoder."""
    framer = transpiler.framer()
    if isinstance(framer, AwsEventStreamFramer):
        return _botocore(pieces)
    has_data = isinstance(framer, ServerSentEventFramer)

    def read() -> None:
        framer = transpiler.framer()
        for piece in pieces:
            for frame in framer.feed(piece):
                data = frame.data if has_data else frame
                if data != b"[DONE]":
                    jiter.from_json(data)

    return read


def _botocore(pieces: list[bytes]) -> Callable[[], None]:
    description = loaders.create_loader().load_service_model("bedrock-runtime", "service-2")
    shape = ServiceModel(description).operation_model("ConverseStream").output_shape.members["stream"]

    class Raw:
        """A response body for botocore."""

        def stream(self) -> Iterator[bytes]:
            return iter(pieces)

        def close(self) -> None:
            return

    def read() -> None:
        for _ in EventStream(Raw(), shape, EventStreamJSONParser(), "ConverseStream"):
            pass

    return read


def _call() -> ModelCall:
    messages: list[Message] = []
    for i in range(_ROUNDS):
        messages.append(Message.user(f"{i}: {_TEXT}"))
        messages.append(Message.assistant(_TEXT, ToolCall(f"call_{i}", f"tool_{i % 10}", '{"city":"Ulm","days":3}')))
        messages.append(Message.tool(ToolResult.text(f"call_{i}", _TEXT)))
        messages.append(Message.assistant(_TEXT))
    city = {"type": "string", "description": "The name of a city."}
    schema = {"type": "object", "properties": {"city": city, "days": {"type": "integer"}}, "required": ["city"]}
    return ModelCall("m", tuple(messages), tools=tuple(ToolSpec(f"tool_{i}", _TEXT, schema) for i in range(10)))


def _answer() -> ModelReply:
    return ModelReply((TextPart(_TEXT * 5),), "stop", usage=Usage(9000, 100), model="m", id="id_1")
