"""`CallStream`: a streamed call, which is sent at the first read."""

from __future__ import annotations

from typing import Any, Literal

from ..errors import InvalidInputError, StreamInterruptedError
from ..ports import CallContext, DeltaStream, Interruption
from ..schema import Delta, GenerateResponse, ModelReply, partial_reply
from .delta_reading import as_batch, complete
from .endings import abort_all, close_all, close_streams, end_call, streams_of
from .pipeline import Pipeline, fail
from .prepared import OutputReader, Prepare


class CallStream:
    """A streamed call, for one reader at a time. Reading after a failure raises `StreamInterruptedError`, so that an
    incomplete answer is never mistaken for a complete one. `response` is set when `read` has returned an empty list.
    The timeout begins with the first read.
    """

    def __init__(
        self, pipeline: Pipeline, prepare: Prepare, timeout: float | None, read_output: OutputReader | None = None
    ) -> None:
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
            raise self._interruption_error(f"there is no response yet: the stream is {self.state}", hint)
        return self._response

    @property
    def trace_id(self) -> str | None:
        """The id of the call in records, once it has begun."""
        return None if self._context is None else self._context.trace_id

    @property
    def output_type(self) -> None:
        """A call of one round has no typed output."""
        return

    @property
    def loop(self) -> None:
        """A call of one round has no loop."""
        return

    async def read(self) -> list[Delta]:
        """Returns the next deltas; an empty list at the end."""
        if self.state == "done":
            return []
        if self._reading:
            raise InvalidInputError("this stream is being read already", hint="Give each reader a stream of its own.")
        if self.state in ("broken", "closed"):
            raise self._interruption_error(f"this stream is {self.state}")
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
        closed = self._interruption_error("this stream was closed while it was read")
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
            await close_streams(self._context)
        return batch

    async def _open(self) -> DeltaStream:
        self._context = await self._pipeline.begin(self._pipeline.operation, self._prepare, self._timeout)
        source = await self._pipeline.open(self._context)
        self._seconds_to_first = self._pipeline.runtime.now() - self._context.monotonic_start
        return source

    async def _break(self, error: BaseException) -> None:
        self.state = "broken"
        if self._context is not None:
            fail(self._context, error, self._deltas, self._seconds_to_first)
        await close_all(self._streams())

    async def close(self) -> None:
        """Releases the connection; closes it if called from another thread or task than the reader's.

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
        """Closes a stream without references: closes the connection without waiting."""
        self._leave()
        self.abort()

    def abort(self) -> None:
        """Closes the connection without waiting; the next read raises."""
        self._interruption.set()
        abort_all(self._streams())

    def _streams(self) -> list[DeltaStream]:
        """Returns the streams to close: the one that is read, and those of attempts and middleware."""
        streams = [] if self._context is None else streams_of(self._context)
        source = self._source
        return streams if source is None or any(each is source for each in streams) else [source, *streams]

    def _leave(self) -> None:
        if self.state == "open" and self._context is not None:
            seconds = self._seconds_to_first
            end_call(self._context, "abandoned", deltas=self._deltas, seconds_to_first=seconds)
        if self.state != "done":
            self.state = "closed"

    def _interruption_error(self, message: str, hint: str | None = None) -> StreamInterruptedError:
        error = StreamInterruptedError(message, hint=hint, partial=self.partial())
        if self._context is not None:
            self._context.secrets.error(error)
        return error

    def partial(self) -> ModelReply:
        """Returns the reply so far."""
        return partial_reply(self._deltas)
