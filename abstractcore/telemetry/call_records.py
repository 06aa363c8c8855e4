"""Makes the `CallRecord`s of finished calls."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from ..errors import AbstractCoreError
from ..ports import AnyInput, CallContext, CallEnd, Pricing
from ..ports.middleware import call_in
from ..schema import (
    CallRecord,
    Capture,
    ErrorRecord,
    JSONObject,
    JSONValue,
    MediaDecision,
    ModelCall,
    ModelReply,
    OperationInput,
    SchemaError,
    Verification,
    content_size,
    digest,
    partial_reply,
    redacted_call,
    redacted_data,
    redacted_reply,
    size_of,
    to_data,
)
from ..schema.base_error import shortened
from .costs import Bill, saved_cost

_IN_RECORD = frozenset({"call", "model", "provider", "tags", "parent_id"})
"""Fields of inputs that a record has itself."""
_LONGEST_MESSAGE = 1200
"""The maximum number of characters of messages of other packages' exceptions."""


class EndedCall:
    """A finished call. Its records share the digests, which are computed once.

    `arrived` is the `partial` of its error when it ended, which what made several calls may replace. Vectors are those
    of other calls.
    """

    def __init__(self, context: CallContext, end: CallEnd, pricing: Pricing, arrived: object) -> None:
        self._context = context
        self._end = end
        self._pricing = pricing
        self._reply = end.reply
        if self._reply is None and end.deltas:
            self._reply = partial_reply(end.deltas)
        elif self._reply is None and isinstance(arrived, ModelReply):
            self._reply = arrived
        self._records: dict[Capture, CallRecord] = {}

    def record(self, capture: Capture, *, in_tree: bool = False) -> CallRecord:
        """Returns the record, with as much content as `capture` allows, and nothing of the context. In a tree with
        interactions, its parent is the one that it belongs to.
        """
        record, interaction = self._record(capture), self._context.interaction
        return replace(record, parent_id=interaction) if in_tree and interaction is not None else record

    def _record(self, capture: Capture) -> CallRecord:
        if capture not in self._records:
            bare = self._records.get("off") or self._records.setdefault("off", self._bare())
            self._records[capture] = self._with_content(bare, capture)
        return self._records[capture]

    def _bare(self) -> CallRecord:
        context, end, reply = self._context, self._end, self._reply
        given = context.input
        bill = Bill(context, of_record=True)
        pricing = context.pricing or self._pricing
        cost = bill.cost(pricing)
        return CallRecord(
            trace_id=context.trace_id,
            parent_id=given.parent_id,
            provider=given.provider,
            model=(reply.model if reply is not None else None) or given.model,
            outcome=end.outcome,
            streamed=bool(getattr(given, "stream", False)),
            started_at=context.started_at,
            seconds=end.seconds,
            seconds_to_first=end.seconds_to_first,
            call_digest=digest(call_in(given) or _input_for_record(given)),
            reply_digest=digest(reply) if reply is not None else None,
            call=None,
            reply=None,
            attempts=bill.by_attempt(context.attempts, pricing),
            usage=bill.usage,
            cost=cost.cost,
            media=tuple(map(_without_text, context.decisions)),
            warnings=context.secrets.value((*context.warnings, *(reply.warnings if reply is not None else ()))),
            error=self._error("off"),
            tags=given.tags,
            operation=context.operation.name,
            cost_source=cost.cost_source,
            cost_reason=cost.cost_reason,
            price_rows=cost.price_rows,
            verification=context.verification and _without_texts(context.verification),
            estimated_cost=cost.estimated_cost,
            discarded=context.discarded,
            trace_context=context.trace_context,
            cached_at=None if context.cache_hit is None else context.cache_hit.stored_at,
            saved_cost=saved_cost(context.cache_hit, pricing),
            capture="off",
            seconds_waited=context.seconds_waited,
        )

    def _with_content(self, record: CallRecord, capture: Capture) -> CallRecord:
        call, reply, secrets = call_in(self._context.input), self._reply, self._context.secrets
        if capture == "off":
            return record
        given = secrets.value(_input_of(self._context))
        if capture == "redacted":
            return replace(
                record,
                call=redacted_call(call) if call is not None else None,
                reply=redacted_reply(reply) if reply is not None else None,
                capture=capture,
                input=given
                and {name: each if name == "trace_context" else redacted_data(each) for name, each in given.items()},
            )
        if call is not None:
            # A credential in the content is content; options and headers of a call are not.
            call = call.with_(provider_options=secrets.value(call.provider_options))
        return replace(
            record,
            call=call,
            input=given,
            reply=reply,
            media=self._context.decisions,
            error=self._error(capture),
            result=self._result(),
            verification=self._context.verification,
            capture=capture,
        )

    def _result(self) -> JSONValue:
        result = self._end.result
        return None if result is None else self._context.operation.to_record(result.value)

    def _error(self, capture: Capture) -> ErrorRecord | None:
        return self._context.secrets.value(error_record(self._end.error, capture))


def content_of(context: CallContext) -> int:
    """Returns the bytes of what the input of a request holds until its record is made."""
    call = call_in(context.input)
    return size_of(context.input) if call is None else content_size(call)


def _input_of(context: CallContext) -> JSONObject | None:
    """Returns the fields of an input that the record has not, as JSON; None for one that is a call."""
    given = context.input
    if isinstance(given, ModelCall):
        return None
    data = cast("JSONObject", to_data(_input_for_record(given)))
    return {name: value for name, value in data.items() if name not in _IN_RECORD}


def _input_for_record(given: AnyInput) -> AnyInput:
    return given.for_record() if isinstance(given, OperationInput) else given


def _without_text(decision: MediaDecision) -> MediaDecision:
    """Returns a decision without what may quote the file: its text, and the names of places in it."""
    sent = decision.sent
    lost = tuple(replace(loss, places=()) for loss in decision.lost)
    if sent is not None and (sent.text is not None or sent.parts):
        parts = tuple(replace(part, text=None, anchors=()) for part in sent.parts)
        sent = replace(sent, text=None, parts=parts, anchors=())
    if not lost and sent is decision.sent and decision.own_text is None:
        return decision
    return replace(decision, sent=sent, lost=lost, own_text=None)


def _without_texts(verification: Verification) -> Verification:
    """Returns a verification without what may quote the answer or a file: each text is empty."""
    checks = (
        replace(
            check,
            text="",
            source=check.source and replace(check.source, quote="", text=None, anchors=()),
            instead=check.instead and "",
            reason=check.reason and "",
        )
        for check in verification.checks
    )
    return Verification(tuple(checks), ("",) * len(verification.problems))


def error_record(error: BaseException | None, capture: Capture) -> ErrorRecord | None:
    """Returns an error as data. Without content, it has only its class if its message may quote any, as in
    `SchemaError` and exceptions of other packages, and a message without what that quotes of an answer."""
    if error is None:
        return None
    if isinstance(error, AbstractCoreError) and not isinstance(error, SchemaError):
        message = error.message if capture == "full" else _without_quote(error)
        return ErrorRecord(type(error).__name__, message, error.status, error.request_id, error.retryable)
    return ErrorRecord(type(error).__name__, _message(error) if capture == "full" else "")


def _without_quote(error: AbstractCoreError) -> str:
    message, quoted = error.message, error.quoted
    if not quoted:
        return message
    return message.replace(quoted, f"[{len(quoted)} characters]") if quoted in message else ""


def _message(error: BaseException) -> str:
    try:
        return shortened(str(error), _LONGEST_MESSAGE)
    except Exception:
        return "(its message cannot be read)"
