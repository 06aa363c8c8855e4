"""From a step to a transaction: checks what a program returned, and makes the change of it. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Final

from abstractcore.errors import AbstractCoreError, InvalidInputError

from .effects import EffectResult
from .errors import ProgramError
from .json_documents import JSON, canonical, canonical_around, copied, digest, member
from .limits import limits_of, warnings
from .programs import (
    INTERRUPTED,
    LONGEST_NAME,
    Child,
    Effect,
    Item,
    Program,
    RetryPolicy,
    Step,
    Wait,
    check_program_id,
)
from .records import Spent
from .scrubbing import secrets
from .store import Change, Lease, NewItem, NewRun

_LONGEST_MESSAGE: Final = 2000


def checked(step: object, item: Item) -> Step:
    """Returns a step that can be made; raises `InvalidInputError` for anything else."""
    if not isinstance(step, Step):
        raise InvalidInputError(f"expected a Step, got {type(step).__name__}", path="step")
    if step.refused is not None:
        if step != Step.refuse(step.refused):
            raise InvalidInputError("a step that refuses its item changes nothing else", path="step.refused")
        if item.kind not in ("answer", "event"):
            raise InvalidInputError(f"an item of the kind {item.kind!r} cannot be refused", path="step.refused")
        return step
    if step.ended not in (None, "completed", "failed"):
        raise InvalidInputError(f"expected completed or failed, got {step.ended!r:.80}", path="step.ended")
    if step.ended is not None and (step.effect is not None or step.waits):
        raise InvalidInputError("a run that has ended has no effect and waits for nothing", path="step.ended")
    if step.ended is None and step.effect is None and not step.waits:
        hint = "Return Step.do(...), Step.wait(...), Step.complete(...) or Step.fail(...)."
        raise InvalidInputError("neither executes an effect, nor waits, nor ends the run", path="step", hint=hint)
    keys = [wait.key for wait in step.waits]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice or INTERRUPTED in keys:
        raise InvalidInputError(f"keys that are used twice, or reserved: {twice or [INTERRUPTED]}", path="step.waits")
    return step


def change(
    lease: Lease, item: Item, step: Step, used: EffectResult, programs: Mapping[str, Program], seq: int
) -> Change:
    """Returns the change of a step, whose record has the number `seq`.

    Raises `InvalidInputError` for values that are no JSON, and unknown programs.
    """
    state = canonical(step.state, "state")
    body: dict[str, JSON] = {"item": item_data(item), "state": digest(state)}
    made = Change(state=state, waits=step.waits)
    spent = made.spent = _spent(lease.spent, used)
    if used.tokens or used.dollars:
        body["used"] = {"tokens": used.tokens, "dollars": str(used.dollars)}
    if step.effect is not None:
        body["effect"] = effect = effect_data(step.effect)
        made.inflight = {"effect": effect, "attempt": 1, "state": "started", "seq": seq}
        made.status = "running"
    else:
        made.inflight = None
        made.status = step.ended or "waiting"
        made.release = True
    if step.waits:
        for wait in step.waits:
            canonical(wait.asked, f"waits.{wait.key}.asked")
        body["waits"] = [_wait_data(wait) for wait in step.waits]
    sends = [
        NewItem(
            send.id or f"sent:{lease.run}:{seq}:{number}", "event", canonical(send.payload, f"sends[{number}].payload"),
            send.run, send.key, lease.run,
        )
        for number, send in enumerate(step.sends)
    ]  # fmt: skip
    if step.sends:
        body["sends"] = [{"id": each.id, "key": each.key, "run": each.run} for each in sends]
    made.children = [_new_child(lease, child, _program(child.program, programs), programs) for child in step.children]
    if step.children:
        body["children"] = [{"id": each.id, "key": each.parent_key, "program": each.program} for each in made.children]
    if step.ended is not None:
        made.output = canonical(step.output, "output")
        made.error = None if step.error is None else canonical(step.error, "error")
        body |= {"ended": step.ended, "output": step.output}
        if step.error is not None:
            body["error"] = step.error
        sends += to_parent(lease, step.output, step.error, spent)
    made.sends = sends
    made.records = [("step", body), *_warnings(lease, lease.spent, spent)]
    return made


def ended_by_error(lease: Lease, item: Item, error: BaseException, used: EffectResult) -> Change:
    """Returns the change by which a run fails since its program has failed: the item is in its record."""
    where = f"the program {lease.program} failed at the item {item.kind!r}"
    problem = ProgramError(f"{where}: {type(error).__name__}: {error}", run=lease.run)
    return _ended(lease, "failed", {"item": item_data(item)}, error_data(problem), used)


def ended_by_limit(lease: Lease, limit: str, item: Item | None = None, used: EffectResult | None = None) -> Change:
    """Returns the change by which a run fails that has reached a limit, perhaps with an item that it has taken."""
    body: dict[str, JSON] = {} if item is None else {"item": item_data(item)}
    return _ended(lease, "failed", body, {"type": "LimitReached", "message": limit}, used or EffectResult())


def cancelled(lease: Lease, body: dict[str, JSON], payload: JSON, cancels: Sequence[NewItem]) -> Change:
    """Returns the change by which a run is cancelled, with the commands for its children."""
    reason = member(payload, "reason")
    error = {"type": "Cancelled", "message": str(reason or "the run was cancelled")}
    made = _ended(lease, "cancelled", body, error, EffectResult())
    made.sends = [*made.sends, *cancels]
    return made


def _ended(lease: Lease, status: str, body: dict[str, JSON], error: JSON, used: EffectResult) -> Change:
    if lease.inflight is not None:
        body["in_flight"] = {"effect_seq": lease.inflight["seq"], "state": lease.inflight["state"]}
    body |= {"ended": status, "error": error}
    if used.tokens or used.dollars:
        body["used"] = {"tokens": used.tokens, "dollars": str(used.dollars)}
    spent = _spent(lease.spent, used)
    return Change(
        records=[("ended", body)],
        status=status,
        inflight=None,
        error=canonical(error, "error"),
        spent=spent,
        waits=(),
        sends=to_parent(lease, None, error, spent),
        release=True,
    )


def to_parent(lease: Lease, output: JSON, error: JSON, spent: Spent) -> list[NewItem]:
    """Returns the item that reports the end of a child to its parent, with what it has spent."""
    if lease.parent is None:
        return []
    payload = canonical_around({"payload": output, "error": error, "spent": spent.to_data()}, "output")
    return [NewItem(f"child:{lease.run}", "child", payload, lease.parent, lease.parent_key, lease.run)]


def given(item: Item) -> Item:
    """Returns an item for a step, which may change its values: its record has them as they came."""
    payload, error = copied(item.payload), copied(item.error)
    return Item(item.id, item.kind, payload, item.key, item.at, item.sender, error)


def item_data(item: Item) -> dict[str, JSON]:
    """Returns an item as its record has it."""
    data = {"id": item.id, "kind": item.kind, "payload": item.payload, "at": item.at}
    for name in ("key", "sender", "error"):
        if getattr(item, name) is not None:
            data[name] = getattr(item, name)
    return data


def item_of(data: Mapping[str, Any]) -> Item:
    """Returns the item of a record."""
    return Item(
        data["id"], data["kind"], data["payload"], data.get("key"), data["at"], data.get("sender"), data.get("error")
    )


def effect_data(effect: Effect) -> dict[str, JSON]:
    """Returns an effect as its record has it."""
    data: dict[str, JSON] = {"kind": effect.kind, "payload": effect.payload, "key": effect.key}
    if effect.after_crash is not None:
        data["after_crash"] = effect.after_crash
    if effect.retry is not None:
        data["retry"] = {**asdict(effect.retry), "errors": [*effect.retry.errors]}
    return data


def retry_of(data: Mapping[str, Any]) -> RetryPolicy:
    """Returns the retries of an effect as its record has it."""
    return RetryPolicy(data["attempts"], data["seconds"], data["factor"], data["longest"], tuple(data["errors"]))


def error_data(error: BaseException) -> JSON:
    """Returns an exception as items have it, without credentials, sorted as they are read from a ledger."""
    scrubbed = secrets().text
    message = error.message if isinstance(error, AbstractCoreError) else str(error)
    data: dict[str, JSON] = {"type": type(error).__name__, "message": _text(scrubbed(message))}
    if isinstance(error, AbstractCoreError) and error.hint:
        data["hint"] = scrubbed(error.hint)
    if isinstance(error, AbstractCoreError) and error.retryable:
        data["retryable"] = True
    return dict(sorted(data.items()))


def is_retried(error: Exception, retry: RetryPolicy) -> bool:
    """Whether an effect that raised this is tried again."""
    names = {each.__name__ for each in type(error).__mro__}
    return bool(getattr(error, "retryable", False)) or not names.isdisjoint(retry.errors)


def unknown_kind(kind: str, run: str) -> ProgramError:
    """Returns the error for an effect of a kind that this worker does not have."""
    hint = f"Register it: Runtime(..., effects={{{kind!r}: ...}})"
    return ProgramError(f"there is no kind of effects {kind!r}", run=run, hint=hint)


def exited(error: SystemExit, run: str) -> ProgramError:
    """Returns the error of an effect that has called `sys.exit`."""
    return ProgramError(f"the effect has called sys.exit({error.code!r:.80})", run=run)


def _text(text: str) -> str:
    """Returns a text that JSON can have."""
    return text[:_LONGEST_MESSAGE].encode(errors="replace").decode()


def _spent(before: Spent, used: EffectResult) -> Spent:
    return Spent(before.steps + 1, before.tokens + used.tokens, before.dollars + (used.dollars or Decimal(0)))


def _warnings(lease: Lease, before: Spent, after: Spent) -> list[tuple[str, dict[str, JSON]]]:
    return [("warning", {"limit": name}) for name in warnings(lease.limits, before, after)]


def _new_child(lease: Lease, child: Child, program: str, programs: Mapping[str, Program]) -> NewRun:
    return NewRun(
        id=child.run or _child_id(lease.run, child.key),
        program=program,
        input=canonical(child.input, f"children.{child.key}.input"),
        limits=limits_of(programs.get(program)),
        parent=lease.run,
        parent_key=child.key,
        session=child.session or lease.session,
    )


def _child_id(run: str, key: str) -> str:
    """Returns the id of a child that has none of its own: of a long one, the end is a hash."""
    id = f"{run}/{key}"
    return id if len(id) <= LONGEST_NAME else f"{id[: LONGEST_NAME - 33]}~{digest(id.encode())[:32]}"


def _program(name: str, programs: Mapping[str, Program]) -> str:
    """Returns `name@version` of a child's program: the latest version that is known, if it has none."""
    if "@" in name:
        return check_program_id(name, "children.program")
    found = [each for each in programs if each.rpartition("@")[0] == name]
    if not found:
        hint = f"Register it: Runtime(..., programs=[...]). Known: {', '.join(programs) or 'none'}."
        raise InvalidInputError(f"there is no program {name!r}", path="children.program", hint=hint)
    return found[-1]


def _wait_data(wait: Wait) -> dict[str, JSON]:
    data: dict[str, JSON] = {"key": wait.key, "reason": wait.reason, "asked": wait.asked}
    if wait.deadline is not None:
        data["deadline"] = wait.deadline
    return data
