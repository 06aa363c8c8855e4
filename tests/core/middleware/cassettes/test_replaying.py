"""Recording and replaying, sync and async, without a network."""

from __future__ import annotations

import asyncio
import base64
import threading

import pytest

from abstractcore import (
    CassetteError,
    ConnectionFailedError,
    ContextOverflowError,
    ModelReply,
    RateLimitError,
    ReplayMismatchError,
    StreamInterruptedError,
    TextPart,
    create_llm,
    record,
    replay,
)
from tests.chaos_server import CUT, HANG, chunk, completion, delta, failure, stream_head, streamed
from tests.core.middleware.cassettes.lines import CLOSED, lines


def test_recorded_exchange_is_replayed_without_a_server(call_style, server, connect, path, again):
    server.script(completion("one"))
    server.script(completion("two", headers={"x_request_id": "r-2"}))
    llm = connect(middleware=[record(path)])
    first = [call_style.generate(llm, prompt) for prompt in ("a", "b")]
    llm, player = again()
    second = [call_style.generate(llm, prompt) for prompt in ("b", "a")][::-1]
    assert [response.reply for response in second] == [response.reply for response in first]
    assert [response.content for response in second] == ["one", "two"]
    assert [(each.status, each.request_id) for each in second[1].attempts] == [(200, "r-2")]
    assert list(player.unused) == []


def test_equal_requests_are_replayed_in_order(call_style, server, connect, path, again):
    for text in ("one", "two", "three"):
        server.script(completion(text))
    llm = connect(middleware=[record(path)])
    for _ in range(3):
        call_style.generate(llm, "same")
    llm, player = again()
    assert [call_style.generate(llm, "same").content for _ in range(2)] == ["one", "two"]
    assert [exchange.reply.text for exchange in player.unused] == ["three"]


def test_failed_attempts_are_replayed_with_their_backoff(call_style, server, connect, path, again, clock):
    server.script(failure(429, "slow down", retry_after="7", x_request_id="r-1"))
    server.script(CUT)
    server.script(completion("third"))
    call_style.generate(connect(middleware=[record(path)]), "hi")
    pauses = list(clock.sleeps)
    assert [line["error"]["kind"] for line in lines(path)[:2]] == ["RateLimitError", "ConnectionFailedError"]
    clock.sleeps.clear()
    response = call_style.generate(again()[0], "hi")
    assert response.content == "third"
    assert clock.sleeps == pauses
    assert clock.sleeps[0] == 7.0
    assert [(each.number, each.status, each.request_id, each.error) for each in response.attempts] == [
        (1, 429, "r-1", "RateLimitError"),
        (2, None, None, "ConnectionFailedError"),
        (3, 200, None, None),
    ]


def test_error_is_replayed_unchanged(call_style, server, connect, path, again):
    said = "This model's maximum context length is 8 tokens. However, your messages resulted in 11 tokens."
    server.script(failure(400, said, error={"code": "context_length_exceeded"}, x_request_id="r"))
    raised = []
    for llm in (connect(middleware=[record(path)]), None):
        with pytest.raises(ContextOverflowError) as caught:
            call_style.generate(llm or again()[0], "hi")
        raised.append({**vars(caught.value), "text": str(caught.value), "attempts": len(caught.value.attempts)})
    assert raised[0] == raised[1]
    assert raised[1]["prompt_tokens"] == 11


def test_stream_is_replayed_in_its_batches(call_style, server, connect, path, again):
    server.script(streamed("a", "b", "c"))
    streams = []
    for make in (lambda: connect(middleware=[record(path)]), lambda: again()[0]):
        with call_style.stream(make(), "hi") as stream:
            streams.append((list(stream), stream.response.reply, stream.response.attempts[0].status))
    assert streams[0] == streams[1]
    (line,) = lines(path)
    assert sum(map(len, line["batches"])) == len(streams[0][0])


def test_interrupted_stream_is_replayed_up_to_the_interruption(call_style, server, connect, path, again):
    server.script(stream_head() + chunk(delta("a")), CUT)
    for make in (lambda: connect(middleware=[record(path)]), lambda: again()[0]):
        with call_style.stream(make(), "hi") as stream, pytest.raises(StreamInterruptedError) as caught:
            list(stream)
        assert caught.value.partial.text == "a"
        assert caught.value.provider == "openai-compatible"
        assert [attempt.error for attempt in caught.value.attempts] == [None]


def test_abandoned_stream_is_replayed_as_far_as_it_was_read(call_style, server, connect, path, again):
    server.script(stream_head() + chunk(delta("a")), HANG)
    with call_style.stream(connect(middleware=[record(path)]), "hi") as stream:
        assert next(stream.text()) == "a"
    assert lines(path)[0]["left"] is True
    with call_style.stream(again()[0], "hi") as stream:
        assert next(stream.text()) == "a"
    with (
        call_style.stream(again()[0], "hi") as stream,
        pytest.raises(CassetteError, match="is incomplete: it was closed here") as caught,
    ):
        list(stream)
    assert caught.value.partial.text == "a"


def test_dropped_stream_is_recorded_as_abandoned(server, connect, path):
    server.script(stream_head() + chunk(delta("a")), HANG)
    for _ in connect(middleware=[record(path)]).stream("hi"):
        break
    assert lines(path)[0]["left"] is True


def test_replaying_a_stream_needs_a_recorded_stream(call_style, server, connect, path, again):
    server.script(completion("a"))
    call_style.generate(connect(middleware=[record(path)]), "hi")
    with pytest.raises(ReplayMismatchError, match=r'\+ *"stream": true'):
        list(call_style.stream(again()[0], "hi"))


def test_cancelled_call_is_not_recorded(server, connect, path):
    server.script(HANG)
    llm = connect(middleware=[record(path)])

    async def main() -> None:
        task = asyncio.ensure_future(llm.agenerate("hi"))
        await asyncio.to_thread(server.wait_for_requests, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert not path.exists()


def test_concurrent_calls_write_complete_lines(server, connect, path, again):
    server.always_by(lambda request: [completion(request.json["messages"][0]["content"] * 1000)])
    llm = connect(middleware=[record(path)])

    def ask(start: int) -> None:
        for number in range(start, start + 8):
            assert llm.generate(f"<{number}>").content == f"<{number}>" * 1000

    async def ask_all() -> None:
        await asyncio.gather(*(llm.agenerate(f"<{number}>") for number in range(100, 116)))

    threads = [threading.Thread(target=ask, args=[start]) for start in range(0, 64, 8)]
    for thread in threads:
        thread.start()
    asyncio.run(ask_all())
    for thread in threads:
        thread.join()
    assert len(lines(path)) == 80
    llm, player = again()
    assert llm.generate("<63>").content == "<63>" * 1000
    assert len(player.unused) == 79


def test_reply_with_files_is_replayed(call_style, path):
    from abstractcore import Blob, ImagePart

    picture = ImagePart(Blob.from_bytes(b"\x89PNG\r\n" * 50, "image/png"))
    reply = ModelReply((TextPart("Here."), picture), "stop")
    llm = create_llm("scripted", replies=[reply], middleware=[record(path)])
    assert call_style.generate(llm, "draw").reply == reply
    assert base64.b64encode(b"\x89PNG\r\n" * 50) in path.read_bytes()
    llm = create_llm("scripted", replies=[], middleware=[replay(path)])
    assert call_style.generate(llm, "draw").reply == reply


def test_plugin_error_class_is_replayed_as_our_base_class(call_style, path):
    class OwnError(RateLimitError):
        """A plugin's."""

    def fail(call):
        raise OwnError("slow down", retry_after=0.5)

    llm = create_llm("scripted", replies=fail, middleware=[record(path)], max_retries=0)
    with pytest.raises(OwnError):
        call_style.generate(llm, "hi")
    with pytest.raises(RateLimitError, match="slow down") as caught:
        call_style.generate(create_llm("scripted", replies=[], middleware=[replay(path)], max_retries=0), "hi")
    assert type(caught.value) is RateLimitError
    assert caught.value.retry_after == 0.5


def test_connection_failure_is_recorded(call_style, connect, path, again):
    for llm in (connect(base_url=CLOSED, max_retries=0, middleware=[record(path)]), None):
        with pytest.raises(ConnectionFailedError, match="cannot connect"):
            call_style.generate(llm or again(max_retries=0)[0], "hi")
