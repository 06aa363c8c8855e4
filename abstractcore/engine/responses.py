"""The response that the user gets."""

from __future__ import annotations

from typing import Any

from ..ports import CallContext, Pricing
from ..schema import GenerateResponse, ModelReply
from ..telemetry.costs import cost_of


def as_response(
    reply: ModelReply, context: CallContext, output: Any, pricing: Pricing, seconds: float
) -> GenerateResponse[Any]:
    """Returns the response for a finished call."""
    cost = cost_of(context, pricing)
    return GenerateResponse(
        reply=reply,
        output=output,
        steps=(reply,),
        attempts=tuple(context.attempts),
        usage=cost.usage,
        warnings=context.secrets.value((*context.warnings, *reply.warnings)),
        media=context.decisions,
        provider=context.call.provider,
        model=reply.model or context.call.model,
        cost=cost.dollars,
        trace_id=context.trace_id,
        seconds=seconds,
        cost_source=cost.source,
        cost_reason=cost.reason,
        price_rows=cost.price_rows,
    )
