"""`AnswerCheck`: what checks the complete answer of a call, and the calls and streams whose answer is checked."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Protocol

from ..errors import StreamInterruptedError
from ..files.call_files import CallFiles
from ..ports import Runtime
from ..schema import GenerateResponse, StreamEvent
from .call_stream import CallStream
from .interruptions import WrappedStream
from .pipeline import Pipeline
from .round_stream import RoundStream


class AnswerCheck(Protocol):
    """Checks the answer of one call after its last round. It never raises for what it finds in an answer."""

    async def check(self, response: GenerateResponse[Any], files: CallFiles, runtime: Runtime) -> GenerateResponse[Any]:
        """Returns the response with the result of the check, for which `files` reads the files of the call."""
        ...

    def end(self) -> None:
        """Ends a check, also one that was not made. May be called again."""
        ...


async def check_response(
    response: Coroutine[Any, Any, GenerateResponse[Any]], check: AnswerCheck, pipeline: Pipeline
) -> GenerateResponse[Any]:
    """Returns the awaited response, checked."""
    try:
        return await check.check(await response, pipeline.files, pipeline.runtime)
    finally:
        check.end()


class CheckedStream(WrappedStream):
    """As `RoundStream` or `CallStream`: the last read, which returns an empty list, checks the answer."""

    def __init__(self, stream: CallStream | RoundStream, check: AnswerCheck, pipeline: Pipeline) -> None:
        super().__init__(stream)
        self._check = check
        self._pipeline = pipeline
        self._is_closed = False
        self._response: GenerateResponse[Any] | None = None

    @property
    def state(self) -> str:
        """As that of `RoundStream`: "done" when the answer is checked, "closed" if that failed."""
        if self._response is not None or self._stream.state != "done":
            return self._stream.state
        return "closed" if self._is_closed else "open"

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response; raises `StreamInterruptedError` while the stream has not been read to its end."""
        if self._response is not None:
            return self._response
        if self._stream.state != "done":
            return self._stream.response
        hint = "Read it to its end first."
        raise StreamInterruptedError("the answer has not been checked", hint=hint, partial=self.partial())

    async def read(self) -> list[StreamEvent]:
        """Returns the next deltas and events; an empty list at the end."""
        try:
            events = await super().read()
            if not events and self._response is None:
                self._response = await self._check.check(
                    self._stream.response, self._pipeline.files, self._pipeline.runtime
                )
        except BaseException:
            self._is_closed = True
            self._check.end()
            raise
        if not events:
            self._check.end()
        return events

    async def close(self) -> None:
        """As `RoundStream.close`."""
        self._is_closed = True
        self._check.end()
        await super().close()

    def drop(self) -> None:
        """As `RoundStream.drop`."""
        self._is_closed = True
        self._check.end()
        super().drop()
