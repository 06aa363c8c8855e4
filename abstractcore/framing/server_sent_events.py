"""Splits a stream into server-sent events, as in section 9.2 of the HTML standard, "Server-sent events"."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ServerError
from .lines import MAX_FRAME_BYTES, LineSplitter

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FIELDS = (b":", b"data", b"event", b"id", b"retry")
"""How the first line of an event may begin; a colon begins a comment."""


@dataclass(slots=True)
class ServerSentEvent:
    """One event: its data as bytes, its name, and the last event id (None if there was none)."""

    data: bytes
    event: str = "message"
    id: str | None = None


class ServerSentEventFramer:
    """Splits a stream into events. Line ends may be LF, CR or CRLF; comments and `retry` are skipped.

    Raises `ServerError` for a line or an event of more than `max_bytes`.
    """

    __slots__ = ("_bytes", "_data", "_event", "_id", "_limit", "_lines", "_started")

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        self._lines = LineSplitter(max_bytes)
        self._limit = max_bytes
        self._data: list[bytes] = []
        self._bytes = 0
        self._event = ""
        self._id: str | None = None
        self._started = False

    def accepts(self, start: bytes) -> bool | None:
        """Returns whether `start` begins with a field or a comment; None if it is too short to decide."""
        line = start.removeprefix(_BYTE_ORDER_MARK).lstrip()
        if line.startswith(_FIELDS):
            return True
        cut = _BYTE_ORDER_MARK.startswith(start) or any(field.startswith(line) for field in _FIELDS)
        return None if cut else False

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Returns the events that `data` completes."""
        events: list[ServerSentEvent] = []
        lines = self._lines.feed(data)
        if lines and not self._started:
            self._started = True
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
        for line in lines:
            if not line:
                if self._data:
                    events.append(ServerSentEvent(b"\n".join(self._data), self._event or "message", self._id))
                    self._data.clear()
                    self._bytes = 0
                self._event = ""
            elif line.startswith(b"data: "):
                self._add_data(line[6:])
            else:
                self._field(line)
        return events

    def finish(self) -> list[ServerSentEvent]:
        """Returns an empty list: an incomplete event is dropped, as the standard demands; decoders detect it."""
        return []

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._add_data(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")

    def _add_data(self, value: bytes) -> None:
        self._data.append(value)
        self._bytes += len(value) + 1
        if self._bytes > self._limit:
            raise ServerError(f"the provider sent an event of over {self._limit:,} bytes")
