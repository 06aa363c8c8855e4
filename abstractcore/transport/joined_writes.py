"""Joins the writes of httpcore2, so that a request leaves in one packet."""

from __future__ import annotations

from collections.abc import Sequence

_JOINED_BYTES = 65536
"""Larger bodies are not copied to join them with the head."""


class JoinedWrites:
    """Buffers the writes of one connection.

    httpcore2 writes the head of a request, then its body. The head is buffered until more is written, or something is
    read: this saves a packet, and the server has the complete request at once.
    """

    __slots__ = ("_head",)

    def __init__(self) -> None:
        self._head: bytes | None = None

    def add(self, buffer: bytes) -> Sequence[bytes]:
        """Returns the data to send now that `buffer` is written."""
        head = self._head
        if head is None:
            self._head = buffer
            return ()
        self._head = b""
        if not head or not buffer:
            return (head or buffer,)
        return (head, buffer) if len(buffer) > _JOINED_BYTES else (head + buffer,)

    def rest(self) -> bytes:
        """Returns the data to send before a read; the next write begins another request."""
        head, self._head = self._head, None
        return head or b""
