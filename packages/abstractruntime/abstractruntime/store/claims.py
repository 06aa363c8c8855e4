"""Leases: who holds which run, until when. A claim raises the fence, by which a late holder is recognized."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Integer, bindparam, func, or_, select, update

from abstractcore.database import Statement

from ..json_documents import parsed
from ..records import Limits, OpenWait, Spent
from .leases import PUT_OFF_SECONDS, Lease
from .tables import inbox, runs, waits

_log = logging.getLogger("abstractruntime")
_b = bindparam
_EXTEND: Final = Statement(
    update(runs)
    .where(runs.c.id == _b("the_id"), runs.c.fence == _b("the_fence"), runs.c.owner == _b("the_owner"))
    .values(due_at=_b("due_at"))
)
_RELEASE: Final = Statement(
    update(runs)
    .where(runs.c.id == _b("the_id"), runs.c.fence == _b("the_fence"), runs.c.owner == _b("the_owner"))
    .values(due_at=_b("due_at"), owner=None)
)
_COMMANDS: Final = Statement(
    select(inbox.c.key).where(inbox.c.run == _b("run"), inbox.c.state == "queued", inbox.c.kind == "command")
)
_DUE_PROGRAMS: Final = Statement(
    select(runs.c.program, func.count().label("count")).where(runs.c.due_at <= _b("now")).group_by(runs.c.program)
)
_MOST_RUNS: Final = 50
"""The waits of so many runs are read at once."""


def _one_of(column: ColumnElement[Any], count: int) -> ColumnElement[bool]:
    return or_(*(column == _b(f"value_{index}") for index in range(count)))


def _values(values: Iterable[str]) -> dict[str, str]:
    return {f"value_{index}": value for index, value in enumerate(values)}


_CLAIM_RUN: Final = Statement(
    update(runs)
    .where(runs.c.id == _b("the_id"), or_(runs.c.owner.is_(None), runs.c.due_at <= _b("now")))
    .values(owner=_b("new_owner"), fence=runs.c.fence + 1, due_at=_b("new_due_at"))
    .returning(*runs.c)
)


@lru_cache(maxsize=64)
def _next_due(programs: int) -> Statement:
    """Returns the statement for the time when the next run of this number of programs is due."""
    due_at = runs.c.due_at
    return Statement(
        select(due_at).where(due_at.is_not(None), _one_of(runs.c.program, programs)).order_by(due_at).limit(1)
    )


@lru_cache(maxsize=64)
def _waits(count: int) -> Statement:
    """Returns the statement for the waits of this number of runs."""
    return Statement(select(waits).where(_one_of(waits.c.run, count)).order_by(waits.c.opened, waits.c.key))


@lru_cache(maxsize=64)
def _claim(programs: int) -> Statement:
    """Returns the statement that claims due runs of this number of programs."""
    due = (
        select(runs.c.id)
        .where(runs.c.due_at <= _b("now"), _one_of(runs.c.program, programs))
        .order_by(runs.c.due_at)
        .limit(_b("limit", type_=Integer))
        .with_for_update(skip_locked=True)
    )
    claimed = (
        update(runs)
        .where(runs.c.id.in_(due.scalar_subquery()))
        .values(owner=_b("new_owner"), fence=runs.c.fence + 1, due_at=_b("new_due_at"))
        .returning(*runs.c)
    )
    return Statement(claimed)


def claim(
    connection: Connection, programs: Sequence[str], owner: str, limit: int, now: float, ttl: float
) -> list[Lease]:
    """Takes due runs of these programs, the ones that are due longest first."""
    if not programs or limit < 1:
        return []
    claimed = {"now": now, "new_owner": owner, "new_due_at": now + ttl, "limit": limit, **_values(programs)}
    while rows := _claim(len(programs)).all(connection, **claimed):
        found = _open_waits(connection, [row.id for row in rows])
        if leases := [lease for row in rows if (lease := _readable(connection, row, found, now)) is not None]:
            return leases
    return []


def claim_run(connection: Connection, run: str, owner: str, now: float, ttl: float) -> Lease | None:
    """Takes one run, whether it is due or not; None if another worker holds it."""
    row = _CLAIM_RUN.first(connection, the_id=run, now=now, new_owner=owner, new_due_at=now + ttl)
    return None if row is None else _readable(connection, row, _open_waits(connection, [run]), now)


def _open_waits(connection: Connection, ids: Sequence[str]) -> dict[str, list[Any]]:
    """Returns the rows of the waits of runs, by run: many runs take few queries."""
    found: dict[str, list[Any]] = {id: [] for id in ids}
    for begin in range(0, len(ids), _MOST_RUNS):
        page = ids[begin : begin + _MOST_RUNS]
        for row in _waits(len(page)).all(connection, **_values(page)):
            found[row.run].append(row)
    return found


def _readable(connection: Connection, row: Any, waits: Mapping[str, Sequence[Any]], now: float) -> Lease | None:
    """Returns the lease of a run; None for a row that was damaged, which is put off for an hour."""
    try:
        return _lease(row, waits[row.id], now)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        _log.error("the run %r cannot be read, verify it: abstractcore runs verify %s: %r", row.id, row.id, error)
        _RELEASE.run(connection, the_id=row.id, the_fence=row.fence, the_owner=row.owner, due_at=now + PUT_OFF_SECONDS)
        return None


def _lease(row: Any, waits: Sequence[Any], now: float) -> Lease:
    found = [
        OpenWait(each.run, each.key, each.reason, each.deadline, parsed(each.asked), each.opened) for each in waits
    ]
    lease = Lease(
        run=row.id, program=row.program, owner=row.owner, fence=row.fence, status=row.status, state=row.state,
        inflight=None if row.inflight is None else parsed(row.inflight), seq=row.seq, head=row.head,
        outbox=row.outbox, paused_at=row.paused_at, parent=row.parent, parent_key=row.parent_key,
        session=row.session, limits=Limits.from_data(parsed(row.limits)), spent=Spent.from_data(parsed(row.spent)),
        output=row.output, error=row.error, created=row.created, waits={wait.key: wait for wait in found},
    )  # fmt: skip
    lease.hold(now, row.due_at)
    return lease


def extend(connection: Connection, lease: Lease, due_at: float) -> frozenset[str] | None:
    """Lets a lease last until `due_at`; returns the commands that wait for its run, None if another one has it."""
    if _EXTEND.run(connection, the_id=lease.run, the_fence=lease.fence, the_owner=lease.owner, due_at=due_at) != 1:
        return None
    return frozenset(row.key for row in _COMMANDS.all(connection, run=lease.run))


def release(connection: Connection, lease: Lease, due_at: float) -> bool:
    """Gives a run back as it is, to be claimed at `due_at`; False if another one has it."""
    return _RELEASE.run(connection, the_id=lease.run, the_fence=lease.fence, the_owner=lease.owner, due_at=due_at) == 1


def next_due(connection: Connection, programs: Sequence[str]) -> float | None:
    """Returns when the next run of these programs is due, held ones at the end of their lease."""
    row = _next_due(len(programs)).first(connection, **_values(programs)) if programs else None
    return None if row is None else row.due_at


def due_programs(connection: Connection, now: float) -> dict[str, int]:
    """Returns how many runs of each program are due."""
    return {row.program: row.count for row in _DUE_PROGRAMS.all(connection, now=now)}
