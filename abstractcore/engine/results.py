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
    return GenerateResponse(
        reply=reply,
        output=output,
        steps=(reply,),
        attempts=tuple(context.attempts),
        usage=usage_of(context),
        warnings=context.secrets.value((*context.warnings, *reply.warnings)),
        media=context.decisions,
        provider=context.call.provider,
        model=reply.model or context.call.model,
        cost=cost_of(context, price),
        trace_id=context.trace_id,
        seconds=seconds,
    )


def usage_of(context: CallContext) -> Usage:
    """What the model and the conversion of files took."""
    media = [decision.usage for decision in context.decisions if decision.usage is not None]
    return sum(media, _taken(context))


def cost_of(context: CallContext, price: Price | None) -> float | None:
    """US dollars for what the model took; nothing where a middleware answered and no request was made."""
    return cost(_taken(context), price) if context.attempts else 0.0


def _taken(context: CallContext) -> Usage:
    """What all answers took that requests got, as far as they came. A reply that a middleware made took nothing, what
    ever its `usage` says."""
    streamed = (stream.taken for stream in context.streams if isinstance(stream, MeteredStream))
    return sum(streamed, sum(context.spent, Usage()))


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
