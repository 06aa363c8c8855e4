"""What a call used in the end, for its key's account; an estimate where it was cut off, or its provider counts none."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import abstractcore

from ..errors import AbstractCoreError
from ..schema import (
    GenerateResponse,
    ModelCall,
    ModelReply,
    Outcome,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolLoop,
    Usage,
)
from ..schema.token_counts import text_tokens
from .access import Settlement

if TYPE_CHECKING:
    from .jobs import Planned

COSTS_NOTHING = Settlement("done", Usage(0, 0), Decimal(0), "computed")
"""The settlement of a request that no vendor charges for."""


def settlement_of(planned: Planned, response: GenerateResponse[Any]) -> Settlement:
    """Returns the settlement of a call that ended well, with estimates of tokens that its provider has not reported."""
    if response.usage.input is None or response.usage.output is None:
        return estimated(planned.llm, planned.call, response.reply, "done")
    return Settlement("done", response.usage, response.cost, response.cost_source)


def not_sent(error: BaseException) -> Settlement:
    """Returns the settlement of a call that was let in, and not sent for an error."""
    return Settlement("failed" if isinstance(error, Exception) else "cancelled", Usage(0, 0), Decimal(0), "computed")


def failed(planned: Planned, error: Exception, partial: ModelReply | None = None) -> Settlement:
    """Returns the settlement of a call that failed: it costs nothing if nothing of an answer arrived."""
    after_rounds = _of_rounds(error, "failed")
    if after_rounds is not None:
        return after_rounds
    if partial is None and isinstance(error, AbstractCoreError):
        partial = error.partial
    if partial is None or not partial.parts:
        return not_sent(error)
    return estimated(planned.llm, planned.call, partial, "failed")


def cancelled(planned: Planned, error: BaseException, partial: ModelReply | None = None) -> Settlement:
    """Returns the settlement of a call that was cancelled."""
    after_rounds = _of_rounds(error, "cancelled")
    return after_rounds or estimated(planned.llm, planned.call, partial, "cancelled")


def _of_rounds(error: BaseException, outcome: Outcome) -> Settlement | None:
    """Returns the settlement of a call whose tools the server runs, after its first round: what all rounds have used
    that the provider has reported.
    """
    loop = getattr(error, "loop", None)
    if not isinstance(loop, ToolLoop) or not loop.usage.input:
        return None
    return Settlement(outcome, loop.usage, loop.cost, "estimate" if loop.cost is not None else None, True)


def estimated(llm: abstractcore.LLM, call: ModelCall, partial: ModelReply | None, outcome: Outcome) -> Settlement:
    """Returns the settlement of a call with the tokens that the provider has reported, and estimates of those that it
    has not.
    """
    reported = Usage() if partial is None else partial.usage
    written = _tokens_of_reply(partial) if partial is not None else 0
    usage = Usage(
        input=reported.input or int(llm.estimate_tokens(call)),
        output=max(reported.output or 0, written),
        cached=reported.cached,
        cache_written=reported.cache_written,
    )
    charge = llm.charge(usage)
    return Settlement(outcome, usage, charge.dollars, "estimate" if charge.dollars is not None else None, True)


def _tokens_of_reply(reply: ModelReply) -> int:
    texts = (
        part.arguments_text if isinstance(part, ToolCall) else part.text
        for part in reply.parts
        if isinstance(part, TextPart | ReasoningPart | ToolCall)
    )
    return sum(map(text_tokens, texts))
