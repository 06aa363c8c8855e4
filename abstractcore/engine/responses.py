"""The response that the user gets."""

from __future__ import annotations

from typing import Any

from ..ports import CallContext, Price
from ..schema import GenerateResponse, ModelReply
from ..telemetry.costs import usage_and_cost


def as_response(
    reply: ModelReply, context: CallContext, output: Any, price: Price | None, seconds: float
) -> GenerateResponse[Any]:
    """Returns the response for a finished call."""
    usage, cost = usage_and_cost(context, price)
    return GenerateResponse(
        reply=reply,
        output=output,
        steps=(reply,),
        attempts=tuple(context.attempts),
        usage=usage,
        warnings=context.secrets.value((*context.warnings, *reply.warnings)),
        media=context.decisions,
        provider=context.call.provider,
        model=reply.model or context.call.model,
        cost=cost,
        trace_id=context.trace_id,
        seconds=seconds,
    )
