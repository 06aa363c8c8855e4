"""The pieces in which httpcore2 writes a request, joined so that it leaves in one packet."""

from __future__ import annotations

from collections.abc import Sequence

_JOINED_BYTES = 65536
"""A body beyond this is not copied to stand behind its head."""


class JoinedWrites:
    """What is to be sent over one connection, when.

    httpcore2 writes a request's head, its body, and nothing to say that it ends. The head is kept back until more is
    written, or something is to be read: a packet less for both sides, and the server has the whole request at once.
    """

    __slots__ = ("_head",)

    def __init__(self) -> None:
        self._head: bytes | None = None

    def add(self, buffer: bytes) -> Sequence[bytes]:
        """What to send now that `buffer` is written."""
        head = self._head
        if head is None:
            self._head = buffer
            return ()
        self._head = b""
        if not head or not buffer:
            return (head or buffer,)
        return (head, buffer) if len(buffer) > _JOINED_BYTES else (head + buffer,)

    def rest(self) -> bytes:
        """What to send before something is read; the next write begins another request."""
        head, self._head = self._head, None
        return head or b""
