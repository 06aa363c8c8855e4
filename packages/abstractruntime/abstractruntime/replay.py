"""Makes the state of a run again from its ledger, and finds steps that are not pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import zip_longest
from typing import Any, Final, TypeVar, cast

from . import stepping
from .effects import EffectResult
from .errors import LedgerError, ReplayError
from .json_documents import JSON, canonical, canonical_around, digest, member, parsed
from .programs import Item, Program, Step
from .records import Limits, Record, Spent
from .scrubbing import secrets
from .store import Lease
from .store.reading import DAMAGED

T = TypeVar("T")
_COMPARED: Final = ("effect", "waits", "sends", "children", "ended", "output", "error")
_NOTHING: Final = object()


def replay(program: Program, records: Iterable[Record], *, state: JSON = None) -> JSON:
    """Returns the state to which the steps of a ledger lead, and compares each step with its record.

    Compared are the effect, the waits, the ids of what was sent and of children, the output, and the hash of the state.
    `state` is the one that the run has now: with it, a message can name what is different in the last one. No effect
    is executed. The item at which a step has raised or a limit was reached is not replayed: it made no state.

    Raises `ReplayError` at the first step that gives something else than its record: it is not pure, or the program was
    changed. Raises `LedgerError` for a step that was redacted or cannot be read.
    """
    made: JSON = None
    for record in records:
        if record.kind == "step":
            made = _Replayed(program, record, made, state).state()
    return made


class _Replayed:
    """One step, made again. `before` is the state before it, and `now` that of the run."""

    def __init__(self, program: Program, record: Record, before: JSON, now: JSON) -> None:
        self._program = program
        self._record = record
        self._before = canonical(before, "state")
        self._now = now
        if record.body is None:
            hint = "A run of which a step was redacted can be verified, and not replayed."
            raise LedgerError(f"record {record.seq} was redacted", run=record.run, seq=record.seq, hint=hint)
        try:
            self._item: Item = stepping.item_of(record.body["item"])
            used: JSON = record.body.get("used") or {"tokens": 0, "dollars": "0"}
            self._used = EffectResult(None, int(used["tokens"]), Decimal(used["dollars"]))
            self._state_sha256 = record.body["state"]
        except DAMAGED as error:
            problem = f"record {record.seq} of the run {record.run!r} is no step: {error!r:.200}"
            raise LedgerError(problem, run=record.run, seq=record.seq) from error

    def state(self) -> JSON:
        """Returns the state after the step."""
        record, body = self._record, self._record.body
        try:
            step = stepping.checked(self._step(), self._item)
            change = stepping.change(_lease(record), self._item, _with_versions(step, body), self._used, {}, record.seq)
            again = parsed(canonical_around(change.records[0][1], "step"))
        except Exception as error:
            raise self._error(f"it raises {type(error).__name__}: {secrets().text(str(error))}") from error
        if step.refused is not None:
            raise self._error(f"it refuses the item: {step.refused}")
        for name in _COMPARED:
            found = difference(member(body, name), member(again, name), name)
            if found is not None:
                raise self._error(found)
        data = cast("bytes", change.state)
        if digest(data) != self._state_sha256:
            raise self._error(self._different_state(parsed(data)))
        return parsed(data)

    def _step(self) -> Step:
        return self._program.step(parsed(self._before), stepping.given(self._item))

    def _different_state(self, made: JSON) -> str:
        """Returns what is different in a state of which the record has the hash only."""
        if digest(canonical(self._now, "state")) == self._state_sha256:
            found = difference(self._now, made, "state")
            if found is not None:
                return found
        found = difference(made, parsed(canonical(self._step().state, "state")), "state", "one call", "the next one")
        return found or "state: the record has the hash of another one"

    def _error(self, problem: str) -> ReplayError:
        record = self._record
        return ReplayError(
            f"the step of the item {self._item.kind!r} at record {record.seq} of the run {record.run!r} gives "
            f"something else than its record: {problem}",
            run=record.run, seq=record.seq,
            hint="A step may use its state and its item only, and a changed program needs another version.",
        )  # fmt: skip


def difference(
    expected: JSON, found: JSON, path: str, expected_of: str = "the record", found_of: str = "the step"
) -> str | None:
    """Returns the first place at which two values differ, and both of them; None if they are equal."""
    pairs: list[tuple[Any, Any, str]] = []
    if isinstance(expected, dict) and isinstance(found, dict):
        one, other = cast("dict[str, Any]", expected), cast("dict[str, Any]", found)
        names = sorted({*one, *other})
        pairs = [(one.get(name, _NOTHING), other.get(name, _NOTHING), f"{path}.{name}") for name in names]
    elif isinstance(expected, list) and isinstance(found, list):
        rows = zip_longest(cast("list[Any]", expected), cast("list[Any]", found), fillvalue=_NOTHING)
        pairs = [(one, other, f"{path}[{index}]") for index, (one, other) in enumerate(rows)]
    elif not _same(expected, found):
        return f"{path}: {expected_of} has {_shown(expected)}, {found_of} has {_shown(found)}"
    each = (difference(one, other, place, expected_of, found_of) for one, other, place in pairs)
    return next((text for text in each if text is not None), None)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _shown(value: Any) -> str:
    return "nothing" if value is _NOTHING else f"{value!r:.80}"


def _with_versions(step: Step, body: JSON) -> Step:
    """Returns a step with the versions of children that were chosen when it was made, where the program gives none."""
    children = [
        replace(child, program=member(old, "program"))
        if "@" not in child.program and str(member(old, "program")).startswith(f"{child.program}@")
        else child
        for child, old in _beside(step.children, member(body, "children"))
    ]
    return replace(step, children=tuple(children))


def _beside(made: Sequence[T], recorded: JSON) -> Iterator[tuple[T, JSON]]:
    """Yields what a step asks for with what its record has in the same place, None if it has nothing there."""
    for index, each in enumerate(made):
        yield each, recorded[index] if isinstance(recorded, list) and index < len(cast("list[Any]", recorded)) else None


def _lease(record: Record) -> Lease:
    """Returns what a step is made with: the run, and the number of the record before."""
    return Lease(
        run=record.run, program="", owner="", fence=0, status="running", state=None, inflight=None, seq=record.seq - 1,
        head="", outbox=0, paused_at=None, parent=None, parent_key=None, session=None, limits=Limits(), spent=Spent(),
        output=None, error=None, created=0.0,
    )  # fmt: skip
