"""`DecodedStream`: decodes a streamed reply, one network chunk at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..concurrency.time_limits import out_of_time, time_given
from ..errors import (
    AbstractCoreError,
    ConnectionFailedError,
    ProviderError,
    RequestTimeoutError,
    ServerError,
    StreamInterruptedError,
)
from ..ports import Attempt, BilledResponse, Body, Framer, Pricing, ProviderSession
from ..schema import (
    Delta,
    ModelCall,
    PartDelta,
    ReasoningPart,
    ReasoningStart,
    ReplyStart,
    ToolCallStart,
    Usage,
    UsageDelta,
    partial_reply,
)
from ..schema.replies import CallIds
from .endings import close_all, origin_of, with_owner
from .response_reading import MAX_BODY_BYTES

AnyError = TypeVar("AnyError", bound=BaseException)
_LAST_BYTES_SECONDS = 0.25
"""How long to wait for the end of the body of a complete reply, so that the connection can be reused."""
_HOLDERS = frozenset({ReasoningStart, PartDelta})


class DecodedStream:
    """A `DeltaStream` over a response body. `deltas` holds all that arrived so far, `number` that of its attempt.

    `start` is the part of the body that has been read to detect a stream; `started_at` the time at which the attempt
    began, in seconds since the epoch.
    """

    def __init__(
        self,
        body: Body,
        session: ProviderSession,
        attempt: Attempt,
        framer: Framer,
        start: bytes,
        started_at: float,
        pricing: Pricing,
    ) -> None:
        self.deltas: list[Delta] = []
        self._body = body
        self._endpoint = session.endpoint
        self._framer = framer
        self._start = start
        self._started_at = started_at
        self._decoder = session.transpiler.decoder()
        self._attempt = attempt
        self._profile = session.profile
        self._context = context = attempt.context
        self.number = len(context.attempts) + 1
        self._pricing = context.pricing or pricing
        self._call = context.call
        self._ids = StreamedIds(self._call)
        self._first: list[Delta] = []
        self._failure: AbstractCoreError | None = None
        self._ended = False
        self._held = False
        self._size = 0
        self._alarm_off: Callable[[], object] | None = None

    @property
    def billed(self) -> BilledResponse:
        """The response so far, with the usage that the provider has reported."""
        billed = BilledResponse.of_stream(self.deltas, self._started_at, self._context.terms)
        if billed.complete and billed.usage.input is not None:
            return billed._replace(attempt=self.number, pricing=self._pricing)
        return billed._replace(attempt=self.number, pricing=self._pricing, estimate=self._estimate)

    def _estimate(self) -> Usage:
        from .estimated_usage import usage_of_deltas

        return usage_of_deltas(self._attempt, self._profile, self.deltas)

    async def begin(self) -> None:
        """Reads up to the first deltas, so that a failure before them can be retried.

        From then on one alarm closes the connection at the deadline: a timeout around every read would cost more
        than decoding.
        """
        self._first = await self._decode()
        left = self._remaining()
        if left is not None and not self._ended:
            self._alarm_off = self._context.runtime.alarm(left, self.abort)

    async def read(self) -> list[Delta]:
        """Returns the next deltas; empty at the end. Raises `StreamInterruptedError` if the reply is incomplete."""
        if self._first:
            first, self._first = self._first, []
            return first
        if self._ended:
            if self._held:
                await self._read_last_bytes()
            return []
        try:
            self._remaining()
            return await self._decode()
        except TimeoutError:
            await self.close()
            late = out_of_time(time_given(self._context))
            raise self._scrub(self._interruption_error(late.message)) from late
        except RequestTimeoutError as error:
            await self.close()
            raise self._scrub(self._explain(error)) from error
        except ConnectionFailedError as error:
            await self.close()
            raise self._scrub(self._explain(error)) from None
        except AbstractCoreError as error:
            await self.close()
            error.partial = partial_reply(self.deltas)
            self._scrub(error)
            raise
        except BaseException as error:
            await self.close()
            self._scrub(error)
            raise

    async def close(self) -> None:
        """Releases the connection."""
        self._ended, self._held = True, False
        if self._alarm_off is not None:
            self._alarm_off()
        await close_all([self._body])

    def abort(self) -> None:
        """Closes the connection, from any thread. One that was released may be in use by another call."""
        if not self._ended or self._held:
            self._body.abort()

    async def _decode(self) -> list[Delta]:
        if self._failure is not None:
            raise self._failure
        new: list[Delta] = []
        while not new and self._failure is None:
            try:
                data, self._start = self._start or await self._body.read(), b""
            except ConnectionFailedError:
                self._remaining()
                raise
            self._remaining()
            self._size += len(data)
            if self._size > MAX_BODY_BYTES:
                raise ServerError(f"the reply is longer than {MAX_BODY_BYTES:,} bytes")
            try:
                self._feed(data, new)
            except AbstractCoreError as error:
                # Deltas before the error are returned first, however the network has split the stream.
                self._failure = error
            else:
                if not data:
                    await self.close()
                    break
        set_origin(new, self._call)
        self._ids.set_in(new)
        self.deltas += new
        if self._failure is not None and all(isinstance(delta, ReplyStart | UsageDelta) for delta in new):
            raise self._failure
        return new

    def _feed(self, data: bytes, new: list[Delta]) -> None:
        """Puts the deltas of `data` into `new`, of the stream's end if there is no data."""
        decoder = self._decoder
        for frame in self._framer.feed(data) if data else self._framer.finish():
            new += decoder.feed(frame)
            if decoder.complete and data:
                new += decoder.finish()
                self._ended = self._held = True
                return
        if not data:
            new += decoder.finish()

    async def _read_last_bytes(self) -> None:
        """Releases the connection of a complete reply, ignoring further data."""
        alarm_off = self._context.runtime.alarm(_LAST_BYTES_SECONDS, self._body.abort)
        try:
            while await self._body.read():
                pass
        except AbstractCoreError:
            return
        finally:
            alarm_off()
            await self.close()

    def _remaining(self) -> float | None:
        """Returns the seconds to the deadline; raises `TimeoutError` if none are left. Sync calls rely on it."""
        if self._context.deadline is None:
            return None
        left = self._context.deadline - self._context.runtime.now()
        if left <= 0:
            raise TimeoutError
        return left

    def _explain(self, error: ProviderError) -> AbstractCoreError:
        """Returns the endpoint's explanation of a broken connection, else that the stream was interrupted."""
        better = self._endpoint.diagnose(error)
        if better is not error:
            better.partial = partial_reply(self.deltas)
            return better
        return self._interruption_error(error.message)

    def _scrub(self, error: AnyError) -> AnyError:
        """Removes credentials from `error`, since its stream passes through middleware."""
        self._context.secrets.error(error)
        return error

    def _interruption_error(self, why: str) -> StreamInterruptedError:
        return StreamInterruptedError(
            f"the stream was interrupted: {why}",
            partial=partial_reply(self.deltas),
            hint="The error's `partial` holds what arrived.",
        )


def set_origin(deltas: Iterable[Delta], call: ModelCall) -> None:
    """Sets the origin in deltas of a stream, in place."""
    for delta in deltas:
        if type(delta) not in _HOLDERS:  # the most frequent case: this runs for every delta
            continue
        if isinstance(delta, ReasoningStart):
            delta.origin = origin_of(delta.origin, call)
        elif isinstance(delta, PartDelta) and isinstance(delta.part, ReasoningPart):
            delta.part = with_owner(delta.part, call)


class StreamedIds:
    """Sets the ids of one stream's tool calls, in place. The conversation is read when the first call starts."""

    def __init__(self, call: ModelCall) -> None:
        self._call = call
        self._ids: CallIds | None = None

    def set_in(self, deltas: Iterable[Delta]) -> None:
        """Sets the ids in the next deltas of the stream."""
        for delta in deltas:
            if type(delta) is ToolCallStart:
                if self._ids is None:
                    self._ids = CallIds(self._call.messages)
                delta.id = self._ids.unique(delta.id)
