"""Server-sent events, byte by byte as the HTML standard gives them (section 9.2, "Server-sent events")."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ServerError
from .lines import MAX_FRAME_BYTES, LineSplitter

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FIELDS = (b":", b"data", b"event", b"id", b"retry")
"""What the first line of an event begins with; the colon is a comment's."""


@dataclass(slots=True)
class ServerSentEvent:
    """One event: its data as bytes, its name, and the last id seen (None if there was none)."""

    data: bytes
    event: str = "message"
    id: str | None = None


class ServerSentEventFramer:
    """Cuts a stream into events. Line ends may be LF, CR or CRLF; comments and `retry` are left out.

    Every line and every event is bounded by `max_bytes`; more raises `ServerError`.
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
        """Whether `start` begins with a field or a comment; None if it is too short to decide."""
        line = start.removeprefix(_BYTE_ORDER_MARK).lstrip()
        if line.startswith(_FIELDS):
            return True
        cut = _BYTE_ORDER_MARK.startswith(start) or any(field.startswith(line) for field in _FIELDS)
        return None if cut else False

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events complete with `data`."""
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
        """Nothing: an event the end of the stream cuts is dropped, as the standard says; decoders notice."""
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
