"""Every field of every format with a value of every other JSON type: it is read, a typed error, or a warning.

The fields are those of the vendors' published replies and streams, and of the replies that the renderers write; of
paths that look alike, one is tried.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from abstractcore.errors import ProviderError
from abstractcore.schema import (
    ModelReply,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCall,
    WireResponse,
    accumulate,
    deltas_of,
    to_data,
)
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.damage import Trail, distinct_paths, value_at, with_value
from tests.providers.formats.test_fuzz import payload_of, with_payload
from tests.providers.formats.test_junk_values import replies
from tests.providers.published import decoded, fixtures, frames_of, stream_of
from tests.tiers import smoke

WORDS = "other words"
OTHERS: list[Any] = [True, 0.0, 1.5, WORDS, [], [WORDS], {}, {"a": 1}]
"""A value of each JSON type but null, which is how servers write a field that they leave out."""
_TYPES = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}
MAY_BE_EMPTY = {
    "content": "of a message or a result: a text, or a list of pieces, of which there are none",
    "result": "of a hosted tool: a text, or a list of pieces, of which there are none",
}
"""Fields for which an empty list is a valid value, and why."""
IGNORED = {
    "id": "identifies a reply; only logs have it",
    "system_fingerprint": "identifies the server's configuration; it is metadata",
    "created": "the time of a reply; it is metadata",
    "object": "the kind of document, which the other fields show",
    "role": "always the assistant's",
}
"""Fields that never change what a reply says, so that another type may be silent, and why."""


@dataclass(frozen=True)
class Damaged:
    """A reply with another value at a place, and the whole one."""

    place: Trail
    value: Any
    decode: Callable[[], ModelReply]
    whole: ModelReply

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.place))} = {json.dumps(self.value)}"


def others(value: Any) -> Iterator[Any]:
    """Yields values of the types that `value` does not have, a list of texts for one of objects, and 1.5 for counts."""
    for other in OTHERS if value is not None else ():
        texts = isinstance(value, list) and value and not isinstance(value[0], str) and other == [WORDS]
        if _TYPES[type(other)] != _TYPES[type(value)] or texts or (type(value) is int and other == 1.5):
            yield other


def damaged_bodies(format: str) -> Iterator[Damaged]:
    transpiler, seen = FORMATS[format](), set[Any]()
    bodies = [fixture.read() for fixture in fixtures("reply") if fixture.format == format]
    bodies += [json.loads(transpiler.render(reply).body) for reply in replies(format)]
    for body in bodies:
        whole = transpiler.decode(WireResponse(200, {}, json.dumps(body).encode()))
        for place in distinct_paths(body, seen):
            for other in others(value_at(body, place)):
                data = json.dumps(with_value(body, place, other)).encode()
                yield Damaged(place, other, lambda data=data: transpiler.decode(WireResponse(200, {}, data)), whole)


def damaged_streams(format: str) -> Iterator[Damaged]:
    transpiler, seen = FORMATS[format](), set[Any]()
    streams = [stream_of(transpiler, fixture.read()) for fixture in fixtures("stream") if fixture.format == format]
    for reply in replies(format):
        renderer = transpiler.renderer()
        streams.append(b"".join(map(renderer.feed, deltas_of(reply))) + renderer.finish())
    for stream in streams:
        frames = frames_of(transpiler, [stream])
        whole = accumulate(decoded(transpiler, frames))
        for index, frame in enumerate(frames):
            if not payload_of(frame).startswith(b"{"):
                continue
            value = json.loads(payload_of(frame))
            for place in distinct_paths(value, seen):
                for other in others(value_at(value, place)):
                    odd = with_payload(frame, json.dumps(with_value(value, place, other)).encode())
                    given = [*frames[:index], odd, *frames[index + 1 :]]
                    yield Damaged(place, other, lambda given=given: accumulate(decoded(transpiler, given)), whole)


def content_of(reply: ModelReply) -> Any:
    """What a reply says: without ids, metadata, and parts that are kept as they were received."""
    parts = [part for part in reply.parts if not isinstance(part, OpaquePart)]
    return [*map(said_by, parts), reply.finish_reason, to_data(reply.usage)]


def said_by(part: Any) -> Any:
    if isinstance(part, TextPart):
        return part.text, [(cited.source, cited.title, cited.quote, cited.start, cited.end) for cited in part.citations]
    if isinstance(part, ReasoningPart):
        return part.text, part.signature, part.redacted_data
    if isinstance(part, ToolCall):
        return part.name, parsed(part.arguments_text)
    return to_data(part)


def parsed(text: str | None) -> Any:
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def is_silent(damaged: Damaged) -> bool:
    """Whether a reply says something else than the whole one without an error or a warning."""
    try:
        reply = damaged.decode()
    except ProviderError:
        return False
    field = next((name for name in reversed(damaged.place) if isinstance(name, str)), "")
    if len(reply.warnings) > len(damaged.whole.warnings) or content_of(reply) == content_of(damaged.whole):
        return False
    if damaged.value == [] and field in MAY_BE_EMPTY:
        return False
    return field not in IGNORED and not is_kept(damaged.value, reply, damaged.whole)


def is_kept(value: Any, reply: ModelReply, whole: ModelReply) -> bool:
    """Whether a call has an arguments error, or the reply has `value` as it was received, unlike the whole one."""
    if any(isinstance(part, ToolCall) and part.arguments_error is not None for part in reply.parts):
        return True
    if value in (WORDS, [WORDS]):
        return WORDS in json.dumps(said(reply))
    return count_in(said(reply), value) > count_in(said(whole), value)


def said(reply: ModelReply) -> Any:
    """A reply's parts as JSON, with the arguments of calls as values."""
    return [{**data, "arguments_text": parsed(data.get("arguments_text"))} for data in map(to_data, reply.parts)]


def count_in(data: Any, value: Any) -> int:
    """How often a JSON value occurs in another one."""
    items = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return sum(count_in(item, value) for item in items) + (type(data) is type(value) and data == value)


@pytest.mark.exhaustive
@pytest.mark.parametrize("walk", [damaged_bodies, damaged_streams])
@pytest.mark.parametrize("format", smoke(FORMATS, ["ollama"]))
def test_value_of_another_type_is_read_or_an_error_or_a_warning(format, walk):
    tried = list(walk(format))
    assert [str(damaged) for damaged in tried if is_silent(damaged)] == []
    assert len(tried) > 250, "fewer places than the published examples have"


# The arguments of tool calls: a default in their place would run the tool with other arguments

CALLED = ModelReply((ToolCall.of("call_1", "rm", {"path": "/tmp/x"}),), "tool_calls", model="m")


def with_arguments(body: Any, arguments: Any) -> Any:
    """The JSON with `arguments` wherever it has those of `CALLED`, as an object or a text."""
    if body == {"path": "/tmp/x"}:
        return arguments
    if isinstance(body, dict):
        return {name: with_arguments(value, arguments) for name, value in body.items()}
    if isinstance(body, list):
        return [with_arguments(item, arguments) for item in body]
    return body if parsed(body if isinstance(body, str) else None) != {"path": "/tmp/x"} else arguments


def called_with(format: str, arguments: Any, *, stream: bool) -> ModelReply:
    """The reply `CALLED` with other arguments on the wire."""
    transpiler = FORMATS[format]()
    if not stream:
        body = with_arguments(json.loads(transpiler.render(CALLED).body), arguments)
        return transpiler.decode(WireResponse(200, {}, json.dumps(body).encode()))
    renderer = transpiler.renderer()
    data = b"".join(map(renderer.feed, deltas_of(CALLED))) + renderer.finish()
    frames = [
        with_payload(frame, json.dumps(with_arguments(json.loads(payload_of(frame)), arguments)).encode())
        if payload_of(frame).startswith(b"{")
        else frame
        for frame in frames_of(transpiler, [data])
    ]
    return accumulate(decoded(transpiler, frames))


every_way = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@every_way
@pytest.mark.parametrize("format", FORMATS)
def test_object_is_the_arguments(format, stream):
    """llama.cpp of 2026 sends `arguments` as an object, where OpenAI's API has its text."""
    (call,) = called_with(format, {"path": "/tmp/y", "deep": [1, {"a": None}]}, stream=stream).tool_calls
    assert call.arguments == {"path": "/tmp/y", "deep": [1, {"a": None}]}


@every_way
@pytest.mark.parametrize("arguments", [True, False, 0, 1.5, [], ["/tmp/x"], [{"path": "/tmp/x"}]], ids=json.dumps)
@pytest.mark.parametrize("format", FORMATS)
def test_other_arguments_are_an_error_of_the_call(format, arguments, stream):
    (call,) = called_with(format, arguments, stream=stream).tool_calls
    assert call.arguments is None
    assert call.arguments_error
    assert json.loads(call.arguments_text) == arguments
