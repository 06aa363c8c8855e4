"""Events of a stream, and what stands between them: Google's servers send an error in a stream as bare JSON."""

from __future__ import annotations

from abstractcore.framing import ServerSentEvent, ServerSentEventFramer

_OF_JSON = tuple(b'{}[], \t"')
"""What a line begins with that is a piece of JSON, and no field of an event."""


class AnswerFramer(ServerSentEventFramer):
    """Cuts a stream into events. JSON that is in none, over one line or many, is the data of an event of its own."""

    __slots__ = ("_bare",)

    def __init__(self) -> None:
        super().__init__()
        self._bare = False

    def finish(self) -> list[ServerSentEvent]:
        """The bare JSON that the end of the stream completes; an event that it cuts is dropped."""
        return self.feed(b"\n\n") if self._bare else []

    def _field(self, line: bytes) -> None:
        if line[0] in _OF_JSON:
            self._bare = True
            self._add_data(line)
        else:
            super()._field(line)
