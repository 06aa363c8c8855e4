"""The end of a call: its response is made, listeners are notified once, and streams are closed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ..ports import AnyInput, CallContext, CallEnd, DeltaStream, OperationResult, Pricing, current_interruption
from ..schema import GenerateResponse, ModelReply, ReasoningPart
from ..schema.costs import defer_cost
from ..telemetry.costs import Bill, saved_cost

if TYPE_CHECKING:
    from ..schema import Delta, Outcome

_log = logging.getLogger("abstractcore")


def end_call(
    context: CallContext,
    outcome: Outcome,
    *,
    answer: ModelReply | OperationResult[Any] | None = None,
    deltas: Sequence[Delta] = (),
    error: BaseException | None = None,
    seconds_to_first: float | None = None,
) -> None:
    """Calls the functions in `context.at_end` once, unless `context.hold_end` will."""
    if not context.at_end:
        return
    seconds = context.runtime.now() - context.monotonic_start
    reply = answer if isinstance(answer, ModelReply) else None
    result = answer if isinstance(answer, OperationResult) else None
    end = CallEnd(outcome, seconds, reply, deltas, error, seconds_to_first, result)
    if context.hold_end is None or not context.hold_end(context, end):
        notify_of(end, context)


def notify_of(end: CallEnd, context: CallContext) -> None:
    """Calls the functions in `context.at_end` once. Their exceptions are logged, since the call has ended."""
    for listener in _take_each(context.at_end):
        try:
            listener(end)
        except Exception:
            _log.exception("a listener of the end of a call failed")


def _take_each(listeners: list[Callable[[CallEnd], None]]) -> Iterator[Callable[[CallEnd], None]]:
    """Yields each listener once, also if two threads end a call at once."""
    with suppress(IndexError):
        while True:
            yield listeners.pop(0)


class Closable(Protocol):
    """An object with an async `close`: a stream, a body."""

    async def close(self) -> None:
        """Releases the connection."""
        ...


async def close_all(items: Iterable[Closable]) -> None:
    """Closes each of `items`. Errors are logged: raising them would hide how the call ended."""
    left = list(items)
    try:
        while left:
            try:
                await left.pop(0).close()
            except Exception:
                _log.exception("closing a stream failed")
    finally:
        if left:  # cancelled, or Ctrl-C
            await close_all(left)


async def close_streams(context: CallContext) -> None:
    """Closes the streams of a call, also those that a middleware did not return."""
    await close_all(streams_of(context))


def streams_of(context: CallContext) -> list[DeltaStream]:
    """Returns the distinct streams of a call, outermost first."""
    streams: list[DeltaStream] = []
    for stream in (*reversed(context.middleware_streams), *reversed(context.streams)):
        if not any(stream is each for each in streams):
            streams.append(stream)
    return streams


def abort_all(streams: Iterable[DeltaStream]) -> None:
    """Closes the connection of each of `streams`. Errors are logged."""
    for stream in streams:
        try:
            stream.abort()
        except Exception:
            _log.exception("closing a stream's connection failed")


def outcome_of(error: BaseException) -> Outcome:
    """Returns "cancelled" for cancellation, Ctrl-C and an interruption of the call, else "failed"."""
    interruption = current_interruption()
    is_interrupted = interruption is not None and interruption.is_set
    return "failed" if isinstance(error, Exception) and not is_interrupted else "cancelled"


def as_response(
    reply: ModelReply, context: CallContext, output: Any, pricing: Pricing, seconds: float
) -> GenerateResponse[Any]:
    """Returns the response for a finished call."""
    bill = Bill(context)
    response = GenerateResponse(
        reply=reply,
        output=output,
        steps=(reply,),
        attempts=tuple(context.attempts),
        usage=bill.usage,
        warnings=context.secrets.value((*context.warnings, *reply.warnings)),
        media=context.decisions,
        provider=context.input.provider,
        model=reply.model or context.input.model,
        cost=None,
        trace_id=context.trace_id,
        seconds=seconds,
        cached_at=None if context.cache_hit is None else context.cache_hit.stored_at,
        saved_cost=saved_cost(context.cache_hit, pricing),
    )
    defer_cost(response, partial(bill.cost, pricing))
    return response


def with_origin(reply: ModelReply, given: AnyInput) -> ModelReply:
    """Returns `reply` with the model of `given` as the origin of its reasoning."""
    if not any(isinstance(part, ReasoningPart) for part in reply.parts):
        return reply
    parts = (with_owner(part, given) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(parts))


def with_owner(part: ReasoningPart, given: AnyInput) -> ReasoningPart:
    """Returns `part` with the model of `given` as its origin."""
    return replace(part, origin=origin_of(part.origin, given))


def origin_of(named: str | None, given: AnyInput) -> str | None:
    """Returns the model of a request, unless the origin is another provider's."""
    if named is not None and not named.startswith(f"{given.provider}/"):
        return named
    return f"{given.provider}/{given.model}" if given.provider and given.model else named
