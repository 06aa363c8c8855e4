"""Calls that an `Interruption` of the user ends from another thread or task, whole and streamed.

`WrappedStream`: what a stream around another one passes on.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

from ..errors import CallInterruptedError
from ..outputs import OutputType
from ..ports import Interruption, Runtime
from ..schema import GenerateResponse, ModelReply, StreamEvent, ToolLoop
from .call_stream import CallStream
from .round_stream import RoundStream

T = TypeVar("T")


async def end_on(
    interruption: Interruption, call: Coroutine[Any, Any, T], runtime: Runtime, loop: ToolLoop | None
) -> T:
    """Returns the result of `call`, which continues `loop`; raises `CallInterruptedError` once `interruption` is set.

    The error that the interruption caused in the call is its cause, and gives it its attempts and the state of its
    loop. A call that ends in spite of it returns its result.
    """
    if interruption.is_set:
        call.close()
        raise _interrupted(loop=loop)
    try:
        return await runtime.interruptible(interruption, lambda: call)
    except Exception as error:
        if not interruption.is_set:
            raise
        raise _interrupted(error, loop=loop) from error


def _interrupted(
    cause: Exception | None = None, partial: ModelReply | None = None, loop: ToolLoop | None = None
) -> CallInterruptedError:
    error = CallInterruptedError("the call was interrupted", partial=partial)
    error.loop = loop
    known = [*_with_causes(cause)]
    for name in ("attempts", "loop", "provider", "model", "output_attempts"):
        values = (getattr(each, name, None) for each in known)
        setattr(error, name, next((value for value in values if value), getattr(error, name, None)))
    return error


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an error and what it was raised for: a cancelled task has the state of the loop in its own error."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


class WrappedStream:
    """As the stream that it is around: `RoundStream`, `CallStream` or another of these. Subclasses change `read`."""

    def __init__(self, stream: CallStream | RoundStream | WrappedStream) -> None:
        self._stream = stream

    @property
    def state(self) -> str:
        """As that of `RoundStream`."""
        return self._stream.state

    @property
    def output_type(self) -> OutputType | None:
        """The type of the answer, with its quotes if it has some; None for a text."""
        return self._stream.output_type

    def accept_answer(self) -> None:
        """As `RoundStream.accept_answer`."""
        if not isinstance(self._stream, CallStream):
            self._stream.accept_answer()

    @property
    def loop(self) -> ToolLoop | None:
        """The state of the tool loop so far."""
        return self._stream.loop

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response; raises `StreamInterruptedError` while the stream has not been read to its end."""
        return self._stream.response

    async def read(self) -> list[StreamEvent]:
        """Returns the next deltas and events; an empty list at the end."""
        return [*await self._stream.read()]

    async def close(self) -> None:
        """As `RoundStream.close`."""
        await self._stream.close()

    def drop(self) -> None:
        """As `RoundStream.drop`."""
        self._stream.drop()

    def abort(self) -> None:
        """As `RoundStream.abort`."""
        self._stream.abort()

    def partial(self) -> ModelReply:
        """Returns the reply so far."""
        return self._stream.partial()


class InterruptibleStream(WrappedStream):
    """A stream that `interruption` ends: the read that waits, or the next one, raises `CallInterruptedError`."""

    def __init__(
        self, stream: CallStream | RoundStream | WrappedStream, interruption: Interruption, runtime: Runtime
    ) -> None:
        super().__init__(stream)
        self._interruption = interruption
        self._runtime = runtime

    async def read(self) -> list[StreamEvent]:
        """Returns the next deltas and events; an empty list at the end. Raises `CallInterruptedError`."""
        if self._interruption.is_set and self.state != "done":
            await self.close()
            raise self._error()
        try:
            with self._interruption.ending(self.abort):
                return await self._runtime.interruptible(self._interruption, super().read)
        except Exception as error:
            if not self._interruption.is_set:
                raise
            raise self._error(error) from error

    def _error(self, cause: Exception | None = None) -> CallInterruptedError:
        return _interrupted(cause, self.partial(), self.loop)
