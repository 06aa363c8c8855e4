"""Streams, sync and async: complete, interrupted and abandoned ones."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass

import pytest

from abstractcore import (
    AbstractCoreError,
    InvalidInputError,
    ModelReply,
    OutputValidationError,
    OverloadedError,
    ReplyEnd,
    ReplyStart,
    RequestTimeoutError,
    ServerError,
    StreamInterruptedError,
    TextDelta,
    TextPart,
    ToolSpec,
    Usage,
    accumulate,
    create_llm,
)
from abstractcore.testing import AsyncCalls
from tests.chaos_server import (
    CUT,
    DONE,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    PROMPTLY_SECONDS,
    RESET,
    USAGE,
    Pause,
    answer,
    chunk,
    completion,
    delta,
    drip,
    event,
    stream_head,
    streamed,
)

HEAD = stream_head(x_request_id="r-1")
HELLO = HEAD + chunk(delta("hel")) + chunk(delta("lo"))


def read_all(stream) -> list:
    with stream:
        return list(stream)


def read_until(stream, text: str) -> None:
    """Read on until the answer's text so far is `text`."""
    so_far = ""
    while so_far != text:
        delta = next(stream)
        so_far += delta.text if isinstance(delta, TextDelta) else ""


def test_deltas_accumulate_to_the_response(call_style, server, connect):
    server.script(streamed("hel", "lo"))
    stream = call_style.stream(connect(), "hi")
    deltas = read_all(stream)
    assert [each.sequence for each in deltas] == list(range(len(deltas)))
    assert isinstance(deltas[0], ReplyStart)
    assert isinstance(deltas[-1], ReplyEnd)
    assert [each.text for each in deltas if isinstance(each, TextDelta)] == ["hel", "lo"]
    response = stream.response
    assert response.reply == accumulate(deltas)
    assert (response.content, response.finish_reason, response.usage.total) == ("hello", "stop", 5)
    assert (response.attempts[0].status, response.attempts[0].error) == (200, None)


def test_stream_and_generate_return_the_same_reply(call_style):
    reply = ModelReply((TextPart("one  two\n"),), "length", "max", Usage(1, 2), "m", "scripted", "id-1")
    llm = create_llm("scripted", replies=[reply, reply])
    stream = call_style.stream(llm, "hi")
    read_all(stream)
    assert stream.response.reply == call_style.generate(llm, "hi").reply == reply


def test_text_yields_only_the_text_of_the_answer(call_style, server, connect):
    server.script(streamed("hel", "lo"))
    with call_style.stream(connect(), "hi") as stream:
        assert list(stream.text()) == ["hel", "lo"]
    assert stream.response.content == "hello"


def test_exhausted_stream_stays_exhausted_and_releases_its_connection(call_style, server, connect):
    llm = connect()
    server.script(streamed("a"))
    server.script(completion())
    stream = call_style.stream(llm, "hi")
    read_all(stream)
    assert list(stream) == []
    stream.close()
    assert stream.response.content == "a"
    call_style.generate(llm, "hi")
    assert len(server.connections) == 1


def test_nothing_is_sent_before_the_first_read(call_style, server, connect):
    llm = connect()
    stream = call_style.stream(llm, "never")
    stream.close()
    del stream
    server.script(completion())
    call_style.generate(llm, "now")
    assert [request.json["messages"][0]["content"] for request in server.requests] == ["now"]


def test_timeout_of_a_stream_starts_at_its_first_read(call_style, server, connect):
    server.script(streamed("a"))
    clock = Clock(call_style.runtime.now)
    llm = connect(timeout=5.0)
    for pipeline in (llm._pipelines.sync, llm._pipelines.asynchronous):
        pipeline.runtime.now = clock
    stream = call_style.stream(llm, "hi")
    clock.ahead += 60.0
    read_all(stream)
    assert stream.response.seconds < 5.0


class Clock:
    """A clock that can be put forward."""

    def __init__(self, now) -> None:
        self.now, self.ahead = now, 0.0

    def __call__(self) -> float:
        return self.now() + self.ahead


def test_unfinished_stream_has_a_partial_reply_and_no_response(call_style, server, connect):
    server.script(HELLO, HANG)
    with call_style.stream(connect(), "hi") as stream:
        with pytest.raises(StreamInterruptedError, match="no response yet"):
            _ = stream.response
        read_until(stream, "hello")
        with pytest.raises(StreamInterruptedError) as caught:
            _ = stream.response
    assert caught.value.partial.text == "hello"
    assert stream.partial.text == "hello"


def test_deltas_do_not_depend_on_chunk_boundaries(call_style, server, connect):
    llm = connect()
    gate = server.gate()
    whole = streamed("h\u00e9l", "lo")
    server.script(whole)
    server.script(*drip(whole, gate))
    at_once = read_all(call_style.stream(llm, "hi"))
    opener = threading.Thread(target=lambda: [gate.open() for _ in whole])
    opener.start()
    dripped = read_all(call_style.stream(llm, "hi"))
    opener.join()
    assert dripped == at_once


def test_delta_is_yielded_before_the_next_one_is_sent(call_style, server, connect):
    gate = server.gate()
    server.script(HELLO, gate, chunk(delta(" there", "stop")) + LAST_CHUNK)
    with call_style.stream(connect(), "hi") as stream:
        read_until(stream, "hello")
        gate.open()
        assert [each.text for each in stream if isinstance(each, TextDelta)] == [" there"]


def test_done_event_ends_the_stream_though_the_connection_stays_open(call_style, server, connect):
    server.script(HELLO + chunk(delta(finish_reason="stop")) + chunk(DONE), HANG)
    stream = call_style.stream(connect(), "hi")
    start = time.monotonic()
    read_all(stream)
    ended = time.monotonic()
    assert ended - start < PROMPTLY_SECONDS
    assert (stream.response.content, stream.response.finish_reason) == ("hello", "stop")
    server.assert_closed_promptly(ended)


@pytest.mark.parametrize("rest", [chunk(delta("more")), b"garbage"], ids=["events", "garbage"])
def test_data_after_a_complete_stream_is_ignored(call_style, server, connect, rest):
    server.script(HELLO + chunk(delta(finish_reason="stop")) + chunk(DONE) + rest, CUT)
    stream = call_style.stream(connect(), "hi")
    read_all(stream)
    assert stream.response.content == "hello"


def test_last_deltas_are_yielded_before_the_connection_ends(call_style, server, connect):
    server.script(HELLO + chunk(delta(finish_reason="stop")) + chunk(DONE), HANG)
    with call_style.stream(connect(), "hi") as stream:
        while not isinstance(next(stream), ReplyEnd):
            pass


def test_complete_async_stream_dropped_before_its_end_closes_its_connection(server, connect):
    server.script(HELLO + chunk(delta(finish_reason="stop")) + chunk(DONE), HANG)
    call_style = AsyncCalls()
    streams = [call_style.stream(connect(), "hi")]
    while not isinstance(next(streams[0]), ReplyEnd):
        pass
    with pytest.warns(ResourceWarning, match="async with"):
        streams.clear()
    server.assert_closed_promptly(time.monotonic())
    call_style.close()


def test_usage_before_an_interruption_is_kept(call_style, server, connect):
    server.script(HELLO + chunk(USAGE), HANG)
    with call_style.stream(connect(), "hi") as stream:
        while stream.partial.usage.total is None:
            next(stream)
    assert (stream.partial.text, stream.partial.usage.total) == ("hello", 5)


BREAKS = {
    "mid_event": [HELLO + chunk(b'data: {"choices": [{"delta": {"con'), CUT],
    "mid_event_reset": [HELLO + chunk(b'data: {"choices": [{"delta": {"con'), RESET],
    "mid_chunk": [HELLO + b"40\r\ndata: ", CUT],
    "between_events": [HELLO, CUT],
    "in_order_without_finish_reason": [HELLO + LAST_CHUNK],
    "in_order_mid_event": [HELLO + chunk(b'data: {"choices"') + LAST_CHUNK],
    "done_without_finish_reason": [HELLO + chunk(DONE) + LAST_CHUNK],
}


@pytest.mark.parametrize("steps", BREAKS.values(), ids=BREAKS.keys())
def test_stream_cut_mid_event_raises_interrupted_with_partial_text(call_style, server, connect, steps):
    server.script(*steps)
    stream = call_style.stream(connect(), "hi")
    with pytest.raises(StreamInterruptedError) as caught:
        read_all(stream)
    error = caught.value
    assert error.partial.text == stream.partial.text == "hello"
    assert error.partial.finish_reason == "unknown"
    assert (error.provider, error.model, error.request_id) == ("openai-compatible", "m", "r-1")
    assert len(error.attempts) == len(server.requests) == 1
    assert not error.retryable


def test_error_event_mid_stream_is_a_typed_error_with_partial_text(call_style, server, connect):
    overloaded = event({"error": {"message": "too busy", "type": "overloaded_error"}})
    server.script(HELLO + chunk(overloaded), HANG)
    with pytest.raises(OverloadedError, match="too busy") as caught:
        read_all(call_style.stream(connect(), "hi"))
    ended = time.monotonic()
    assert caught.value.partial.text == "hello"
    assert (caught.value.provider, caught.value.model) == ("openai-compatible", "m")
    assert len(server.requests) == 1
    server.assert_closed_promptly(ended)


def test_malformed_event_is_a_typed_error_with_its_position_and_partial_text(call_style, server, connect):
    server.script(HELLO + chunk(event(b'{"choices": [')), HANG)
    with pytest.raises(ServerError, match=r"event \d of the stream") as caught:
        read_all(call_style.stream(connect(), "hi"))
    assert caught.value.partial.text == "hello"


CALL = '<tool_call>\n{"name": "clock", "arguments": {"city": "Lima"}}\n</tool_call>'


class SeesErrors:
    """A middleware that notes the `partial` of the error that ends a stream."""

    def __init__(self) -> None:
        self.partials: list[ModelReply | None] = []

    async def around_call(self, context, next):
        return Watched(await next(context), self.partials)


class Watched:
    """A stream that notes the `partial` of its error."""

    def __init__(self, stream, partials: list[ModelReply | None]) -> None:
        self._stream = stream
        self._partials = partials

    async def read(self):
        try:
            return await self._stream.read()
        except AbstractCoreError as error:
            self._partials.append(error.partial)
            raise

    async def close(self):
        await self._stream.close()

    def abort(self):
        self._stream.abort()


@pytest.mark.parametrize("tool_format", ["hermes", "native"])
@pytest.mark.parametrize(
    ("texts", "text", "calls"),
    [
        (["Let me look.\n", CALL], "Let me look.", 1),
        (["Let me look.\n", CALL, "\n", CALL[:30]], "Let me look.", 1),
        (["Let me look.", CALL[:5]], "Let me look.", 0),
        ([CALL[:20]], "", 0),
        (["It is 3 < 4"], "It is 3 < 4", 0),
    ],
    ids=["after a call", "in a second call", "in a tag", "in a call", "in text"],
)
def test_partial_of_an_interrupted_stream_has_calls_in_text_as_its_reader_saw_them(
    call_style, server, connect, texts: list[str], text: str, calls: int, tool_format: str
):
    server.script(HEAD + b"".join(chunk(delta(each)) for each in texts), CUT)
    tools, middleware = [ToolSpec("clock")], SeesErrors()
    llm = connect(middleware=[middleware])
    stream = call_style.stream(llm, "hi", tools=tools, tool_format=tool_format, rescue=False)
    with pytest.raises(StreamInterruptedError) as caught:
        read_all(stream)
    partial = caught.value.partial
    assert partial == stream.partial == middleware.partials[0]
    if tool_format == "native":
        assert (partial.text, partial.tool_calls) == ("".join(texts), ())
    else:
        assert (partial.text, [call.arguments for call in partial.tool_calls]) == (text, [{"city": "Lima"}] * calls)


class HalfACharacter:
    """A stream whose text is not Unicode at its end, nor in between."""

    def __init__(self, deltas) -> None:
        self.batches = [[each] for each in deltas]

    async def around_call(self, context, next):
        return self

    async def read(self):
        return self.batches.pop(0) if self.batches else []

    async def close(self):
        pass

    def abort(self):
        pass


def test_truncated_utf8_character_is_a_server_error_and_earlier_text_stays_readable(call_style):
    deltas = [ReplyStart(0), TextDelta(1, 0, "hello"), TextDelta(2, 0, "\ud83d"), ReplyEnd(3, "stop")]
    stream = call_style.stream(create_llm("scripted", middleware=[HalfACharacter(deltas)]), "hi")
    with pytest.raises(ServerError, match="surrogate"):
        read_all(stream)
    assert stream.partial.text == "hello?"
    with pytest.raises(StreamInterruptedError) as caught:
        next(stream)
    assert caught.value.partial.text == "hello?"
    with pytest.raises(ServerError, match="surrogate"):
        call_style.generate(create_llm("scripted", middleware=[HalfACharacter(deltas)]), "hi")


@pytest.mark.parametrize("body", ["<html>hello</html>", '{"id": "chat-1"}', ""], ids=["html", "json", "nothing"])
def test_body_that_is_not_a_stream_is_an_error(call_style, server, connect, body):
    server.script(answer(body, content_type="text/html"))
    with pytest.raises((ServerError, StreamInterruptedError)):
        read_all(call_style.stream(connect(max_retries=0), "hi"))


def test_error_status_is_raised_at_the_first_read(call_style, server, connect):
    server.script(answer({"error": {"message": "busy"}}, 503))
    stream = call_style.stream(connect(max_retries=0), "hi")
    with pytest.raises(OverloadedError, match="busy"):
        next(stream)


def test_reading_after_a_failure_raises_instead_of_ending(call_style, server, connect):
    server.script(HELLO, CUT)
    stream = call_style.stream(connect(), "hi")
    with pytest.raises(StreamInterruptedError):
        list(stream)
    for _ in range(2):
        with pytest.raises(StreamInterruptedError) as caught:
            next(stream)
        assert caught.value.partial.text == "hello"


def test_reading_after_close_raises(call_style, server, connect):
    server.script(HELLO, HANG)
    stream = call_style.stream(connect(), "hi")
    read_until(stream, "hello")
    stream.close()
    stream.close()
    with pytest.raises(StreamInterruptedError, match="closed"):
        next(stream)


def test_stalled_stream_is_interrupted_at_the_deadline(call_style, server, connect):
    server.script(HELLO, HANG)
    stream = call_style.stream(connect(), "hi", timeout=0.2)
    with pytest.raises(StreamInterruptedError) as caught:
        read_all(stream)
    ended = time.monotonic()
    assert caught.value.partial.text == "hello"
    assert len(server.requests) == 1
    server.assert_closed_promptly(ended)
    with pytest.raises(StreamInterruptedError):
        next(stream)


def test_dripping_stream_is_interrupted_at_the_deadline(call_style, server, connect):
    server.always(HEAD, *drip(b"".join(chunk(delta("x")) for _ in range(3)), Pause(0.01)))
    start = time.monotonic()
    with pytest.raises((StreamInterruptedError, RequestTimeoutError)):
        read_all(call_style.stream(connect(max_retries=0), "hi", timeout=0.2))
    assert time.monotonic() - start < PROMPTLY_SECONDS


def test_stream_that_never_starts_is_a_timeout(call_style, server, connect):
    server.script(HEAD, HANG)
    with pytest.raises(RequestTimeoutError) as caught:
        read_all(call_style.stream(connect(max_retries=0), "hi", timeout=0.2))
    ended = time.monotonic()
    assert caught.value.attempts[0].error == "RequestTimeoutError"
    server.assert_closed_promptly(ended)


# Leaving early: the server counts.


def leave_with(stream) -> None:
    with stream:
        for _ in stream:
            break


def leave_by_exception(stream) -> None:
    with contextlib.suppress(ZeroDivisionError), stream:
        for _ in stream:
            raise ZeroDivisionError


def leave_by_generator_exit(stream) -> None:
    def reader():
        with stream:
            yield from stream

    deltas = reader()
    next(deltas)
    deltas.close()


def leave_text(stream) -> None:
    with stream:
        for _ in stream.text():
            break


def leave_by_close(stream) -> None:
    next(stream)
    stream.close()


@pytest.mark.parametrize("leave", [leave_with, leave_text, leave_by_exception, leave_by_generator_exit, leave_by_close])
def test_leaving_a_stream_early_closes_its_connection(call_style, server, connect, leave):
    server.script(HELLO, HANG)
    stream = call_style.stream(connect(), "hi")
    leave(stream)
    server.assert_closed_promptly(time.monotonic())
    assert stream.partial.provider == "openai-compatible"


def test_stream_dropped_without_with_closes_its_connection(server, connect):
    server.script(HELLO, HANG)
    for _ in connect().stream("hi"):
        break
    server.assert_closed_promptly(time.monotonic())


def test_text_iterator_dropped_without_with_closes_its_connection(server, connect):
    server.script(HELLO, HANG)
    for _ in connect().stream("hi").text():
        break
    server.assert_closed_promptly(time.monotonic())


def test_dropped_async_stream_closes_its_connection_and_warns(server, connect):
    call_style = AsyncCalls()
    server.script(HELLO, HANG)
    streams = [call_style.stream(connect(), "hi")]
    next(streams[0])
    with pytest.warns(ResourceWarning, match="async with"):
        streams.clear()
    server.assert_closed_promptly(time.monotonic())
    call_style.close()


def test_second_reader_is_refused_without_a_second_request(server, connect):
    gate = server.gate()
    server.script(HEAD, gate, streamed("a").split(b"\r\n\r\n", 1)[1])
    stream = connect().stream("hi")
    first = InThread(lambda: list(stream))
    server.wait_for_requests(1)
    with pytest.raises(InvalidInputError, match="being read already"):
        next(stream)
    gate.open()
    assert accumulate(first.result()).text == "a"
    assert len(server.requests) == 1


def test_close_from_another_thread_ends_a_read_in_progress(server, connect):
    server.script(HELLO, HANG)
    stream = connect().stream("hi")
    read_until(stream, "hello")
    reader = InThread(lambda: next(stream))
    reader.wait_until(lambda: stream._call._reading)
    stream.close()
    server.assert_closed_promptly(time.monotonic())
    with pytest.raises(StreamInterruptedError) as caught:
        reader.result()
    assert caught.value.partial.text == "hello"
    with pytest.raises(StreamInterruptedError):
        next(stream)


def test_close_from_another_thread_ends_the_wait_for_the_response(server, connect):
    gate = server.gate()
    server.script(HEAD, gate, chunk(delta("late")), HANG)
    stream = connect(max_retries=0).stream("hi")
    reader = InThread(lambda: list(stream))
    server.wait_for_requests(1)
    stream.close()
    closed = time.monotonic()
    gate.open()
    with pytest.raises(StreamInterruptedError):
        reader.result()
    server.assert_closed_promptly(closed)


def test_ctrl_c_during_a_read_closes_the_connection_and_interrupts_the_stream(server, connect, ctrl_c):
    server.script(HELLO, HANG)
    stream = connect().stream("hi")
    read_until(stream, "hello")
    ctrl_c(lambda: stream._call._reading)
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    server.assert_closed_promptly(time.monotonic())
    with pytest.raises(StreamInterruptedError):
        next(stream)


class InThread:
    """A function running in a thread."""

    def __init__(self, function) -> None:
        self._value = self._error = None

        def run() -> None:
            try:
                self._value = function()
            except BaseException as error:
                self._error = error

        self._thread = threading.Thread(target=run)
        self._thread.start()

    @staticmethod
    def wait_until(condition) -> None:
        """Polls a condition of another thread that has no notification."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline

    def result(self):
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error
        return self._value


@dataclass
class City:
    name: str
    people: int


def test_streamed_structured_output_is_in_the_response(call_style):
    llm = create_llm("scripted", replies=['{"name": "Bern", "people": 134000}'])
    stream = call_style.stream(llm, "hi", response_model=City)
    read_all(stream)
    assert stream.response.output == City("Bern", 134000)


def test_invalid_streamed_output_raises_at_the_end_with_the_answer(call_style):
    llm = create_llm("scripted", replies=["Bern"])
    with pytest.raises(OutputValidationError) as caught:
        read_all(call_style.stream(llm, "hi", response_model=City, output_retries=0))
    assert caught.value.partial.text == "Bern"
    assert (caught.value.provider, caught.value.model) == ("scripted", "scripted")
