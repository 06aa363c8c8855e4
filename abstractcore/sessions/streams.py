"""`SessionStream`: a streamed call of a session."""

from __future__ import annotations

from typing import Any

from ..engine import Pipeline
from ..engine.interruptions import WrappedStream
from ..errors import ContextOverflowError
from ..schema import GenerateResponse, StreamEvent
from .turns import SessionTurn


class SessionStream(WrappedStream):
    """The stream of a call of a session: at its end the exchange is added; left before, it is as if never made."""

    def __init__(self, turn: SessionTurn, pipeline: Pipeline) -> None:
        self._turn = turn
        self._pipeline = pipeline
        super().__init__(turn.prepared().open_stream(pipeline))
        self._has_begun = False
        self._may_end = [True]
        """Empty once the call has ended: whoever takes the item out ends it, of several threads at once."""
        self._is_reading = False
        self._response: GenerateResponse[Any] | None = None

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response; raises `StreamInterruptedError` while the stream has not been read to its end."""
        return self._stream.response if self._response is None else self._response

    async def read(self) -> list[StreamEvent]:
        """Returns the next deltas and events; an empty list at the end. Raises `SessionBusyError` at the first read."""
        if not self._may_end:
            return [*await self._stream.read()]
        self._is_reading = True
        try:
            if not self._has_begun:
                self._begin()
            events = await self._read()
        except BaseException as error:
            self._end(error)
            raise
        finally:
            self._is_reading = False
        if not events and self._takes_end():
            self._response = await self._turn.finish(self._stream.response)
        return events

    def _begin(self) -> None:
        """Begins the call; prepares it again if the history is another one than when the stream was made."""
        self._turn.begin(self._pipeline)
        self._has_begun = True
        if self._turn.is_stale:
            self._stream = self._turn.prepared().open_stream(self._pipeline)

    def _takes_end(self) -> bool:
        try:
            return self._may_end.pop()
        except IndexError:
            return False

    async def _read(self) -> list[StreamEvent]:
        try:
            return [*await self._stream.read()]
        except ContextOverflowError as error:
            if self.partial().parts or not self._turn.may_try_again(error):
                raise
            self._stream = self._turn.prepared().open_stream(self._pipeline)
            return [*await self._stream.read()]

    async def close(self) -> None:
        """As `RoundStream.close`."""
        try:
            await self._stream.close()
        finally:
            self._end_unless_read()

    def drop(self) -> None:
        """As `RoundStream.drop`."""
        self._stream.drop()
        self._end_unless_read()

    def _end_unless_read(self) -> None:
        """Ends the call, unless a read runs in another thread or task, which ends it."""
        if self._has_begun and not self._is_reading:
            self._end(None)

    def _end(self, error: BaseException | None) -> None:
        if self._has_begun and self._takes_end():
            self._turn.fail(error, self._stream.partial(), self._stream.loop)
