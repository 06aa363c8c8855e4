"""Frames a stream of server-sent events that may contain bare JSON: servers and gateways send errors that way."""

from __future__ import annotations

from abstractcore.framing import ServerSentEvent, ServerSentEventFramer

_OF_JSON = tuple(b'{}[], \t"')
"""The first characters of a line that is bare JSON instead of a field of an event."""


class EventFramer(ServerSentEventFramer):
    """Splits a stream into events. Bare JSON, over one line or several, is the data of an event of its own."""

    __slots__ = ("_bare",)

    def __init__(self) -> None:
        super().__init__()
        self._bare = False

    def finish(self) -> list[ServerSentEvent]:
        """Returns the bare JSON that the end of the stream completes; a truncated event is dropped."""
        is_bare = self._bare or self._lines.rest()[:1] in (b"{", b"[")
        return self.feed(b"\n\n") if is_bare else []

    def _field(self, line: bytes) -> None:
        if line[0] in _OF_JSON:
            self._bare = True
            self._add_data(line)
        else:
            super()._field(line)
