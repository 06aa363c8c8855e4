"""What the decoders of all streams share: frames counted and read with care, and errors that say which frame it was."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from abstractcore.errors import InvalidInputError, ServerError, StreamInterruptedError
from abstractcore.schema import Delta, SchemaError

from .delta_writer import DeltaWriter
from .json_reading import Cut, read_answer, read_event


class FrameDecoder(ABC):
    """The base of a decoder of one stream, whose deltas go through `_out`.

    A subclass has `feed`, which counts and reads a frame. `frame` is
    what its frames are called, `hint` what a right address looks like, `unfinished` and `nothing` what is wrong with a
    stream that stops before its end or its beginning. `cut` names the texts in which a character may come in halves,
    all if it is None.
    """

    def __init__(
        self,
        hint: str,
        unfinished: str,
        *,
        nothing: str = "the answer is no stream of events",
        frame: str = "event",
        cut: Cut | None = None,
    ) -> None:
        self.complete = False
        self._out = DeltaWriter()
        self._count = 0
        """How many frames came."""
        self._hint = hint
        self._unfinished = unfinished
        self._nothing = nothing
        self._frame = frame
        self._cut = cut

    def finish(self) -> list[Delta]:
        """The end of the reply; raises `StreamInterruptedError` if the stream did not say that it is over."""
        if not self._is_begun():
            raise ServerError(self._nothing, hint=self._hint)
        if not self._is_over():
            raise StreamInterruptedError(self._unfinished)
        try:
            self._end()
        except (SchemaError, InvalidInputError) as error:
            raise ServerError(f"the stream does not fit the schema: {error}") from None
        return self._out.take()

    def _is_begun(self) -> bool:
        """Whether anything of a reply came."""
        return self._count > 0

    def _is_over(self) -> bool:
        """Whether the stream said how the reply ends."""
        return self.complete

    @abstractmethod
    def _end(self) -> None:
        """Writes the end of the reply."""

    def _read_with_care(self, raw: bytes) -> Any:
        """The JSON of a frame that is not plain JSON, since it holds half a character or NaN."""
        try:
            return read_answer(raw, halves=True) if self._cut is None else read_event(raw, self._cut)
        except ValueError:
            hint = self._hint if self._count == 1 else None
            raise ServerError(f"{self._this_frame()} is not JSON: {raw[:60]!r}", hint=hint) from None

    def _written(self, read: Callable[..., None], *given: Any) -> list[Delta]:
        """The deltas that `read` writes; raises `ServerError` for what does not fit the schema."""
        try:
            read(*given)
        except (SchemaError, InvalidInputError) as error:
            raise ServerError(f"{self._this_frame()} does not fit the schema: {error}") from None
        return self._out.take()

    def _this_frame(self) -> str:
        return f"{self._frame} {self._count} of the stream"
