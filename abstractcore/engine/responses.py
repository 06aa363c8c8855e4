"""The response that the user gets."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..ports import CallContext, Pricing
from ..schema import GenerateResponse, ModelReply
from ..schema.deferred_costs import defer_cost
from ..telemetry.costs import Bill


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
        provider=context.call.provider,
        model=reply.model or context.call.model,
        cost=None,
        trace_id=context.trace_id,
        seconds=seconds,
    )
    defer_cost(response, partial(bill.cost, pricing))
    return response
