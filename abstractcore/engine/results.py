"""The response the user gets, and what a call took: tokens over all attempts, and what they cost."""

from __future__ import annotations

from typing import Any

from ..ports import CallContext, MeteredStream, Price
from ..schema import GenerateResponse, ModelReply, Usage

_MILLION = 1_000_000


def as_response(
    reply: ModelReply, context: CallContext, output: Any, price: Price | None, seconds: float
) -> GenerateResponse[Any]:
    """The response for a finished call."""
    taken = _taken(context)
    return GenerateResponse(
        reply=reply,
        output=output,
        steps=(reply,),
        attempts=tuple(context.attempts),
        usage=_with_media(taken, context),
        warnings=context.secrets.value((*context.warnings, *reply.warnings)),
        media=context.decisions,
        provider=context.call.provider,
        model=reply.model or context.call.model,
        cost=_cost_of(taken, context, price),
        trace_id=context.trace_id,
        seconds=seconds,
    )


def usage_of(context: CallContext) -> Usage:
    """What the model and the conversion of files took."""
    return _with_media(_taken(context), context)


def cost_of(context: CallContext, price: Price | None) -> float | None:
    """US dollars for what the model took; nothing where a middleware answered and no request was made."""
    return _cost_of(_taken(context), context, price)


def _taken(context: CallContext) -> Usage:
    """What all answers took that requests got, as far as they came. A reply that a middleware made took nothing,
    whatever its `usage` says."""
    counts = [*context.spent, *(stream.taken for stream in context.streams if isinstance(stream, MeteredStream))]
    return sum(counts[1:], counts[0]) if counts else Usage()


def _with_media(taken: Usage, context: CallContext) -> Usage:
    return sum((each.usage for each in context.decisions if each.usage is not None), taken)


def _cost_of(taken: Usage, context: CallContext, price: Price | None) -> float | None:
    return cost(taken, price) if context.attempts else 0.0


def cost(usage: Usage, price: Price | None) -> float | None:
    """US dollars for `usage`; None where the price or the counts are not known. Cached tokens have their own price."""
    if price is None:
        return None
    if price.input == price.output == 0.0:
        return 0.0
    if usage.input is None or usage.output is None:
        return None
    cached, written = usage.cached or 0, usage.cache_written or 0
    dollars = (usage.input - cached - written) * price.input + usage.output * price.output
    dollars += cached * (price.input if price.cached is None else price.cached)
    dollars += written * (price.input if price.cache_written is None else price.cache_written)
    return dollars / _MILLION
