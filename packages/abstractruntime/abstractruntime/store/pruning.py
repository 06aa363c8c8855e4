"""Deletes runs that have ended: their rows, ledgers, waits, items and values; and events that nobody waited for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, exists, select

from abstractcore.database import Statement
from abstractcore.errors import InvalidInputError

from ..records import ENDED
from .store import Store
from .tables import artifacts, inbox, ledger, runs, waits

_b = bindparam
_PAGE: Final = 200
_MOST_RECORDS: Final = 5000
"""A transaction deletes no more records than these, or one run."""
_parents: Final = runs.alias("parents")
_HAS_OPEN_PARENT: Final = exists().where(_parents.c.id == runs.c.parent, _parents.c.status.not_in(sorted(ENDED)))
_MAY_GO: Final[ColumnElement[bool]] = and_(
    runs.c.updated <= _b("before"), runs.c.owner.is_(None), runs.c.due_at.is_(None), ~_HAS_OPEN_PARENT
)
_OF_RUN: Final = tuple(
    Statement(delete(table).where(table.c.run == _b("the_run"))) for table in (ledger, waits, inbox, artifacts)
)
_KEPT: Final = and_(inbox.c.state == "kept", inbox.c.created <= _b("before"))
_OLD_EVENTS: Final = Statement(select(inbox.c.number).where(_KEPT).order_by(inbox.c.number).limit(_b("limit")))
_DELETE_EVENT: Final = Statement(delete(inbox).where(inbox.c.number == _b("the_number"), _KEPT))
_DELETE: Final = Statement(delete(runs).where(runs.c.id == _b("the_run")))


def prune(
    store: Store,
    older_than_seconds: float,
    *,
    statuses: Collection[str] = ENDED,
    keep: Collection[str] = (),
    dry_run: bool = False,
) -> list[str]:
    """Deletes the runs that ended longer ago than this, and the events that were kept for longer, as no run has waited
    for them; in small transactions. Returns the ids of the runs.

    `statuses` are those that are deleted, of `completed`, `failed` and `cancelled`; `keep` are ids of runs that stay.
    With `dry_run` nothing is deleted. A run stays that is held, that has sent what is not delivered yet, or whose
    parent has not ended. An id of a deleted run or of one of its items can be used again: nobody knows it any more.

    Raises `InvalidInputError` for another status or time.
    """
    wrong = sorted({*statuses} - ENDED)
    if wrong:
        raise InvalidInputError(f"expected some of {', '.join(sorted(ENDED))}, got {wrong}", path="statuses")
    seconds: Any = older_than_seconds
    if type(seconds) not in (int, float) or not seconds >= 0:
        raise InvalidInputError(f"expected seconds, got {older_than_seconds!r}", path="older_than_seconds")
    before = store.time() - older_than_seconds
    pruned: list[str] = []
    for status in sorted({*statuses}):
        pruned += _prune_status(store, status, before, {*keep}, dry_run)
    while not dry_run and store.database.write(lambda connection: _delete_events(connection, before)):
        continue
    return pruned


def _delete_events(connection: Connection, before: float) -> int:
    """Deletes some of the events that are kept too long; returns how many it has found."""
    found = _OLD_EVENTS.all(connection, before=before, limit=_PAGE)
    for row in found:  # another transaction may have given it to a run meanwhile: it is not kept any more then
        _DELETE_EVENT.run(connection, the_number=row.number, before=before)
    return len(found)


def _prune_status(store: Store, status: str, before: float, keep: set[str], dry_run: bool) -> list[str]:
    pruned: list[str] = []
    after = (0.0, "")
    while page := store.database.read(lambda connection, after=after: _page(connection, status, before, after)):
        rows = [row for row in page if row.id not in keep]
        if dry_run:
            pruned += [row.id for row in rows]
        else:
            for group in _groups(rows):
                pruned += store.database.write(
                    lambda connection, group=group: [id for id in group if _delete(connection, id, before)]
                )
        after = (page[-1].created, page[-1].id)
    return pruned


def _page(connection: Connection, status: str, before: float, after: tuple[float, str]) -> Sequence[Any]:
    created, id = after
    follows = (runs.c.created > created) | ((runs.c.created == created) & (runs.c.id > id))
    chosen = select(runs.c.id, runs.c.seq, runs.c.created).where(runs.c.status == status, _MAY_GO, follows)
    statement = chosen.order_by(runs.c.created, runs.c.id).limit(_PAGE)
    return connection.execute(statement, {"before": before}).all()


def _groups(rows: Sequence[Any]) -> list[list[str]]:
    """Returns the ids of rows, together as many as one transaction deletes."""
    groups: list[list[str]] = []
    records = _MOST_RECORDS
    for row in rows:
        if records + row.seq > _MOST_RECORDS:
            groups.append([])
            records = 0
        groups[-1].append(row.id)
        records += row.seq
    return groups


def _delete(connection: Connection, id: str, before: float) -> bool:
    """Deletes a run; False if it may not be deleted any more."""
    chosen = select(runs.c.id).where(runs.c.id == id, runs.c.status.in_(sorted(ENDED)), _MAY_GO)
    if connection.execute(chosen.with_for_update(of=runs), {"before": before}).first() is None:
        return False
    for statement in _OF_RUN:
        statement.run(connection, the_run=id)
    return _DELETE.run(connection, the_run=id) == 1
