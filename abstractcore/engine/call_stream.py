"""A streamed call from the user's side: opened at the first read, then done, or broken."""

from __future__ import annotations

from typing import Any, Literal

from ..errors import InvalidInputError, StreamInterruptedError
from ..ports import CallContext, DeltaStream, Interruption
from ..schema import Delta, GenerateResponse, ModelReply, partial_reply
from .endings import abort_all, close_all, end_call, let_go, streams_of
from .pipeline import OutputReader, Pipeline, Prepare, as_batch, complete, fail


class CallStream:
    """One reader at a time. Reading on after a failure raises `StreamInterruptedError`, so that a broken answer is
    never taken for a whole one. `response` is there once `read` has given its empty list. Time counts from the
    first read.
    """

    def __init__(self, pipeline: Pipeline, prepare: Prepare, timeout: float | None, read_output: OutputReader) -> None:
        self._pipeline = pipeline
        self._prepare = prepare
        self._timeout = timeout
        self._read_output = read_output
        self._seconds_to_first: float | None = None
        self._context: CallContext | None = None
        self._source: DeltaStream | None = None
        self._deltas: list[Delta] = []
        self._reading = False
        self._interruption = Interruption()
        self.state: Literal["new", "open", "done", "broken", "closed"] = "new"
        self._response: GenerateResponse[Any] | None = None

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response; raises `StreamInterruptedError` while the stream has not been read to its end."""
        if self._response is None:
            hint = "Read it to its end first; `partial` has what arrived so far."
            raise self._interrupted(f"there is no response yet: the stream is {self.state}", hint)
        return self._response

    async def read(self) -> list[Delta]:
        """The next deltas; empty at the end."""
        if self.state == "done":
            return []
        if self._reading:
            raise InvalidInputError("this stream is being read already", hint="Give each reader a stream of its own.")
        if self.state in ("broken", "closed"):
            raise self._interrupted(f"this stream is {self.state}")
        self._reading = True
        try:
            return await self._read()
        except Exception as error:
            if not self._interruption.is_set:
                await self._break(error)
                raise
        except BaseException as error:
            await self._break(error)
            raise
        finally:
            self._reading = False
        closed = self._interrupted("this stream was closed while it was read")
        await self._break(closed)
        raise closed

    async def _read(self) -> list[Delta]:
        if self._source is None:
            self.state = "open"
            self._source = await self._pipeline.runtime.interruptible(self._interruption, self._open)
        batch = as_batch(await self._source.read())
        self._deltas += batch
        self._interruption.check()
        if not batch and self._context is not None:
            reply = complete(self._deltas)
            self._response = self._pipeline.respond(reply, self._context, self._read_output)
            self.state = "done"
            end_call(self._context, "done", answer=reply, seconds_to_first=self._seconds_to_first)
            await let_go(self._context)
        return batch

    async def _open(self) -> DeltaStream:
        self._context = await self._pipeline.begin(self._pipeline.chat, self._prepare, self._timeout)
        source = await self._pipeline.open(self._context)
        self._seconds_to_first = self._pipeline.runtime.now() - self._context.began
        return source

    async def _break(self, error: BaseException) -> None:
        self.state = "broken"
        if self._context is not None:
            fail(self._context, error, self._deltas, self._seconds_to_first)
        await close_all(self._streams())

    async def close(self) -> None:
        """Let go of the connection; from another thread or task than the reader's, cut it.

        The reader gets `StreamInterruptedError`, also while it connects, waits for the answer to begin, or pauses
        before it tries again.
        """
        self._interruption.set()
        if self._reading:
            self.abort()
            return
        self._leave()
        await close_all(self._streams())

    def drop(self) -> None:
        """As `close`, for a stream that nobody has any more: the connection is cut, and nothing waited for."""
        self._leave()
        self.abort()

    def abort(self) -> None:
        """Cut the connection without waiting for anything; the next read raises."""
        self._interruption.set()
        abort_all(self._streams())

    def _streams(self) -> list[DeltaStream]:
        """Those to be closed: what is read, and what attempts and middleware gave."""
        streams = [] if self._context is None else streams_of(self._context)
        source = self._source
        return streams if source is None or any(each is source for each in streams) else [source, *streams]

    def _leave(self) -> None:
        if self.state == "open" and self._context is not None:
            seconds = self._seconds_to_first
            end_call(self._context, "abandoned", deltas=self._deltas, seconds_to_first=seconds)
        if self.state != "done":
            self.state = "closed"

    def _interrupted(self, message: str, hint: str | None = None) -> StreamInterruptedError:
        error = StreamInterruptedError(message, hint=hint, partial=self.partial())
        if self._context is not None:
            self._context.secrets.error(error)
        return error

    def partial(self) -> ModelReply:
        """What has arrived so far."""
        return partial_reply(self._deltas)
