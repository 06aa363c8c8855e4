"""Middleware, sync and async, in both rings."""

from __future__ import annotations

import asyncio
import time

import pytest

from abstractcore import (
    BadRequestError,
    ConfigurationError,
    ModelReply,
    OverloadedError,
    ReplyEnd,
    StreamInterruptedError,
    TextDelta,
    TextPart,
    create_llm,
)
from abstractcore.testing import ScriptedReply
from tests.chaos_server import CUT, HANG, chunk, completion, delta, failure, stream_head, streamed


class Recorder:
    """Writes down who was where."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    async def around_call(self, context, next):
        self.log.append(f"{self.name} call")
        answer = await next(context)
        self.log.append(f"{self.name} called")
        return answer

    async def around_attempt(self, attempt, next):
        self.log.append(f"{self.name} attempt {attempt.number}")
        try:
            return await next(attempt)
        finally:
            self.log.append(f"{self.name} attempted")


def test_first_middleware_is_outermost_in_both_rings(call_style):
    log: list[str] = []
    llm = create_llm("scripted", replies=["a"], middleware=[Recorder("one", log), Recorder("two", log)])
    call_style.generate(llm, "hi")
    assert log == [
        "one call",
        "two call",
        "one attempt 1",
        "two attempt 1",
        "two attempted",
        "one attempted",
        "two called",
        "one called",
    ]


def test_around_attempt_runs_for_every_request_with_its_number(call_style, server, connect):
    log: list[str] = []
    server.script(failure(503, retry_after_ms="1"))
    server.script(failure(503, retry_after_ms="1"))
    server.script(completion())
    call_style.generate(connect(middleware=[Recorder("m", log)]), "hi")
    assert [line for line in log if line[-1].isdigit()] == ["m attempt 1", "m attempt 2", "m attempt 3"]
    assert log.count("m call") == 1


class Cache:
    """Answers by itself."""

    def __init__(self, reply: ModelReply) -> None:
        self.reply = reply

    async def around_call(self, context, next):
        return self.reply


def test_answer_without_calling_next_sends_nothing(call_style, server, connect):
    cached = ModelReply((TextPart("one two"),), "stop")
    llm = connect(middleware=[Cache(cached)])
    assert call_style.generate(llm, "hi").reply == cached
    stream = call_style.stream(llm, "hi")
    with stream:
        assert [each.text for each in stream if isinstance(each, TextDelta)] == ["one two"]
    assert stream.response.reply == cached
    assert stream.response.attempts == ()
    assert server.requests == []


class Louder:
    """Changes the call on its way."""

    async def around_call(self, context, next):
        context.call = context.call.with_(model="other", tags={"loud": "yes"})
        return await next(context)


def test_changed_call_is_sent(call_style, server, connect):
    server.script(completion())
    call_style.generate(connect(middleware=[Louder()]), "hi")
    assert server.requests[0].json["model"] == "other"


class Header:
    """Changes the request on its way; credentials are not on it yet."""

    def __init__(self) -> None:
        self.seen = {}

    async def around_attempt(self, attempt, next):
        self.seen = dict(attempt.request.headers)
        attempt.request = attempt.request.with_headers({"x-extra": "1"})
        return await next(attempt)


def test_changed_request_is_sent_and_middleware_never_sees_the_key(call_style, server, connect):
    server.script(completion())
    header = Header()
    call_style.generate(connect(api_key="k-1", middleware=[header]), "hi")
    assert server.requests[0].headers["x-extra"] == "1"
    assert server.requests[0].headers["authorization"] == "Bearer k-1"
    assert "k-1" not in str(header.seen)


class Refuser:
    """Fails instead of going on."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def around_call(self, context, next):
        raise self.error


@pytest.mark.parametrize("error", [BadRequestError("over budget"), ZeroDivisionError("bug")])
def test_middleware_error_reaches_the_caller_and_nothing_is_sent(call_style, server, connect, error):
    llm = connect(middleware=[Refuser(error)])
    for ask in (call_style.generate, lambda *arguments: next(call_style.stream(*arguments))):
        with pytest.raises(type(error)) as caught:
            ask(llm, "hi")
        assert caught.value is error
    assert server.requests == []


class Fallback:
    """Another answer where the first failed."""

    async def around_call(self, context, next):
        try:
            return await next(context)
        except OverloadedError:
            return ModelReply((TextPart("fallback"),), "stop")


def test_middleware_may_answer_after_a_failure_and_attempts_stay_recorded(call_style, server, connect):
    server.script(failure(503))
    response = call_style.generate(connect(middleware=[Fallback()], max_retries=0), "hi")
    assert response.content == "fallback"
    assert [attempt.status for attempt in response.attempts] == [503]


class Counter:
    """Sees what happens to a stream after its first deltas."""

    def __init__(self) -> None:
        self.events: list[str] = []

    async def around_call(self, context, next):
        self.source = await next(context)
        return self

    async def read(self):
        try:
            batch = await self.source.read()
        except Exception as error:
            self.events.append(type(error).__name__)
            raise
        self.events.append("deltas" if batch else "end")
        return batch

    async def close(self):
        self.events.append("close")
        await self.source.close()

    def abort(self):
        self.source.abort()


def test_middleware_may_wrap_the_stream(call_style, server, connect):
    counter = Counter()
    server.script(stream_head() + chunk(delta("a")), CUT)
    with pytest.raises(StreamInterruptedError) as caught:
        list(call_style.stream(connect(middleware=[counter]), "hi"))
    assert caught.value.partial.text == "a"
    assert counter.events == ["deltas", "StreamInterruptedError", "close"]


def test_dropped_stream_is_closed_through_its_wrapping_middleware(server, connect):
    counter = Counter()
    server.script(stream_head() + chunk(delta("a")), HANG)
    for _ in connect(middleware=[counter]).stream("hi"):
        break
    assert counter.events == ["deltas", "close"]


def test_stream_returned_by_middleware_for_a_non_streaming_call_is_accumulated(call_style, server, connect):
    class Streaming:
        async def around_call(self, context, next):
            context.call = context.call.with_(stream=True)
            return await next(context)

    body = [delta("a"), delta("b", "stop")]
    server.script(stream_head() + b"".join(map(chunk, body)) + b"0\r\n\r\n")
    assert call_style.generate(connect(middleware=[Streaming()]), "hi").content == "ab"


class Waiting:
    """Needs an event loop."""

    def __init__(self) -> None:
        self.cleaned_up = False

    async def around_call(self, context, next):
        try:
            await asyncio.sleep(0)
        finally:
            self.cleaned_up = True
        return await next(context)


def test_middleware_that_awaits_an_event_loop_in_a_sync_call_is_an_error_with_a_hint():
    waiting = Waiting()
    llm = create_llm("scripted", replies=["a"], middleware=[waiting])
    with pytest.raises(RuntimeError, match="use the async API"):
        llm.generate("hi")
    assert waiting.cleaned_up
    assert asyncio.run(llm.agenerate("hi")).content == "a"


class Answering:
    """Returns a given answer, in one of the rings."""

    def __init__(self, ring: str, answer: object) -> None:
        setattr(self, ring, self.give)
        self.answer = answer

    async def give(self, given, next):
        return self.answer


@pytest.mark.parametrize("ring", ["around_call", "around_attempt"])
@pytest.mark.parametrize("answer", [None, "text", 3, {}, ModelReply, Counter])
def test_invalid_answer_names_the_middleware(call_style, ring, answer):
    llm = create_llm("scripted", replies=["a"], middleware=[Recorder("outer", []), Answering(ring, answer)])
    for ask in (call_style.generate, lambda *arguments: next(call_style.stream(*arguments))):
        with pytest.raises(
            ConfigurationError, match=rf"the middleware Answering\.{ring} returned a \w+, which is not an answer"
        ):
            ask(llm, "hi")


def test_middleware_that_is_not_async_is_an_error_with_a_hint(call_style):
    class Plain:
        def around_call(self, context, next):
            return ModelReply((TextPart("a"),), "stop")

    llm = create_llm("scripted", replies=["a"], middleware=[Plain()])
    with pytest.raises(
        ConfigurationError, match=r"Plain\.around_call returned a ModelReply, which is not an answer\. .*async def"
    ):
        call_style.generate(llm, "hi")


def test_sync_middleware_may_return_the_awaitable_of_next(call_style):
    class HandingOn:
        def around_call(self, context, next):
            return next(context)

    assert call_style.generate(create_llm("scripted", replies=["a"], middleware=[HandingOn()]), "hi").content == "a"


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (None, "is a NoneType: expected an object with the method around_call or around_attempt"),
        (print, "is a builtin_function_or_method: expected an object with the method"),
        (lambda context, next: next(context), "is a function: expected an object with the method"),
        (object(), "is a object: expected an object with the method"),
        (Louder, "is the class Louder: pass an instance"),
        (type("Odd", (), {"around_call": 3})(), "is a Odd: expected an object with the method"),
    ],
)
def test_invalid_middleware_is_refused_at_creation(member, message):
    with pytest.raises(ConfigurationError, match=rf"middleware\[1\] {message}"):
        create_llm("scripted", replies=["a"], middleware=[Louder(), member])


class Twice:
    """Calls `next` twice, and returns the second answer."""

    async def around_call(self, context, next):
        await next(context)
        return await next(context)


def test_warning_occurs_once_even_if_middleware_calls_next_twice(call_style, server, connect):
    server.always(completion())
    response = call_style.generate(connect(middleware=[Twice()]), "hi", thinking="high", top_k=3)
    once = call_style.generate(connect(), "hi", thinking="high", top_k=3)
    assert response.warnings == once.warnings != ()
    assert [attempt.number for attempt in response.attempts] == [1, 2]


class Taking:
    """Asks for a stream, keeps it, and does something else."""

    def __init__(self, then: str) -> None:
        self.then, self.contexts = then, []

    async def around_call(self, context, next):
        self.contexts.append(context)
        context.call = context.call.with_(stream=True)
        await next(context)
        if self.then == "fail":
            raise BadRequestError("no")
        if self.then == "reply":
            return ModelReply((TextPart("b"),), "stop")
        return await next(context)


@pytest.mark.parametrize("then", ["fail", "reply", "again", "again, dropped"])
@pytest.mark.parametrize("way", ["stream", "generate"])
def test_stream_that_middleware_does_not_return_is_closed(call_style, server, connect, way, then):
    server.script(stream_head() + chunk(delta("a")), HANG)
    if then.startswith("again"):
        server.script(streamed("b"))
    taking = Taking(then)
    llm = connect(middleware=[taking])
    stream = call_style.stream(llm, "hi") if way == "stream" else None
    if then == "fail":
        with pytest.raises(BadRequestError):
            next(stream) if stream else call_style.generate(llm, "hi")
    elif stream is None:
        assert call_style.generate(llm, "hi").content == "b"
    elif then == "again, dropped":
        next(stream)
        stream.close()
    else:
        assert "".join(stream.text()) == "b"
    assert [each._ended for each in taking.contexts[0].streams] == [True] * (2 if then.startswith("again") else 1)
    server.assert_closed_promptly(time.monotonic())


def test_dropped_stream_closes_an_earlier_one_of_middleware(server, connect):
    server.script(stream_head() + chunk(delta("a")), HANG)
    server.script(stream_head() + chunk(delta("b")), HANG)
    taking = Taking("again")
    stream = connect(middleware=[taking]).stream("hi")
    next(stream)
    stream._call.drop()
    for number in range(2):
        server.assert_closed_promptly(time.monotonic(), number)


def test_stream_closed_during_a_read_never_ends_successfully():
    class Reading:
        """Reads on while the stream is being closed."""

        async def around_call(self, context, next):
            context.at_end.append(lambda end: self.read())
            return await next(context)

        def read(self) -> None:
            with pytest.raises(StreamInterruptedError, match="was closed while it was read") as caught:
                next(stream)
            self.partial = caught.value.partial

    reading = Reading()
    stream = create_llm("scripted", replies=[ScriptedReply.chunks(["a"])], middleware=[reading]).stream("hi")
    while not isinstance(next(stream), ReplyEnd):
        pass
    stream.close()
    assert reading.partial.text == "a"
    with pytest.raises(StreamInterruptedError, match="there is no response"):
        str(stream.response)


class Unclosable:
    """Hands streams on in one whose `close` and `abort` fail."""

    def __init__(self) -> None:
        self.closed = 0

    async def around_call(self, context, next):
        stream = await next(context)
        self.read = stream.read
        return self

    async def close(self) -> None:
        self.closed += 1
        raise RuntimeError("no close")

    def abort(self) -> None:
        raise RuntimeError("no abort")


def leave_in_order(stream) -> None:
    with stream:
        next(stream)


def leave_with_an_error(stream) -> None:
    with pytest.raises(ZeroDivisionError), stream:
        next(stream)
        raise ZeroDivisionError


def leave_at_a_break(stream) -> None:
    with pytest.raises(StreamInterruptedError, match="the stream was interrupted"):
        list(stream)


@pytest.mark.parametrize("leave", [leave_in_order, leave_with_an_error, leave_at_a_break])
def test_stream_failing_to_close_hides_no_error_and_holds_no_connection(call_style, server, connect, caplog, leave):
    server.script(stream_head() + chunk(delta("a")), CUT if leave is leave_at_a_break else HANG)
    layers = [Unclosable(), Unclosable()]
    stream = call_style.stream(connect(middleware=layers), "hi")
    leave(stream)
    server.wait_for(lambda: not server.open, "the end of the connection")
    assert min(layer.closed for layer in layers) >= 1
    assert {record.message for record in caplog.records} == {"closing a stream failed"}
    assert str(caplog.records[0].exc_info[1]) == "no close"


def test_stream_failing_to_close_hides_no_error_of_a_sync_call(call_style, server, connect, caplog):
    class Streamed(Unclosable):
        async def around_call(self, context, next):
            context.call = context.call.with_(stream=True)
            return await super().around_call(context, next)

    server.script(stream_head() + chunk(delta("a")), CUT)
    server.script(streamed("b"))
    llm = connect(middleware=[Streamed()])
    with pytest.raises(StreamInterruptedError, match="the stream was interrupted"):
        call_style.generate(llm, "hi")
    assert call_style.generate(llm, "hi").content == "b"
    assert {record.message for record in caplog.records} == {"closing a stream failed"}


def test_connection_is_closed_even_if_aborting_a_middleware_stream_fails(server, connect, caplog):
    server.script(stream_head() + chunk(delta("a")), HANG)
    stream = connect(middleware=[Unclosable()]).stream("hi")
    next(stream)
    stream._call.drop()
    server.wait_for(lambda: not server.open, "the end of the connection")
    assert {record.message for record in caplog.records} == {"closing a stream's connection failed"}
