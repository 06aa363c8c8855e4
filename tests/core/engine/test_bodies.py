"""Stream detection from the first bytes of a body."""

from __future__ import annotations

import pytest

from abstractcore.concurrency import SyncRuntime, drive
from abstractcore.engine.response_reading import read_start
from abstractcore.errors import RequestTimeoutError
from abstractcore.framing import LineFramer, ServerSentEventFramer
from abstractcore.ports import CallContext, Framer, Operation
from abstractcore.schema import Encoded, Message, ModelCall, ModelReply, WireRequest
from abstractcore.testing import VirtualClock


class Pieces:
    """A body of these pieces, each of which takes a second."""

    def __init__(self, clock: VirtualClock, pieces: list[bytes], content_type: str = "") -> None:
        self.status, self.headers = 200, dict[str, str]() if not content_type else {"content-type": content_type}
        self.left = pieces
        self._clock = clock

    async def read(self) -> bytes:
        self._clock.advance(1)
        return self.left.pop(0) if self.left else b""

    async def close(self) -> None:
        self.left = []

    def abort(self) -> None:
        self.left = []


OPERATION = Operation(
    "chat", ModelCall, lambda call: Encoded(WireRequest("/", {}, b"")), lambda response, call: ModelReply()
)


def read(pieces: list[bytes], framer: Framer, content_type: str = "", deadline: float | None = None):
    """What the first pieces say, and those that are left."""
    clock = VirtualClock()
    body = Pieces(clock, pieces, content_type)
    context = CallContext(ModelCall("m", (Message.user("hi"),)), SyncRuntime(clock), 0.0, 0.0, deadline, "t", OPERATION)
    return (*drive(read_start(body, framer, context)), body.left)


def test_only_as_many_bytes_are_read_as_needed_for_detection():
    assert read([b"\r\n", b"da", b"ta: 1", b"more"], ServerSentEventFramer()) == (b"\r\ndata: 1", True, [b"more"])
    assert read([b"\n", b'{"a', b"more"], LineFramer()) == (b'\n{"a', True, [b"more"])
    assert read([b"<", b"html>"], ServerSentEventFramer(), "text/event-stream") == (b"<", False, [b"html>"])


@pytest.mark.parametrize("content_type", ["", "text/event-stream"])
@pytest.mark.parametrize("pieces", [[], [b"\n", b" "], [b"da"]], ids=["nothing", "blank", "cut"])
def test_body_that_ends_before_detection_is_a_document(pieces: list[bytes], content_type: str):
    start = b"".join(pieces)
    assert read(pieces, ServerSentEventFramer(), content_type) == (start, False, [])


def test_deadline_applies_to_a_body_that_does_not_start():
    pieces = [b"\r\n"] * 100
    with pytest.raises(RequestTimeoutError):
        read(pieces, ServerSentEventFramer(), deadline=5.5)
    assert len(pieces) == 94


class CountingFramer:
    """Adds up how many bytes `framer` is shown."""

    def __init__(self, framer: Framer) -> None:
        self.shown = 0
        self._framer = framer
        self.feed, self.finish = framer.feed, framer.finish

    def accepts(self, start: bytes) -> bool | None:
        self.shown += len(start)
        return self._framer.accepts(start)


@pytest.mark.parametrize(
    ("beginning", "end", "make"),
    [
        (b"", b"data: 1", ServerSentEventFramer),
        (b"\xef\xbb\xbf", b"data: 1", ServerSentEventFramer),
        (b"", b'{"a"', LineFramer),
        (b"{", b'"a"', LineFramer),
    ],
)
def test_detection_after_leading_white_space_is_linear(beginning, end, make):
    pieces = [beginning + b" ", *[b" " * 100] * 2000, end]
    framer = CountingFramer(make())
    assert read(list(pieces), framer) == (b"".join(pieces), True, [])
    assert framer.shown < 2 * len(b"".join(pieces))
