"""Rows as values. A row that was changed by hand or damaged is a `LedgerError` that names its run and its record."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from ..errors import LedgerError, RunNotFoundError
from ..json_documents import digest, parsed
from ..programs import Item
from ..records import Limits, OpenWait, Record, RunInfo, Spent
from .bodies import decoded

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What is raised for values that nobody writes."""


def not_found(id: str) -> RunNotFoundError:
    """Returns the error for a run that does not exist."""
    return RunNotFoundError(f"there is no run {id!r}", run=id, hint="List the runs: abstractcore runs list")


def run_info(row: Any) -> RunInfo:
    """Returns what is known of a run."""
    with _reading(row.id, 0, "the row"):
        return RunInfo(
            id=row.id, program=row.program, status=row.status, created=row.created, updated=row.updated, seq=row.seq,
            head=row.head, state=_json(row.state), inflight=_json(row.inflight), output=_json(row.output),
            error=_json(row.error), due_at=row.due_at, owner=row.owner, fence=row.fence, paused_at=row.paused_at,
            parent=row.parent, session=row.session, limits=Limits.from_data(parsed(row.limits)),
            spent=Spent.from_data(parsed(row.spent)),
        )  # fmt: skip


def record(row: Any, artifact: Callable[[str], Any]) -> Record:
    """Returns a record; `artifact` returns a value that is stored apart, None without it."""
    with _reading(row.run, row.seq, "the record"):
        if type(row.seq) is not int or type(row.at) not in (int, float):
            raise ValueError("its number or its time is no number")
        if row.body is None:
            return Record(row.run, row.seq, row.kind, row.at, None, row.redacted or "", row.hash)
        if type(row.body) is not bytes:
            raise ValueError("its body is not made of bytes")
        return Record(row.run, row.seq, row.kind, row.at, decoded(row.body, artifact), digest(row.body), row.hash)


def open_wait(row: Any) -> OpenWait:
    """Returns a wait."""
    with _reading(row.run, row.opened, "the wait of the record"):
        return OpenWait(row.run, row.key, row.reason, row.deadline, parsed(row.asked), row.opened)


def item(row: Any, now: float) -> tuple[Item, Spent]:
    """Returns an item of the inbox that is taken now, and what it brings to the run's account: of a child, its own."""
    with _reading(row.run, 0, f"the item {row.id!r} in the inbox"):
        data = parsed(row.payload)
        if row.kind != "child":
            return Item(row.id, row.kind, data, row.key, now, row.sender), Spent()
        spent = Spent.from_data(data["spent"])
        return Item(row.id, row.kind, data["payload"], row.key, now, row.sender, data.get("error")), spent


def is_created_by(row: Any, run: str, program: str, input_sha256: str) -> bool:
    """Whether the first record of a run has this program and input; False if it was deleted."""
    with _reading(run, 1, "the record"):
        if row is None or row.body is None:
            return False
        first = parsed(row.body)
        return (first["program"], first["input"]) == (program, input_sha256)


@contextmanager
def _reading(run: Any, seq: Any, what: str) -> Generator[None]:
    try:
        yield
    except DAMAGED as error:
        number = seq if type(seq) is int else 0
        where = f"{what} {number} of the run {run!r}" if number else f"{what} of the run {run!r}"
        hint = f"See what is wrong: abstractcore runs verify {run}"
        raise LedgerError(f"{where} cannot be read: {error}", run=str(run), seq=number, hint=hint) from error


def _json(data: Any) -> Any:
    return None if data is None else parsed(data)
