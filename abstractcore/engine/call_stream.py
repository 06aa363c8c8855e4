"""A streamed call from the user's side: opened at the first read, then done, or broken."""

from __future__ import annotations

from typing import Any, Literal

from ..errors import AbstractCoreError, InvalidInputError, StreamInterruptedError
from ..ports import CallContext, DeltaStream
from ..schema import Delta, GenerateResponse, ModelReply
from .decoding import reply_so_far
from .exchange import located
from .pipeline import OutputReader, Pipeline, Prepare, complete


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
        self._started = 0.0
        self._context: CallContext | None = None
        self._source: DeltaStream | None = None
        self._deltas: list[Delta] = []
        self._reading = False
        self._closing = False
        self.state: Literal["new", "open", "done", "broken", "closed"] = "new"
        self._response: GenerateResponse[Any] | None = None

    @property
    def response(self) -> GenerateResponse[Any]:
        """The response; raises `StreamInterruptedError` while the stream has not been read to its end."""
        if self._response is None:
            raise StreamInterruptedError(
                f"there is no response yet: the stream is {self.state}",
                hint="Read it to its end first; `partial` has what arrived so far.",
                partial=self.partial(),
            )
        return self._response

    async def read(self) -> list[Delta]:
        """The next deltas; empty at the end."""
        if self.state == "done":
            return []
        if self._reading:
            raise InvalidInputError("this stream is being read already", hint="Give each reader a stream of its own.")
        if self.state in ("broken", "closed"):
            raise StreamInterruptedError(f"this stream is {self.state}", partial=self.partial())
        self._reading = True
        try:
            return await self._read()
        except BaseException as error:
            self.state = "broken"
            if self._source is not None:
                await self._source.close()
            if isinstance(error, AbstractCoreError) and self._context is not None:
                located(error, self._context)
            raise
        finally:
            self._reading = False

    async def _read(self) -> list[Delta]:
        if self._source is None:
            self.state = "open"
            self._started = self._pipeline.runtime.now()
            self._context, self._source = await self._pipeline.open(self._prepare, self._started, self._timeout)
        batch = await self._source.read()
        self._deltas += batch
        if self._closing:
            raise StreamInterruptedError("this stream was closed while it was read", partial=self.partial())
        if not batch and self._context is not None:
            reply = complete(self._deltas)
            self._response = self._pipeline.respond(reply, self._context, self._read_output, self._started)
            self.state = "done"
        return batch

    async def close(self) -> None:
        """Let go of the connection; from another thread than the reader's, cut it.

        A reader that waits for the answer to begin cannot be cut short: it ends as soon as something arrives.
        """
        if self._reading:
            self._closing = True
            self.abort()
            return
        if self.state != "done":
            self.state = "closed"
        if self._source is not None:
            await self._source.close()

    def abort(self) -> None:
        """Cut the connection without waiting for anything; the next read raises."""
        if self._source is not None:
            self._source.abort()

    def partial(self) -> ModelReply:
        """What has arrived so far."""
        return reply_so_far(self._deltas)
