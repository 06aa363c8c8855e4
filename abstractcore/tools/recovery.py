"""The state of a tool loop after a crash, from the events of its journal. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..errors import JournalError
from ..schema import AllowedCall, JournalEntry, LoopStatus, PendingCall, ToolCall, ToolLoop, ToolStep
from .loop import callable_tools, continues, with_steps


def recovered_loop(entries: Iterable[JournalEntry]) -> ToolLoop | None:
    """Returns the state of the loop after its events; None if there are none.

    A call that was begun and has no result is allowed again if its tool is idempotent or read-only; any other waits,
    with the reason "interrupted". Raises `JournalError` for events in an impossible order.
    """
    history = _History()
    for number, entry in enumerate(entries, 1):
        history.add(entry, number)
    return history.state()


class _History:
    """The events of a loop, one after the other."""

    def __init__(self) -> None:
        self._loop: ToolLoop | None = None
        self._steps: dict[tuple[int, str], ToolStep] = {}
        self._begun: dict[str, ToolCall] = {}
        self._attempts: Counter[tuple[int, str]] = Counter()

    def add(self, entry: JournalEntry, number: int) -> None:
        if entry.kind == "start" and entry.loop is not None:
            self._loop = entry.loop
            self._steps = {(step.round, step.call.id): step for step in entry.loop.steps}
            self._begun.clear()
            return
        loop = self._loop
        if loop is None:
            raise JournalError(f"the journal's event {number} is before the start of a loop.")
        last = len(loop.replies) - 1
        if entry.reply is not None:
            attempts = loop.output_attempts if entry.attempt is None else (*loop.output_attempts, entry.attempt)
            replies = (*loop.replies, entry.reply)
            loop = loop.with_(replies=replies, output_attempts=attempts, allowed=(), pending=())
            self._begun.clear()
        elif entry.kind == "decision":
            loop = loop.with_(allowed=entry.allowed, pending=entry.pending)
            for pending in entry.pending:
                self._begun.pop(pending.call.id, None)
        elif entry.call is not None:
            self._begun[entry.call.id] = entry.call
            self._attempts[last, entry.call.id] += 1
        elif entry.step is not None:
            self._steps.setdefault((entry.step.round, entry.step.call.id), entry.step)
            self._begun.pop(entry.step.call.id, None)
        if entry.usage is not None:
            loop = loop.with_(
                usage=entry.usage,
                cost=entry.cost,
                cost_source=entry.cost_source,
                cost_reason=entry.cost_reason,
                price_rows=entry.price_rows,
            )
        self._loop = loop.with_(status=entry.status or "running")

    def state(self) -> ToolLoop | None:
        if self._loop is None:
            return None
        loop = with_steps(self._loop.with_(steps=()), [*self._steps.values()])
        loop = loop.with_(pending=tuple(each for each in loop.pending if each.call.id not in _done(loop)))
        for call in self._begun.values():
            loop = self._interrupted(loop, call)
        return loop if loop.status != "running" else loop.with_(status=_status(loop))

    def _interrupted(self, loop: ToolLoop, call: ToolCall) -> ToolLoop:
        """Returns the state after a crash while `call` ran, or may have run."""
        others = tuple(each for each in loop.allowed if each.call.id != call.id)
        loop = loop.with_(pending=tuple(each for each in loop.pending if each.call.id != call.id))
        begun = next((each for each in loop.allowed if each.call.id == call.id), AllowedCall(call))
        spec = next((spec for spec in callable_tools(loop) if spec.name == call.name), None)
        if spec is not None and (spec.idempotent or spec.read_only):
            return loop.with_(allowed=(*others, begun))
        last = len(loop.replies) - 1
        pending = PendingCall(
            call,
            "interrupted",
            labels=loop.labels,
            tool=spec,
            loop=loop.id,
            round=last,
            attempts=self._attempts[last, call.id],
            requested=begun.requested,
        )
        return loop.with_(allowed=others, pending=(*loop.pending, pending))


def _done(loop: ToolLoop) -> set[str]:
    return {step.call.id for step in loop.steps if step.round == len(loop.replies) - 1}


def _status(loop: ToolLoop) -> LoopStatus:
    """Returns the status of a loop whose end was not noted."""
    last = len(loop.replies) - 1
    if any(step.final and step.round == last for step in loop.steps):
        return "final"
    is_corrected = any(attempt.round == last for attempt in loop.output_attempts)
    if loop.replies and not continues(loop.replies[-1]) and not is_corrected:
        return "answered"
    waiting = {pending.call.id for pending in loop.pending}
    is_suspended = bool(waiting) and all(call.id in waiting for call in loop.open_calls)
    return "suspended" if is_suspended else "running"
