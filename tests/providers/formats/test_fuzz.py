"""Corrupt bytes, in every format: typed errors only, and linear work."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from abstractcore.errors import InvalidInputError, ProviderError
from abstractcore.framing import AwsEventStreamMessage, ServerSentEvent
from abstractcore.ports import Transpiler
from abstractcore.schema import (
    Message,
    ModelCall,
    ModelReply,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    WireRequest,
    accumulate,
    deltas_of,
    to_json,
)
from abstractcore.testing import strategies
from abstractcore_providers.formats.registered import FORMATS
from tests.properties import examples
from tests.providers.damage import ANYTHING, Change, changed, changes, paths_in, with_anything, with_others
from tests.providers.findings import REFUSALS
from tests.providers.probes import probes
from tests.providers.published import JSON_TYPE, decoded, fixtures, frames_of, provider_of, response_of, stream_of
from tests.tiers import smoke

pytestmark = pytest.mark.exhaustive

FEW, MANY = 40, 120


@cache
def requests(format: str) -> list[WireRequest]:
    """A request of this format for everything that it can say."""
    provider, transpiler = provider_of(format), FORMATS[format]()
    found: list[WireRequest] = []
    for probe in probes(format).values():
        try:
            found.append(transpiler.encode(probe.call.with_(provider=provider)).request)
        except REFUSALS:
            continue
    return found


@cache
def words(format: str) -> list[str]:
    """The format's own names and short values, from its output and its published examples."""
    values = [json.loads(request.body) for request in requests(format)]
    values += [fixture.read() for fixture in fixtures() if fixture.format == format]
    return sorted({word for value in values for word in _words(value) if len(word) < 30})


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from _words(item)


def any_json(format: str) -> SearchStrategy[Any]:
    """JSON of the format's own words in odd places."""
    some = st.sampled_from(words(format))
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | some | st.text(max_size=3)
    values = st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(some, inner, max_size=4), max_leaves=12
    )
    return st.dictionaries(some, values, max_size=5)


def twisted(format: str, bodies: Sequence[Any]) -> SearchStrategy[Any]:
    """What is published, with another value in one or two places."""
    odd = any_json(format) | st.sampled_from(ANYTHING)
    places = st.lists(st.tuples(st.integers(0, 10_000), odd), min_size=1, max_size=2)
    return st.builds(with_others, st.sampled_from(bodies), places)


def unlike(frames: Sequence[Any]) -> dict[int, Any]:
    """The frames with JSON, by their index, but for those of a shape that has been seen."""
    shapes = {
        frozenset(paths_in(json.loads(payload_of(frame)))): (index, frame)
        for index, frame in reversed(list(enumerate(frames)))
        if payload_of(frame).startswith(b"{")
    }
    return dict(shapes.values())


def with_payload(frame: Any, payload: bytes) -> Any:
    """The frame with other JSON in it."""
    if isinstance(frame, ServerSentEvent):
        return replace(frame, data=payload)
    return replace(frame, payload=payload) if isinstance(frame, AwsEventStreamMessage) else payload


def payload_of(frame: Any) -> bytes:
    if isinstance(frame, ServerSentEvent):
        return frame.data
    return frame.payload if isinstance(frame, AwsEventStreamMessage) else frame


def streamed(transpiler: Transpiler, deltas: Sequence[Any]) -> bytes:
    renderer = transpiler.renderer()
    return b"".join(map(renderer.feed, deltas)) + renderer.finish()


def check_reply(transpiler: Transpiler, reply: ModelReply) -> None:
    """A reply that was read can be written, and its stream adds up."""
    to_json(reply)
    assert accumulate(deltas_of(reply)).parts == reply.parts
    transpiler.decode(response_of(transpiler.render(reply).body.decode()))


def try_decoding(transpiler: Transpiler, body: bytes) -> None:
    try:
        reply = transpiler.decode(replace(response_of(""), body=body))
    except ProviderError:
        return
    check_reply(transpiler, reply)


def try_frames(transpiler: Transpiler, read: Callable[[], list[Any]]) -> None:
    try:
        deltas = list(decoded(transpiler, read()))
    except ProviderError:
        return
    assert [delta.sequence for delta in deltas] == list(range(len(deltas)))
    for delta in deltas:
        to_json(delta)
    check_reply(transpiler, accumulate(deltas))


def try_parsing(transpiler: Transpiler, request: WireRequest) -> None:
    try:
        call = transpiler.parse(request).call
    except InvalidInputError:
        return
    to_json(call)
    try:
        transpiler.encode(call)
    except REFUSALS:
        return


every_format = pytest.mark.parametrize("format", smoke(FORMATS, ["ollama"]))


def run(format: str, check: Callable[..., None], *cases: SearchStrategy[Any]) -> None:
    transpiler = FORMATS[format]()
    examples(60)(given(st.tuples(*cases))(lambda case: check(transpiler, *case)))()


@every_format
def test_corrupt_reply_is_read_or_a_typed_error(format: str):
    replies = strategies.replies(provider_of(format))
    run(format, lambda t, reply, steps: try_decoding(t, changed(t.render(reply).body, steps)), replies, changes())


@every_format
def test_odd_json_is_a_reply_or_a_typed_error(format: str):
    printed = [fixture.read() for fixture in fixtures("reply") if fixture.format == format]
    bodies = twisted(format, printed or [{}]) | any_json(format)
    run(format, lambda t, body: try_decoding(t, json.dumps(body).encode()), bodies)


@every_format
def test_corrupt_stream_is_read_or_a_typed_error(format: str):
    """The bytes of the stream; then what its frames hold, which a checksum may guard."""

    def check(transpiler: Transpiler, case: Any, steps: list[Change], place: int) -> None:
        stream = streamed(transpiler, case[1])
        try_frames(transpiler, lambda: frames_of(transpiler, [changed(stream, steps)]))
        frames = frames_of(transpiler, [stream])
        index = place % len(frames)
        frames[index] = with_payload(frames[index], changed(payload_of(frames[index]), steps))
        try_frames(transpiler, lambda: frames)

    run(format, check, strategies.streams(strategies.replies(provider_of(format))), changes(), st.integers(0, 999))


@every_format
def test_odd_json_in_a_stream_is_read_or_a_typed_error(format: str):
    """Replaces values in frames; drops, repeats and reorders frames."""
    printed = [fixture.read() for fixture in fixtures("stream") if fixture.format == format]
    bodies = [frame for stream in printed for frame in stream] or [{}]

    def check(transpiler: Transpiler, case: Any, odd: list[tuple[int, Any]], order: list[int]) -> None:
        frames = frames_of(transpiler, [streamed(transpiler, case[1])])
        for place, body in odd:
            index = place % len(frames)
            frames[index] = with_payload(frames[index], json.dumps(body).encode())
        for place in order:
            frames.insert(place % len(frames), frames.pop((place // 7) % len(frames)))
        try_frames(transpiler, lambda: frames)

    places = st.integers(0, 999)
    odd = st.lists(st.tuples(places, twisted(format, bodies) | any_json(format)), max_size=3)
    streams = strategies.streams(strategies.replies(provider_of(format)))
    run(format, check, streams, odd, st.lists(places, max_size=3))


@every_format
def test_corrupt_request_is_read_or_refused(format: str):
    def check(transpiler: Transpiler, request: WireRequest, steps: list[Change], of_url: bool) -> None:
        if of_url:
            url = changed(request.url.encode(), steps).decode("utf-8", "replace")
            try_parsing(transpiler, replace(request, url=url))
        else:
            try_parsing(transpiler, replace(request, body=changed(request.body, steps)))

    run(format, check, st.sampled_from(requests(format)), changes(), st.booleans())


@every_format
def test_odd_json_is_a_request_or_refused(format: str):
    url = requests(format)[0].url
    bodies = twisted(format, [json.loads(request.body) for request in requests(format)]) | any_json(format)

    def check(transpiler: Transpiler, body: Any) -> None:
        try_parsing(transpiler, WireRequest(url, JSON_TYPE, json.dumps(body).encode()))

    run(format, check, bodies)


@every_format
def test_request_with_any_value_replaced_is_read_or_refused(format: str):
    for request in requests(format):
        for body in with_anything(json.loads(request.body)):
            try_parsing(FORMATS[format](), replace(request, body=body))


@every_format
def test_reply_with_any_value_replaced_is_read_or_a_typed_error(format: str):
    for fixture in fixtures("reply"):
        if fixture.format == format:
            for body in with_anything(fixture.read()):
                try_decoding(fixture.transpiler, body)


@every_format
def test_stream_with_any_value_replaced_is_read_or_a_typed_error(format: str):
    for fixture in fixtures("stream"):
        if fixture.format == format:
            frames = frames_of(fixture.transpiler, [stream_of(fixture.transpiler, fixture.read())])
            for index, frame in unlike(frames).items():
                for body in with_anything(json.loads(payload_of(frame))):
                    odd = [*frames[:index], with_payload(frame, body), *frames[index + 1 :]]
                    try_frames(fixture.transpiler, odd.copy)


@every_format
def test_error_with_any_value_replaced_is_a_typed_error(format: str):
    for fixture in fixtures("error"):
        if fixture.format == format:
            for body in with_anything(fixture.read()["body"]):
                assert str(fixture.transpiler.error(replace(response_of("", fixture.read()["status"]), body=body)))


@every_format
def test_any_failure_is_a_typed_error(format: str):
    printed = [fixture.read()["body"] for fixture in fixtures("error") if fixture.format == format]
    bodies = (twisted(format, printed or [{}]) | any_json(format)).map(lambda body: json.dumps(body).encode())
    names = st.sampled_from(["retry-after", "retry-after-ms", "date", "x-amzn-errortype", "request-id"])

    def check(transpiler: Transpiler, status: int, body: bytes, headers: dict[str, str]) -> None:
        error = transpiler.error(replace(response_of("", status, headers), body=body))
        assert error.status == status
        assert error.retry_after is None or 0 <= error.retry_after < float("inf")
        assert str(error)
        transpiler.render_error(error)

    headers = st.dictionaries(names, st.text(max_size=8))
    run(format, check, st.integers(300, 599), bodies | st.binary(max_size=30), headers)


def work(function: Callable[[], object]) -> int:
    """How many calls and lines of Python `function` takes, those of the interpreter's own functions included."""
    count = 0

    def calls(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += 1

    def lines(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return lines

    sys.setprofile(calls)
    sys.settrace(lines)
    try:
        function()
    finally:
        sys.setprofile(None)
        sys.settrace(None)
    return count


def long_call(provider: str, count: int) -> ModelCall:
    """A conversation of tool calls, thoughts and texts, with as many tools."""
    messages: list[Message] = []
    for i in range(count):
        thought = ReasoningPart("Hm.", "sig", origin=f"{provider}/m")
        call = ToolCall(f"c{i}", "t0", '{"a":1}')
        messages += [Message.user("hi"), Message.assistant(thought, "I look.", call)]
        messages.append(Message.tool(ToolResult.text(f"c{i}", "found")))
    return ModelCall("m", tuple(messages), provider, tuple(ToolSpec(f"t{i}") for i in range(count)))


def long_reply(provider: str, count: int) -> ModelReply:
    """Thoughts, texts and tool calls in turns."""
    turns = [(ReasoningPart("Hm."), TextPart("I look."), ToolCall(f"c{i}", "t", '{"a":1}')) for i in range(count)]
    return ModelReply(tuple(part for turn in turns for part in turn), "tool_calls", provider=provider, model="m")


def operations(format: str, count: int) -> dict[str, Callable[[], object]]:
    """Everything that is done with what comes from outside, for an input of length `count`."""
    transpiler, provider = FORMATS[format](), provider_of(format)
    call, reply = long_call(provider, count), long_reply(provider, count)
    request, body = transpiler.encode(call).request, transpiler.render(reply).body
    stream = streamed(transpiler, list(deltas_of(reply)))
    frames = frames_of(transpiler, [stream])
    failure = response_of({"error": {"message": "x" * count, "details": [{"a": 1}] * count}}, 400)
    return {
        "encode": lambda: transpiler.encode(call),
        "parse": lambda: transpiler.parse(request),
        "decode": lambda: transpiler.decode(response_of(body.decode())),
        "render": lambda: transpiler.render(reply),
        "frame": lambda: frames_of(transpiler, [stream[i : i + 5] for i in range(0, len(stream), 5)]),
        "decode a stream": lambda: list(decoded(transpiler, frames)),
        "render a stream": lambda: streamed(transpiler, list(deltas_of(reply))),
        "error": lambda: transpiler.error(failure),
    }


@every_format
def test_work_is_linear_in_the_input_length(format: str):
    few, many = operations(format, FEW), operations(format, MANY)
    for name in few:
        few[name]()
        growth = work(many[name]) / work(few[name])
        assert growth < 1.2 * MANY / FEW, f"{name}: {growth:.1f} times the work for {MANY / FEW:.0f} times the input"
