"""Writes: head and body of a request in one packet."""

from __future__ import annotations

import asyncio
import socket

import httpcore2
import pytest

from abstractcore.transport.async_http import AsyncNetwork
from abstractcore.transport.sync_http import SyncNetworkStream

HEAD, BODY = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n", b"body"


@pytest.fixture
def connected():
    """A stream of ours, and the socket at its other end, from which reading never waits."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        stream = SyncNetworkStream(httpcore2.SyncBackend().connect_tcp(*listener.getsockname()))
        other, _ = listener.accept()
        with other:
            other.setblocking(False)
            yield stream, other
            stream.close()


def test_head_and_body_are_sent_together(connected):
    stream, other = connected
    for _ in range(2):
        stream.write(HEAD)
        with pytest.raises(BlockingIOError):
            other.recv(1000)
        stream.write(BODY)
        assert other.recv(1000) == HEAD + BODY
        stream.write(b"")
        other.send(b"answer")
        assert stream.read(1000) == b"answer"


def test_request_without_a_body_is_sent_at_its_end(connected):
    stream, other = connected
    stream.write(HEAD)
    stream.write(b"")
    assert other.recv(1000) == HEAD


def test_single_write_is_sent_before_the_next_read(connected):
    stream, other = connected
    other.send(b"answer")
    stream.write(HEAD)
    assert stream.read(1000) == b"answer"
    assert other.recv(1000) == HEAD


def test_large_body_follows_its_head_at_once(connected):
    stream, other = connected
    other.setblocking(True)
    stream.write(HEAD)
    stream.write(b"x" * 70_000)
    stream.write(b"")
    with other.makefile("rb") as received:
        assert received.read(len(HEAD) + 70_000) == HEAD + b"x" * 70_000


def test_head_and_body_are_sent_together_in_an_event_loop():
    async def exchange() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            stream = await AsyncNetwork().connect_tcp(*listener.getsockname())
            other, _ = listener.accept()
            with other:
                other.setblocking(False)
                for _ in range(2):
                    await stream.write(HEAD)
                    with pytest.raises(BlockingIOError):
                        other.recv(1000)
                    await stream.write(BODY)
                    assert other.recv(1000) == HEAD + BODY
                    await stream.write(b"")
                    other.send(b"answer")
                    assert await stream.read(1000) == b"answer"
                await stream.aclose()

    asyncio.run(exchange())
