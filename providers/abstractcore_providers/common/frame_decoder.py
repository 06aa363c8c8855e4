"""Base of all stream decoders: frames are counted and parsed tolerantly, and errors name the frame.

Frames a stream of server-sent events that may contain bare JSON: servers and gateways send errors that way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from abstractcore.errors import InvalidInputError, ServerError, StreamInterruptedError
from abstractcore.framing import ServerSentEvent, ServerSentEventFramer
from abstractcore.schema import Delta, SchemaError
from abstractcore.schema.base_error import shown

from .delta_writer import DeltaWriter
from .reading import UNREAD, Cut, Object, note_in, quoting, read_answer, read_event


class FrameDecoder(ABC):
    """The base of a decoder of one stream, whose deltas are written to `_out`.

    A subclass has `feed`, which counts and reads a frame. In errors, `frame` is the name of a frame, `hint` describes a
    correct base URL, and `unfinished` and `nothing` say what is wrong with a stream that stops before its end or its
    start. `cut` names the texts that may contain half of a surrogate pair; None means all.
    """

    def __init__(
        self,
        hint: str,
        unfinished: str,
        *,
        nothing: str = "the response is not an event stream",
        frame: str = "event",
        cut: Cut | None = None,
    ) -> None:
        self.complete = False
        self._out = DeltaWriter()
        self._count = 0
        """How many frames were received."""
        self._hint = hint
        self._unfinished = unfinished
        self._nothing = nothing
        self._frame = frame
        self._cut = cut
        self._ignored = self._quoted = ""

    def finish(self) -> list[Delta]:
        """Ends the reply; raises `StreamInterruptedError` if the stream did not complete."""
        if not self._is_begun():
            raise quoting(ServerError(self._nothing + self._ignored, hint=self._hint), self._quoted)
        if not self._is_over():
            raise quoting(StreamInterruptedError(self._unfinished + self._ignored), self._quoted)
        token = UNREAD.set(self._out.unread)
        try:
            self._end()
        except (SchemaError, InvalidInputError) as error:
            raise ServerError(f"the stream does not match the schema: {error}") from None
        finally:
            UNREAD.reset(token)
        return self._out.take()

    def _is_begun(self) -> bool:
        """Whether any part of a reply was received."""
        return self._count > 0

    def _is_over(self) -> bool:
        """Whether the stream stated how the reply ends."""
        return self.complete

    @abstractmethod
    def _end(self) -> None:
        """Writes the end of the reply."""

    def _read_with_care(self, raw: bytes) -> Any:
        """Parses a frame that is not valid JSON because it contains a lone surrogate or NaN."""
        try:
            return read_answer(raw, keep_surrogates=True) if self._cut is None else read_event(raw, self._cut)
        except ValueError:
            hint = self._hint if self._count == 1 else None
            quoted = repr(raw[:60])
            raise quoting(ServerError(f"{self._this_frame()} is not JSON: {quoted}", hint=hint), quoted) from None

    def _ignore(self, event: Object) -> None:
        """Notes an event of no known form, which is shown if the stream then ends early."""
        self._quoted = shown(event)
        self._ignored = f"; {self._this_frame()} is of no known form: {self._quoted}"

    def _object(self, value: Any) -> Object:
        """Returns the object in a frame; an empty one, with a warning of the reply, for a frame of another type."""
        if isinstance(value, dict):
            return value  # pyright: ignore[reportUnknownVariableType]
        note_in(self._out.unread, self._frame, "an object", value)
        return {}

    def _deltas_of(self, read: Callable[..., None], *given: Any) -> list[Delta]:
        """Returns the deltas that `read` writes; raises `ServerError` for data that does not match the schema."""
        token = UNREAD.set(self._out.unread)
        try:
            read(*given)
        except (SchemaError, InvalidInputError) as error:
            raise ServerError(f"{self._this_frame()} does not match the schema: {error}") from None
        finally:
            UNREAD.reset(token)
        return self._out.take()

    def _this_frame(self) -> str:
        return f"{self._frame} {self._count} of the stream"


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
