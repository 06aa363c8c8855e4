"""What became of a call: the response the user gets, the record subscribers get, and what it cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import AbstractCoreError
from ..ports import CallContext, CallEnd, Price
from ..schema import (
    CallRecord,
    Capture,
    ErrorRecord,
    GenerateResponse,
    MediaDecision,
    ModelReply,
    SchemaError,
    Usage,
    digest,
    redacted_call,
    redacted_reply,
)
from .decoding import reply_so_far

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
        usage=_usage(reply, context),
        warnings=(*context.warnings, *reply.warnings),
        media=context.decisions,
        provider=context.call.provider,
        model=reply.model or context.call.model,
        cost=cost(_asked(reply, context), price),
        trace_id=context.trace_id,
        seconds=seconds,
    )


def as_record(context: CallContext, end: CallEnd, price: Price | None, capture: Capture) -> CallRecord:
    """The record of a call that has ended, with as much content as `capture` says."""
    call, reply, shown_reply = context.call, _reply(end), None
    if reply is not None and capture != "off":
        shown_reply = reply if capture == "full" else redacted_reply(reply)
    shown_call = None
    if capture != "off":
        shown_call = call if capture == "full" else redacted_call(call)
    return CallRecord(
        trace_id=context.trace_id,
        parent_id=call.parent_id,
        provider=call.provider,
        model=(reply.model if reply is not None else None) or call.model,
        outcome=end.outcome,
        streamed=call.stream,
        started_at=context.started_at,
        seconds=end.seconds,
        seconds_to_first=end.seconds_to_first,
        call_digest=digest(call),
        reply_digest=digest(reply) if reply is not None else None,
        call=shown_call,
        reply=shown_reply,
        attempts=tuple(context.attempts),
        usage=_usage(reply, context),
        cost=cost(_asked(reply, context), price) if reply is not None else None,
        media=context.decisions if capture == "full" else tuple(map(_without_text, context.decisions)),
        warnings=(*context.warnings, *(reply.warnings if reply is not None else ())),
        error=_error_record(end.error, capture),
        tags=call.tags,
    )


def _reply(end: CallEnd) -> ModelReply | None:
    """The reply, or as much of it as came."""
    if end.reply is not None:
        return end.reply
    if end.deltas:
        return reply_so_far(end.deltas)
    return end.error.partial if isinstance(end.error, AbstractCoreError) else None


def _usage(reply: ModelReply | None, context: CallContext) -> Usage:
    """What the model and the conversion of files took."""
    media = [decision.usage for decision in context.decisions if decision.usage is not None]
    return sum(media, _asked(reply, context))


def _asked(reply: ModelReply | None, context: CallContext) -> Usage:
    """What the model took: for the reply, and for answers before it that did not do."""
    if reply is None:
        return sum(context.spent, Usage())
    others = list(context.spent)
    if reply.usage in others:
        others.remove(reply.usage)
    return sum(others, reply.usage)


def _without_text(decision: MediaDecision) -> MediaDecision:
    if decision.sent is None or decision.sent.text is None:
        return decision
    return replace(decision, sent=replace(decision.sent, text=None))


def _error_record(error: BaseException | None, capture: Capture) -> ErrorRecord | None:
    """What others' exceptions and the schema's say may quote content: without capture their class has to do."""
    if error is None:
        return None
    if isinstance(error, AbstractCoreError) and not isinstance(error, SchemaError):
        return ErrorRecord(type(error).__name__, error.message, error.status, error.request_id, error.retryable)
    return ErrorRecord(type(error).__name__, _message(error) if capture == "full" else "")


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its message cannot be read)"


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
