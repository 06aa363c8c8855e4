"""Call records: one per call, however it ends; subscribers do not affect calls."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import os
import subprocess
import sys
import threading
import time

import pytest

from abstractcore import (
    AbstractCoreError,
    CallRecord,
    CallWarning,
    InvalidInputError,
    ModelReply,
    OutputValidationError,
    RateLimitError,
    ServerError,
    Services,
    StreamInterruptedError,
    TextDelta,
    TextPart,
    UnsupportedContentError,
    Usage,
    create_llm,
    digest,
    from_json,
    subscribe,
    to_json,
    tool,
)
from abstractcore.schema import ErrorRecord
from abstractcore.testing import ScriptedReply
from tests.chaos_server import (
    CUT,
    HANG,
    LAST_CHUNK,
    PATIENCE_SECONDS,
    chunk,
    completion,
    delta,
    event,
    failure,
    raw_answer,
    stream_head,
    streamed,
)
from tests.media_doubles import SOUND, registry

HELLO = stream_head() + chunk(delta("hello"))
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.fixture
def records(services: Services):
    """`records()` are those of all calls that have ended."""
    received: list[CallRecord] = []
    subscription = services.records.subscribe(received.append, "full")

    def records() -> list[CallRecord]:
        assert subscription.flush(PATIENCE_SECONDS)
        return received

    yield records
    subscription.close()


def test_call_leaves_one_complete_record(call_style, server, connect, records, services):
    server.script(failure(503))
    server.script(completion(headers={"x-request-id": "r-1"}))
    llm = connect(tags={"team": "a"})
    call = llm.build("hi", tags={"job": "b"}, parent_id="p")
    response = call_style.generate(llm, "hi", tags={"job": "b"}, parent_id="p")
    (record,) = records()
    assert (record.trace_id, record.parent_id, record.tags) == (response.trace_id, "p", {"team": "a", "job": "b"})
    assert (record.provider, record.model, record.outcome) == ("openai-compatible", "m-1", "done")
    assert (record.call, record.reply) == (call, response.reply)
    assert (record.call_digest, record.reply_digest) == (digest(call), digest(response.reply))
    assert [(attempt.number, attempt.status, attempt.error) for attempt in record.attempts] == [
        (1, 503, "OverloadedError"),
        (2, 200, None),
    ]
    assert record.attempts == response.attempts
    assert (record.usage, record.cost, record.warnings) == (response.usage, None, response.warnings)
    assert (record.streamed, record.seconds_to_first, record.error) == (False, None, None)
    assert response.seconds <= record.seconds < PATIENCE_SECONDS
    assert record.started_at <= record.attempts[0].started_at


def test_complete_stream_leaves_one_record(call_style, server, connect, records):
    server.script(streamed("he", "llo"))
    stream = call_style.stream(connect(), "hi")
    assert "".join(stream.text()) == "hello"
    (record,) = records()
    assert (record.outcome, record.streamed, record.reply) == ("done", True, stream.response.reply)
    assert record.trace_id == stream.response.trace_id
    assert record.seconds_to_first is not None
    assert 0 < record.seconds_to_first <= record.seconds


def test_failed_call_is_recorded_with_error_and_attempts(call_style, server, connect, records):
    server.script(failure(429, "slow down", x_request_id="r-9"))
    with pytest.raises(RateLimitError):
        call_style.generate(connect(max_retries=0), "hi")
    (record,) = records()
    assert (record.outcome, record.reply, record.reply_digest, record.cost) == ("failed", None, None, None)
    assert record.error == ErrorRecord("RateLimitError", "slow down", 429, "r-9", True)
    assert [attempt.status for attempt in record.attempts] == [429]
    assert record.usage == Usage()


def test_interrupted_stream_is_recorded_with_the_partial_reply(call_style, server, connect, records):
    server.script(HELLO, CUT)
    with pytest.raises(StreamInterruptedError):
        list(call_style.stream(connect(), "hi"))
    (record,) = records()
    assert (record.outcome, record.error.type, record.reply.text) == ("failed", "StreamInterruptedError", "hello")
    assert 0 < record.seconds_to_first <= record.seconds


def test_stream_left_early_is_abandoned(call_style, server, connect, records):
    server.script(HELLO, HANG)
    with_stream = call_style.stream(connect(), "hi")
    next(with_stream)
    assert records() == []
    with_stream.close()
    with_stream.close()
    (record,) = records()
    assert (record.outcome, record.error, record.reply.text) == ("abandoned", None, "hello")


def test_unread_stream_is_not_recorded(call_style, connect, records):
    call_style.stream(connect(), "hi").close()
    assert records() == []


def test_dropped_sync_stream_is_abandoned(server, connect, records):
    server.script(HELLO, HANG)
    stream = connect().stream("hi")
    next(stream)
    del stream
    gc.collect()
    assert [record.outcome for record in records()] == ["abandoned"]


def test_async_stream_dropped_after_its_loop_is_abandoned(server, connect, records):
    server.script(HELLO, HANG)
    streams = [connect().astream("hi")]
    with asyncio.Runner() as runner:
        runner.run(anext(streams[0]))
        with pytest.warns(ResourceWarning, match="an open stream was dropped"):
            streams.clear()
        assert [record.outcome for record in records()] == ["abandoned"]


def test_cancelled_call_and_cancelled_stream_are_recorded(server, connect, records):
    server.script(HANG)
    server.script(HELLO, HANG)

    async def main() -> None:
        call = asyncio.create_task(connect().agenerate("hi"))
        await asyncio.to_thread(server.wait_for_requests, 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        begun = asyncio.Event()

        async def read() -> None:
            async for _ in connect().astream("hi"):
                begun.set()

        reader = asyncio.create_task(read())
        await begun.wait()
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader

    asyncio.run(main())
    assert [(record.outcome, record.error.type) for record in records()] == [("cancelled", "CancelledError")] * 2
    assert [attempt.error for record in records() for attempt in record.attempts] == ["CancelledError", None]


def test_ctrl_c_is_recorded_as_cancelled(server, connect, records, ctrl_c):
    server.script(HANG)
    ctrl_c(lambda: server.requests)
    with pytest.raises(KeyboardInterrupt):
        connect().generate("hi")
    assert [record.outcome for record in records()] == ["cancelled"]


def test_refused_call_and_invalid_answer_are_recorded_as_failed(call_style, server, connect, records):
    llm = connect(accepts=[])
    with pytest.raises(UnsupportedContentError):
        call_style.generate(llm, "what is it?", media=[PNG], media_policy="native")
    server.script(completion("no number"))
    with pytest.raises(OutputValidationError):
        call_style.generate(llm, "hi", response_model=int, output_retries=0)
    refused, invalid = records()
    assert (refused.error.type, refused.attempts) == ("UnsupportedContentError", ())
    assert (invalid.error.type, invalid.reply.text, len(invalid.attempts)) == ("OutputValidationError", "no number", 1)


def test_record_without_capture_has_digests_and_no_content(call_style, server, connect, services, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the code is open sesame")
    server.script(completion("the answer is open sesame"))
    received: list[CallRecord] = []
    full: list[CallRecord] = []
    with services.records.subscribe(received.append), services.records.subscribe(full.append, "full"):
        call_style.generate(connect(), "what is open sesame?", media=[secret])
    (record,) = received
    assert (record.call, record.reply) == (None, None)
    assert "open sesame" not in repr(record)
    assert (record.call_digest, record.reply_digest) == (full[0].call_digest, full[0].reply_digest)
    assert [(decision.source, decision.sent.text) for decision in record.media] == [("secret.txt", None)]
    assert "open sesame" in full[0].media[0].sent.text


def test_redacted_record_shows_sizes_instead_of_content(call_style, server, connect, services):
    server.script(completion("the answer is open sesame"))
    received: list[CallRecord] = []
    with services.records.subscribe(received.append, "redacted"):
        call_style.generate(connect(), "what is open sesame?", system_prompt="be brief")
    (record,) = received
    assert [message.text for message in record.call.messages] == ["[8 characters]", "[20 characters]"]
    assert record.reply.text == "[25 characters]"
    assert "open sesame" not in repr(record)


def test_records_say_how_much_content_was_asked_for(services):
    received = {capture: [] for capture in ("off", "redacted", "full")}
    subscriptions = [services.records.subscribe(found.append, each, "all") for each, found in received.items()]
    replies = [ScriptedReply.tool_call("look", {}), "There."]
    llm = create_llm("scripted", replies=replies, services=services)
    llm.generate("Where?", tools=[tool(read_only=True)(look)], run_tools=True)
    assert all(subscription.flush(30) for subscription in subscriptions)
    for capture, found in received.items():
        assert [type(record).__name__ for record in found] == [
            "CallRecord", "ToolRecord", "CallRecord", "InteractionRecord",
        ]  # fmt: skip
        assert {record.capture for record in found} == {capture}
        assert {from_json(to_json(record)).capture for record in found} == {capture}


def look() -> str:
    """Looks."""
    return "It is there."


def test_messages_of_foreign_exceptions_count_as_content(call_style, server, connect, services):
    class Leaking:
        async def around_call(self, context, next):
            raise ValueError(context.call.messages[0].text)

    for capture, said in (("off", ""), ("redacted", ""), ("full", "what is 4711?")):
        received: list[CallRecord] = []
        with services.records.subscribe(received.append, capture), pytest.raises(ValueError, match="4711"):
            call_style.generate(connect(middleware=[Leaking()]), "what is 4711?")
        assert received[0].error == ErrorRecord("ValueError", said)


BROKEN = b'{"secret": "canary"'
BROKEN_ANSWERS = {
    "cut": (raw_answer(BROKEN), "the response is not JSON: it begins with"),
    "page": (raw_answer(b"<p>canary</p>"), "the response is not JSON: its content type is"),
    "event": (stream_head() + chunk(event(BROKEN)) + LAST_CHUNK, "event 1 of the stream is not JSON:"),
    "form": (
        stream_head() + chunk(delta("a")) + chunk(event({"unknown": "canary"})) + LAST_CHUNK,
        "is of no known form:",
    ),
}


@pytest.mark.parametrize("kind", BROKEN_ANSWERS)
@pytest.mark.parametrize("capture", ["off", "redacted", "full"])
def test_what_an_error_quotes_of_an_answer_is_content(call_style, server, connect, services, kind, capture):
    reply, problem = BROKEN_ANSWERS[kind]
    server.script(reply)
    records: list[CallRecord] = []
    with services.records.subscribe(records.append, capture), pytest.raises(AbstractCoreError, match="canary"):
        if kind in ("cut", "page"):
            call_style.generate(connect(max_retries=0), "hi")
        else:
            list(call_style.stream(connect(max_retries=0), "hi"))
    (record,) = records
    assert problem in record.error.message
    assert ("canary" in to_json(record)) == (capture == "full")


def test_record_has_warnings_of_call_and_reply(call_style, connect, records):
    class Warning:
        async def around_call(self, context, next):
            context.warnings.append(CallWarning("cached", "", "from the cache"))
            return ModelReply((TextPart("a"),), "stop", warnings=(CallWarning("old", "", "a day old"),))

    response = call_style.generate(connect(middleware=[Warning()]), "hi")
    (record,) = records()
    assert [warning.code for warning in record.warnings] == ["cached", "old"]
    assert record.warnings == response.warnings


def test_conversion_usage_is_recorded_even_if_the_call_fails_later(call_style):
    services = Services(registry=registry(), environment={})
    received: list[CallRecord] = []
    llm = create_llm("scripted", replies=[RateLimitError("slow down")], services=services, max_retries=0)
    with services.records.subscribe(received.append), pytest.raises(RateLimitError):
        call_style.generate(llm, "hi", media=[SOUND])
    services.close()
    assert received[0].usage == Usage(10, 5)


@pytest.mark.parametrize("answers", [True, False])
def test_middleware_may_answer_after_catching_the_sync_await_error(answers):
    class Catching:
        async def around_call(self, context, next):
            try:
                await asyncio.sleep(0)
            except RuntimeError:
                if not answers:
                    await asyncio.sleep(0)
                return ModelReply((TextPart("a"),), "stop")

    llm = create_llm("scripted", replies=[], middleware=[Catching()])
    if answers:
        assert llm.generate("hi").content == "a"
    else:
        with pytest.raises(RuntimeError, match="use the async API"):
            llm.generate("hi")


@pytest.mark.parametrize("listening", [True, False])
def test_end_of_an_unobserved_call_is_not_prepared(call_style, server, connect, services, listening):
    prepared: list[int] = []

    class Watch:
        async def around_call(self, context, next):
            prepared.append(len(context.at_end))
            return await next(context)

    server.script(completion())
    with services.records.subscribe(print) as subscription:
        if not listening:
            subscription.close()
        call_style.generate(connect(middleware=[Watch()]), "hi")
    assert prepared == [int(listening)]


def test_listener_that_raises_affects_neither_the_call_nor_others(call_style, server, connect, records, caplog):
    received: list[str] = []

    class Watch:
        async def around_call(self, context, next):
            context.at_end += [lambda end: 1 / 0, lambda end: received.append(end.outcome)]
            return await next(context)

    server.script(completion())
    assert call_style.generate(connect(middleware=[Watch()]), "hi").content == "hello"
    assert received == ["done"]
    assert len(records()) == 1
    assert "ZeroDivisionError" in caplog.text


def test_record_is_immutable_and_survives_json(call_style, server, connect, records):
    server.script(completion())
    call_style.generate(connect(), "hi", tags={"a": "b"})
    (record,) = records()
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.model = "other"
    with pytest.raises(TypeError):
        record.tags["a"] = "c"
    assert from_json(to_json(record)) == record
    assert json.loads(to_json(record))["type"] == "call_record"


def test_subscriber_that_raises_is_logged_and_notified_again(call_style, server, connect, services, caplog):
    server.always(completion())
    received: list[str] = []

    def fragile(record: CallRecord) -> None:
        received.append(record.outcome)
        raise SystemExit("broken dashboard")

    with services.records.subscribe(fragile):
        assert [call_style.generate(connect(), "hi").content for _ in range(2)] == ["hello", "hello"]
    assert received == ["done", "done"]
    assert [record.exc_info[0] for record in caplog.records] == [SystemExit, SystemExit]


def test_hanging_subscriber_delays_neither_calls_nor_others(call_style, server, connect, services, caplog):
    server.always(completion())
    free = threading.Event()
    received: list[CallRecord] = []
    hanging = services.records.subscribe(lambda record: free.wait(PATIENCE_SECONDS))
    with services.records.subscribe(received.append):
        for _ in range(3):
            assert call_style.generate(connect(), "hi").content == "hello"
    assert len(received) == 3
    hanging.close(timeout=0.01)
    assert "did not finish in 0.01 s" in caplog.text
    free.set()


def test_records_dropped_for_a_slow_subscriber_are_counted(server, connect, services, monkeypatch, caplog):
    monkeypatch.setattr("abstractcore.telemetry.recorder._MOST_WAITING", 2)
    server.always(completion())
    begun, free = threading.Event(), threading.Event()

    def slow(record: CallRecord) -> None:
        begun.set()
        free.wait(PATIENCE_SECONDS)

    with services.records.subscribe(slow) as subscription:
        connect().generate("hi")
        assert begun.wait(PATIENCE_SECONDS)
        for _ in range(4):
            connect().generate("hi")
        assert services.records.flush_writer(PATIENCE_SECONDS)
        assert subscription.dropped == 2
        free.set()
    assert caplog.text.count("were dropped: the subscriber is too slow") == 1


def test_coroutine_function_can_subscribe(call_style, server, connect, services):
    server.always(completion())
    received: list[str] = []

    async def store(record: CallRecord) -> None:
        await asyncio.sleep(0)
        received.append(record.trace_id)

    with services.records.subscribe(store):
        traces = [call_style.generate(connect(), "hi").trace_id for _ in range(3)]
    assert received == traces


def test_closed_subscription_gets_no_more_records(call_style, server, connect, services):
    server.always(completion())
    received: list[CallRecord] = []
    subscription = services.records.subscribe(received.append)
    assert services.records.wanted()
    call_style.generate(connect(), "hi")
    worker = subscription._worker.begun()
    subscription.close()
    assert not services.records.wanted()
    call_style.generate(connect(), "hi")
    assert len(received) == 1
    worker._thread.join(PATIENCE_SECONDS)
    assert not worker._thread.is_alive()


@pytest.mark.parametrize(("arguments", "path"), [(["nothing"], "subscriber"), ([print, "all"], "capture")])
def test_invalid_subscriber_is_refused(services, arguments, path):
    with pytest.raises(InvalidInputError, match=f"^{path}: "):
        services.records.subscribe(*arguments)


@pytest.mark.process
def test_forked_child_notifies_subscribers_of_its_own_calls(server, connect, services, tmp_path):
    server.always(completion())
    llm = connect()
    out = tmp_path / "received"
    subscription = services.records.subscribe(lambda record: out.write_text(f"{os.getpid()} {record.outcome}"))
    llm.generate("parent")
    subscription.flush(PATIENCE_SECONDS)
    child = os.fork()
    if child == 0:
        llm.generate("child")
        os._exit(0 if subscription.flush(PATIENCE_SECONDS) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert out.read_text() == f"{child} done"
    subscription.close()


AT_EXIT = """
import abstractcore
async def tell(record):
    print(record.outcome, record.usage.output)
abstractcore.subscribe(tell)
abstractcore.create_llm("scripted", replies=["one two"]).generate("hi")
"""


@pytest.mark.process
def test_pending_records_are_delivered_at_interpreter_exit():
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", AT_EXIT], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.stdout, result.stderr) == ("done 2\n", "")


def test_subscribe_applies_to_llms_with_default_services():
    received: list[CallRecord] = []
    with subscribe(received.append):
        response = create_llm("scripted", replies=["one"]).generate("hi")
        create_llm("scripted", replies=["two"], services=Services(environment={})).generate("hi")
    assert [record.trace_id for record in received] == [response.trace_id]


def test_subscriber_may_close_its_own_subscription(server, connect, services, caplog):
    server.always(completion())
    received: list[CallRecord] = []
    closed = threading.Event()

    def once(record: CallRecord) -> None:
        received.append(record)
        subscription.close(timeout=PATIENCE_SECONDS)
        closed.set()

    subscription = services.records.subscribe(once)
    start = time.monotonic()
    connect().generate("hi")
    assert closed.wait(PATIENCE_SECONDS)
    assert time.monotonic() - start < PATIENCE_SECONDS / 2
    connect().generate("hi")
    assert (len(received), caplog.text) == (1, "")


def test_flush_inside_a_subscriber_does_not_deadlock(server, connect, services):
    server.always(completion())
    flushed: list[bool] = []
    first, free = threading.Event(), threading.Event()

    def flush(record: CallRecord) -> None:
        first.set()
        free.wait(PATIENCE_SECONDS)
        flushed.append(subscription.flush())

    with services.records.subscribe(flush) as subscription:
        connect().generate("hi")
        assert first.wait(PATIENCE_SECONDS)
        connect().generate("hi")
        free.set()
    assert flushed[0] is False
    assert len(flushed) == 2


def test_record_is_dropped_and_counted_if_no_thread_can_start(server, connect, services, monkeypatch, caplog):
    def no_thread(name: str, gathering: float) -> None:
        raise RuntimeError("can't start new thread at interpreter shutdown")

    server.always(completion())
    monkeypatch.setattr("abstractcore.concurrency.background.BackgroundWorker", no_thread)
    with services.records.subscribe(print) as subscription:
        assert [connect().generate("hi").content for _ in range(2)] == ["hello", "hello"]
    assert subscription.dropped == 2
    assert caplog.text.count("can't start new thread") == 1


class UnreadableError(Exception):
    """An exception whose text cannot be read."""

    def __str__(self) -> str:
        raise ValueError("no text")


class Stream:
    """A middleware that answers with its own stream."""

    def __init__(self, *batches: object) -> None:
        self._batches = list(batches)

    async def around_call(self, context, next):
        return self

    async def read(self):
        batch = self._batches.pop(0) if self._batches else []
        if isinstance(batch, BaseException):
            raise batch
        return batch

    async def close(self) -> None:
        """Nothing is held."""

    def abort(self) -> None:
        """Nothing can be cut."""


@pytest.mark.parametrize("batch", ["text", [3], [{}], [TextDelta(0, "block", "x")], None, (), 3, UnreadableError()])
def test_call_is_recorded_whatever_a_middleware_stream_returns(call_style, connect, records, batch):
    expected = UnreadableError if isinstance(batch, UnreadableError) else ServerError
    with pytest.raises(expected):
        list(call_style.stream(connect(middleware=[Stream(batch)]), "hi"))
    with pytest.raises(expected):
        call_style.generate(connect(middleware=[Stream(batch)]), "hi")
    assert [(record.outcome, record.error.type) for record in records()] == [("failed", expected.__name__)] * 2


def test_sync_call_that_awaits_an_event_loop_is_recorded_as_failed(connect, records):
    class Waiting:
        async def around_call(self, context, next):
            await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="use the async API"):
        connect(middleware=[Waiting()]).generate("hi")
    assert [(record.outcome, record.error.type) for record in records()] == [("failed", "RuntimeError")]


def test_call_cancelled_between_attempts_is_recorded_with_its_attempts(server, connect, records):
    server.script(failure(503, retry_after="60"))
    failed = asyncio.Event()

    class Watch:
        async def around_attempt(self, attempt, next):
            try:
                return await next(attempt)
            finally:
                failed.set()

    async def main() -> None:
        call = asyncio.create_task(connect(timeout=100, middleware=[Watch()]).agenerate("hi"))
        await failed.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    (record,) = records()
    assert (record.outcome, record.error.type) == ("cancelled", "CancelledError")
    assert [attempt.status for attempt in record.attempts] == [503]


def test_plugin_subscriber_is_notified_once_whatever_the_number_of_llms(services):
    received: list[str] = []

    class Plugin:
        name, capture = "dashboard", "off"

        def __call__(self, record: CallRecord) -> None:
            received.append(record.outcome)

    plugin = Plugin()
    for _ in range(3):
        services.records.add(plugin)
    create_llm("scripted", replies=["one"], services=services).generate("hi")
    assert services.records.flush(PATIENCE_SECONDS)
    assert received == ["done"]
