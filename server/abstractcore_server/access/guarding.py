"""`Guarding`: the guards of one call. They are asked in order; each sees what those before it have left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from abstractcore.concurrency import is_large
from abstractcore.errors import ContentFilterError, ServerError, ToolFailed
from abstractcore.ports import CHAT, Edit, GuardContext, Refusal, TextKind, TextPiece, with_texts
from abstractcore.registry import failure_text
from abstractcore.schema import CallWarning, Message, ModelCall, ModelReply, Part, TextPart, ToolCall, ToolResult

from ..failures import RequestRefused
from .content_guards import (
    Checked,
    ConnectedGuard,
    GuardDecision,
    GuardFailure,
    TextWindow,
    changed_fields,
    checked_edits,
    is_text,
)

if TYPE_CHECKING:
    from ..context import RequestContext

T = TypeVar("T")
_LONGEST_REASON = 500
_FIXED = ("provider", "model", "stream")
"""What a guard cannot change of a call: it was let in as one of this model."""
_WORDS = {"call": "request", "tool_call": "call of the tool", "result": "result of the tool"}
_log = logging.getLogger("abstractcore.server")


class Guarding:
    """The guards of one call, and what they have decided. `guard_context` is passed to them."""

    def __init__(
        self,
        guards: Sequence[ConnectedGuard],
        context: RequestContext,
        call: ModelCall,
        asked: str,
        operation: str = CHAT,
    ) -> None:
        self.guards = guards
        self.decisions: list[GuardDecision] = []
        self.warnings: list[CallWarning] = []
        self.receipt = context.entry.receipt
        request, model = context.request, f"{call.provider}/{call.model}"
        self.guard_context = GuardContext(request.trace_id, model, asked, context.grant.key_id, call, operation)
        self._off_loop = partial(context.off_loop, is_large(context.entry.receipt.request))
        self._entry = context.entry

    @classmethod
    def of(cls, context: RequestContext, call: ModelCall, asked: str, operation: str = CHAT) -> Guarding | None:
        """Returns the guards of a call, whose model the client has `asked` for under that name; None if there are
        none.
        """
        models = (asked, f"{call.provider}/{call.model}")
        guards = context.state.guards.of(models, context.grant.key_id)
        return cls(guards, context, call, asked, operation) if guards else None

    def decision(self, guard: ConnectedGuard, checked: Checked) -> GuardDecision:
        """Returns the decision of a guard that is about to look at something, recorded already."""
        decision = GuardDecision(guard.name, checked, self.guard_context.model)
        self.decisions.append(decision)
        self._entry.decisions.append(decision)
        return decision

    @property
    def of_calls(self) -> list[ConnectedGuard]:
        """The guards that check calls."""
        return [guard for guard in self.guards if guard.check_call is not None]

    async def call(
        self, call: ModelCall, accept: Callable[[object, ModelCall], ModelCall | None] | None = None
    ) -> ModelCall:
        """Returns the call that is to be sent, with the decisions as tags of its record; raises `RequestRefused`.
        `accept` returns a verdict that has changed the call, and raises `GuardFailure` for one that may not be given.
        """
        self.guard_context = replace(self.guard_context, call=call)
        for guard in self.guards:
            if guard.check_call is None:
                continue
            decision = self.decision(guard, "call")
            accepts = partial(accept or _accepted_call, call=call)
            verdict = await self.verdict(guard, decision, guard.check_call, call, accepts)
            if verdict is not None:
                decision.add_changes(await self._off_loop(changed_fields, call, verdict))
                call = verdict
            tags = {**call.tags, f"guard.{guard.name}": decision.outcome}
            call = await self._off_loop(partial(call.with_, tags=tags))
            self.guard_context = replace(self.guard_context, call=call)
        return call

    async def tool_call(self, call: ToolCall) -> ToolCall:
        """Returns a call of a tool that the server is about to run as it may be run: it is a part of an answer. Raises
        `ToolFailed`, which the model reads, for one that a guard refuses.
        """
        reply = ModelReply((call,), "tool_calls")
        for guard in self.of_replies:
            decision = self.decision(guard, "tool_call")
            try:
                reply = await self.checked_reply(guard, decision, reply, _accepted_tool_call)
            except RequestRefused as error:
                raise ToolFailed(error.error.message) from None
        (checked,) = reply.tool_calls
        if checked.arguments is None:
            raise ToolFailed("guards have changed the arguments of the call, which are not a JSON object any more")
        return checked

    async def result(self, tool_call: ToolCall, result: ToolResult) -> ToolResult:
        """Returns the result of a tool that the server ran as the model may read it: guards see the call that it would
        be sent with. Raises `ToolFailed`, which the model reads, for one that a guard refuses.
        """
        conversation = (*self.guard_context.call.messages, Message.assistant(tool_call), Message.tool(result))
        call = self.guard_context.call.with_(messages=conversation)
        for guard in self.guards:
            if guard.check_call is None:
                continue
            accept = partial(_accepted_result, call=call)
            decision = self.decision(guard, "result")
            try:
                verdict = await self.verdict(guard, decision, guard.check_call, call, accept)
            except RequestRefused as error:
                raise ToolFailed(error.error.message) from None
            if verdict is not None:
                decision.add_changes(await self._off_loop(changed_fields, call, verdict))
                call = verdict
        return _result_of(call) or result

    async def reply(self, reply: ModelReply) -> ModelReply:
        """Returns a whole reply as the client may have it, itself if nothing was changed; raises `RequestRefused`."""
        for guard in self.of_replies:
            reply = await self.checked_reply(guard, self.decision(guard, "reply"), reply)
        return reply

    @property
    def of_replies(self) -> list[ConnectedGuard]:
        """The guards that check replies."""
        return [guard for guard in self.guards if guard.check_reply is not None or guard.check_text is not None]

    async def checked_reply(
        self,
        guard: ConnectedGuard,
        decision: GuardDecision,
        reply: ModelReply,
        accept: Callable[[object, ModelReply], ModelReply | None] | None = None,
    ) -> ModelReply:
        """Returns a reply as one guard leaves it; raises `RequestRefused`. `accept` returns the verdict of
        `check_reply` if it has changed the reply, and raises `GuardFailure` for one that it may not give.
        """
        if guard.check_reply is None:
            changed = await self.checked_texts(guard, decision, partial(with_texts, reply))
        else:
            accepts = partial(accept or accepted_reply, reply=reply)
            changed = await self.verdict(guard, decision, guard.check_reply, reply, accepts) or reply
        if changed is reply:
            return reply
        decision.add_changes(changed_fields(reply, changed))
        return changed

    async def checked_texts(
        self, guard: ConnectedGuard, decision: GuardDecision, apply: Callable[[Callable[[str, TextKind], str]], T]
    ) -> T:
        """Returns the result of `apply` on a function that changes texts, with the edits of a guard."""
        seen: list[tuple[str, TextKind]] = []

        def see(text: str, kind: TextKind) -> str:
            seen.append((text, kind))
            return text

        same = apply(see)
        texts = [await self._checked_text(guard, decision, text, kind) for text, kind in seen]
        if texts == [text for text, _ in seen]:
            return same
        left = iter(texts)
        return apply(lambda text, kind: next(left))

    async def _checked_text(self, guard: ConnectedGuard, decision: GuardDecision, text: str, kind: TextKind) -> str:
        window = TextWindow(kind, guard.hold_back)
        window.feed(text)
        edits = await self.edits(guard, decision, window.piece(is_last=True))
        return window.release(edits, is_last=True)

    async def edits(self, guard: ConnectedGuard, decision: GuardDecision, piece: TextPiece) -> Sequence[Edit]:
        """Returns the edits of a guard in a piece of text; raises `RequestRefused`."""
        if guard.check_text is None or decision.outcome == "failed_open":
            return ()
        accept = partial(checked_edits, piece=piece)
        return await self.verdict(guard, decision, guard.check_text, piece, accept) or ()

    async def verdict(
        self,
        guard: ConnectedGuard,
        decision: GuardDecision,
        check: Callable[..., object],
        subject: object,
        accept: Callable[[object], T | None],
    ) -> T | None:
        """Returns the verdict of a guard on a subject; None if it leaves it, or has failed and may. `accept` returns a
        changed subject, None for an unchanged one, and raises `GuardFailure` for anything else.

        Raises `RequestRefused` for what it refuses, and if it has failed and may not.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            answer = await guard.ask(check, subject, self.guard_context)
            if isinstance(answer, Refusal):
                raise _refusal_error(guard, decision, answer)
            accepted = None if answer is None else await self._off_loop(_accept, accept, answer)
            if accepted is not None and guard.read_only:
                raise GuardFailure("it is read_only, and has changed something")
        except GuardFailure as failure:
            self._handle_failure(guard, decision, failure)
            return None
        except asyncio.CancelledError:
            decision.outcome = "cancelled" if decision.outcome == "allowed" else decision.outcome
            raise
        finally:
            decision.seconds += loop.time() - begun
        return accepted

    def _handle_failure(self, guard: ConnectedGuard, decision: GuardDecision, failure: GuardFailure) -> None:
        """Warns of a guard that has failed; raises `RequestRefused` if the call may not go on without it."""
        _log.warning("request %s: the guard %r failed: %s", self.guard_context.trace_id, guard.name, failure)
        if guard.settings.on_failure == "closed":
            decision.outcome = "failed_closed"
            error = ServerError(f"the guard {guard.name!r} failed, and nothing is answered without it")
            raise RequestRefused(503, error) from failure
        decision.outcome = "failed_open"
        message = f"the guard {guard.name!r} failed: its check of the {decision.checked} was left out"
        self.warnings.append(CallWarning("guard_failed", "", message))


def _refusal_error(guard: ConnectedGuard, decision: GuardDecision, refusal: Refusal) -> RequestRefused:
    """Returns the error for what a guard refuses."""
    if not is_text(refusal.reason):
        raise GuardFailure("it returned a Refusal whose reason is not a text")
    decision.outcome = "refused"
    what = _WORDS.get(decision.checked, "answer")
    message = f"the guard {guard.name!r} refused the {what}: {refusal.reason[:_LONGEST_REASON]}"
    return RequestRefused(400, ContentFilterError(message))


def _accept(accept: Callable[[object], T | None], answer: object) -> T | None:
    """Returns the result of `accept` on an answer, whose class may be the guard's own, and raise anything."""
    try:
        return accept(answer)
    except GuardFailure:
        raise
    except Exception as error:
        raise GuardFailure(failure_text(error)) from error


def _accepted_call(verdict: object, call: ModelCall) -> ModelCall | None:
    if not isinstance(verdict, ModelCall):
        raise GuardFailure(f"check_call returned a {type(verdict).__name__}: expected a ModelCall, a Refusal or None")
    changed = [name for name in _FIXED if getattr(verdict, name) != getattr(call, name)]
    if changed:
        raise GuardFailure(f"check_call changed what it cannot: {', '.join(changed)}")
    return None if verdict == call else verdict


def accepted_texts(verdict: object, call: ModelCall) -> ModelCall | None:
    """Returns the verdict of `check_call` if it has changed a call of which only the texts can be changed, one in a
    message; raises `GuardFailure` if it has changed more than these.
    """
    accepted = _accepted_call(verdict, call)
    if accepted is not None:
        like_before = accepted.with_(messages=call.messages, tags=call.tags) == call
        if not like_before or [*map(_shape, accepted.messages)] != [*map(_shape, call.messages)]:
            raise GuardFailure("check_call changed more than the texts of the messages")
    return accepted


def _shape(message: Message) -> tuple[str, list[Part]]:
    return message.role, [TextPart("") if isinstance(part, TextPart) else part for part in message.parts]


def _accepted_result(verdict: object, call: ModelCall) -> ModelCall | None:
    accepted = _accepted_call(verdict, call)
    before, after = _result_of(call), None if accepted is None else _result_of(accepted)
    if accepted is not None and (before is None or after is None or before.call_id != after.call_id):
        raise GuardFailure("check_call removed the result of a tool")
    return accepted


def _result_of(call: ModelCall) -> ToolResult | None:
    """Returns the result of the tool that ran last."""
    last = call.messages[-1].parts[-1]
    return last if isinstance(last, ToolResult) else None


def accepted_reply(verdict: object, reply: ModelReply) -> ModelReply | None:
    """Returns the verdict of `check_reply` if it has changed the reply; raises `GuardFailure` unless it is one."""
    if not isinstance(verdict, ModelReply):
        raise GuardFailure(f"check_reply returned a {type(verdict).__name__}: expected a ModelReply, a Refusal or None")
    return None if verdict == reply else verdict


def _accepted_tool_call(verdict: object, reply: ModelReply) -> ModelReply | None:
    accepted = accepted_reply(verdict, reply)
    if accepted is not None and [_name_of(part) for part in accepted.parts] != [_name_of(part) for part in reply.parts]:
        raise GuardFailure("check_reply made something else of the call of a tool: only its arguments can be changed")
    return accepted


def _name_of(part: Part) -> tuple[str, str] | None:
    return (part.id, part.name) if isinstance(part, ToolCall) else None
