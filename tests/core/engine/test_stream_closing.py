"""Closing a stream from another thread or task, at every wait of its reader."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator

import httpx2
import pytest

from abstractcore import Delta, Services, StreamInterruptedError, create_llm
from abstractcore.concurrency import SystemClock
from abstractcore.testing import VirtualClock
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer, chunk, completion, delta, failure, stream_head

PAUSE = "before it tries again"
WAITS = (PAUSE, "for the head", "in the head", "for the first delta", "for more")
COMMENTS = chunk(b": " + b"nothing to read, " * 60_000 + b"\n") * 30
"""A stream's lines without a delta, more than the buffers of both sides hold: once the last of them is sent, the reader
is past what came before them."""


class NoticingClock(SystemClock):
    """Notifies a waiting thread when a pause starts."""

    def __init__(self) -> None:
        self._pausing = threading.Event()

    def wait_for_pause(self) -> None:
        """Returns once a caller sleeps."""
        assert self._pausing.wait(PATIENCE_SECONDS), "no pause started"

    def sleep(self, seconds: float) -> None:
        self._pausing.set()
        super().sleep(seconds)

    def sleep_until(self, woken: threading.Event, seconds: float) -> None:
        self._pausing.set()
        super().sleep_until(woken, seconds)

    async def asleep(self, seconds: float) -> None:
        self._pausing.set()
        await super().asleep(seconds)


@pytest.fixture
def clock() -> NoticingClock:
    return NoticingClock()


@pytest.fixture
def services(clock: NoticingClock) -> Iterator[Services]:
    services = Services(environment={}, random=lambda: 0.0, clock=clock)
    yield services
    services.close()


def keep_waiting(wait: str, server: ScriptedServer, clock: NoticingClock) -> Callable[[], None]:
    """Script the next request's answer so that its reader waits there; gives what returns once it does."""
    gate = server.gate()
    answers = {
        PAUSE: [failure(503, retry_after="60")],
        "for the head": [gate],
        "in the head": [b"HTTP/1.1 200 OK\r\n", gate],
        "for the first delta": [stream_head(), COMMENTS, gate],
        "for more": [stream_head() + chunk(delta("hello")), COMMENTS, gate],
    }
    server.script(*answers[wait])
    return clock.wait_for_pause if wait == PAUSE else gate.wait_until_reached


class Reader:
    """Reads a stream to its end in a thread, in a sync call or an event loop."""

    def __init__(self, llm, call_style: str) -> None:
        self.asynchronous = call_style == "async"
        self._stream = llm.astream("hi") if self.asynchronous else llm.stream("hi")
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the stream, from this thread."""
        asyncio.run(self._stream.close()) if self.asynchronous else self._stream.close()

    def error(self) -> BaseException | None:
        """What reading ended with."""
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "it still reads"
        return self._error

    def read(self) -> list[Delta]:
        """All that is left."""
        return asyncio.run(self._aread()) if self.asynchronous else list(self._stream)

    async def _aread(self) -> list[Delta]:
        return [delta async for delta in self._stream]

    def _run(self) -> None:
        try:
            self.read()
        except BaseException as error:
            self._error = error


@pytest.mark.parametrize("call_style", ["sync", "sync over a kept connection", "async"])
@pytest.mark.parametrize("wait", WAITS)
def test_close_from_another_thread_ends_the_reader_and_sends_nothing_more(server, connect, clock, call_style, wait):
    llm = connect(timeout=None)
    if "kept" in call_style:
        server.script(completion())
        llm.generate("hi")
    before = len(server.requests)
    wait_for_reader = keep_waiting(wait, server, clock)
    reader = Reader(llm, call_style)
    wait_for_reader()
    reader.close()
    error = reader.error()
    assert isinstance(error, StreamInterruptedError)
    assert "closed while it was read" in str(error)
    with pytest.raises(StreamInterruptedError):
        reader.read()
    assert len(server.requests) == before + 1
    if wait != PAUSE:
        server.wait_for(lambda: not server.open, "the end of the connection")


@pytest.mark.parametrize("call_style", ["sync", "async"])
def test_close_from_another_thread_ends_a_tls_handshake(services, call_style):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        llm = create_llm("openai-compatible", model="m", base_url=url, services=services, timeout=None, verify=True)
        reader = Reader(llm, call_style)
        listener.settimeout(PATIENCE_SECONDS)
        with listener.accept()[0] as connection:
            connection.settimeout(PATIENCE_SECONDS)
            assert connection.recv(1)
            reader.close()
            assert isinstance(reader.error(), StreamInterruptedError)
            while connection.recv(1 << 16):
                pass


@pytest.mark.parametrize("wait", ["for the head", "for the first delta"])
def test_close_from_another_thread_ends_the_reader_over_a_custom_http_client(server, services, clock, wait):
    with httpx2.Client(timeout=None) as client:
        llm = create_llm(
            "openai-compatible", model="m", base_url=server.url, services=services, timeout=None, http_client=client
        )
        wait_for_reader = keep_waiting(wait, server, clock)
        reader = Reader(llm, "sync")
        wait_for_reader()
        reader.close()
        assert isinstance(reader.error(), StreamInterruptedError)
        server.wait_for(lambda: not server.open, "the end of the connection")


@pytest.mark.parametrize("wait", WAITS)
def test_close_from_another_task_ends_the_reader_and_sends_nothing_more(server, connect, clock, wait):
    async def read(stream) -> None:
        async for _ in stream:
            pass

    async def main() -> None:
        stream = connect(timeout=None).astream("hi")
        reader = asyncio.ensure_future(read(stream))
        await asyncio.to_thread(wait_for_reader)
        await stream.close()
        with pytest.raises(StreamInterruptedError, match="closed while it was read"):
            await asyncio.wait_for(reader, PATIENCE_SECONDS)

    wait_for_reader = keep_waiting(wait, server, clock)
    asyncio.run(main())
    assert len(server.requests) == 1
    server.wait_for(lambda: not server.open, "the end of the connection")


def test_stream_closed_before_its_first_read_sends_nothing(call_style, server, connect):
    stream = call_style.stream(connect(), "hi")
    stream.close()
    with pytest.raises(StreamInterruptedError, match="closed"):
        next(stream)
    assert server.requests == []


class Closing:
    """Closes the stream of a call as soon as its first attempt has failed."""

    def __init__(self) -> None:
        self.calls = []

    async def around_attempt(self, attempt, next):
        try:
            return await next(attempt)
        finally:
            self.calls[0].abort()


def test_stream_closed_before_a_backoff_pause_sends_nothing_more(call_style, server):
    services, closing = Services(environment={}, clock=VirtualClock()), Closing()
    llm = create_llm("openai-compatible", model="m", base_url=server.url, services=services, middleware=[closing])
    server.script(failure(429, retry_after="5"))
    stream = llm.stream("hi") if call_style.name == "sync" else llm.astream("hi")
    closing.calls.append(stream._call)
    with pytest.raises(StreamInterruptedError):
        call_style.run(stream._call.read())
    assert len(server.requests) == 1
    services.close()
