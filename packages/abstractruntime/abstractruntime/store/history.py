"""Ledgers as they are stored, for who verifies and exports them: values of any type, from rows that anybody may have
changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, func, select, union

from abstractcore.database import Statement

from .store import Store
from .tables import artifacts, ledger, runs

_b = bindparam
_PAGE: Final = 500
_COUNT: Final = select(func.count()).where(ledger.c.run == _b("run")).scalar_subquery().label("records")
_RUN: Final = Statement(select(*runs.c, _COUNT).where(runs.c.id == _b("run")))
_COUNT_ONLY: Final = Statement(select(func.count().label("records")).where(ledger.c.run == _b("run")))
_RECORDS: Final = Statement(
    select(ledger)
    .where(ledger.c.run == _b("run"), ledger.c.seq > _b("after"))
    .order_by(ledger.c.seq)
    .limit(_b("limit"))
)
_ARTIFACT: Final = Statement(
    select(artifacts.c.body).where(artifacts.c.run == _b("run"), artifacts.c.sha256 == _b("sha256"))
)
_ARTIFACTS: Final = Statement(
    select(artifacts.c.sha256).where(artifacts.c.run == _b("run")).order_by(artifacts.c.sha256)
)
_IDS: Final = union(select(runs.c.id), select(ledger.c.run)).subquery()
_NEXT_IDS: Final = Statement(select(_IDS.c.id).where(_IDS.c.id > _b("after")).order_by(_IDS.c.id).limit(_b("limit")))
_RECORD: Final = Statement(select(ledger).where(ledger.c.run == _b("run"), ledger.c.seq == _b("seq")))


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run at one moment: its row, None if it is gone, and how many records its ledger has."""

    id: str
    row: Any
    records: int


def stored_run(store: Store, id: str) -> StoredRun:
    """Returns the row of a run, and the number of its records, as of one moment."""

    def work(connection: Connection) -> StoredRun:
        row = _RUN.first(connection, run=id)
        if row is None:
            return StoredRun(id, None, _COUNT_ONLY.first(connection, run=id).records)
        return StoredRun(id, row, row.records)

    return store.database.read(work)


def stored_records(store: Store, id: str, limit: int | None = None) -> Iterator[Any]:
    """Yields the rows of a ledger in their order, at most `limit`. Rows after one without a number are left out."""
    after = 0
    left = limit
    while left is None or left > 0:
        page = _records_after(store, id, after, _PAGE if left is None else min(left, _PAGE))
        yield from page
        if not page or type(page[-1].seq) is not int:
            return
        after = page[-1].seq
        left = None if left is None else left - len(page)


def _records_after(store: Store, id: str, after: int, limit: int) -> list[Any]:
    return store.database.read(lambda connection: _RECORDS.all(connection, run=id, after=after, limit=limit))


def stored_record(store: Store, id: str, seq: int) -> Any:
    """Returns the row of one record; None without it."""
    return store.database.read(lambda connection: _RECORD.first(connection, run=id, seq=seq))


def stored_artifact(store: Store, id: str, sha256: str) -> Any:
    """Returns the value of a run that is stored apart by this hash; None without it."""
    row = store.database.read(lambda connection: _ARTIFACT.first(connection, run=id, sha256=sha256))
    return None if row is None else row.body


def stored_artifacts(store: Store, id: str) -> list[Any]:
    """Returns the hashes of the values of a run that are stored apart."""
    return [row.sha256 for row in store.database.read(lambda connection: _ARTIFACTS.all(connection, run=id))]


def stored_ids(store: Store) -> Iterator[Any]:
    """Yields the ids of all runs, and of ledgers whose run is gone, in their order: what is no text comes last."""
    after = ""
    while page := _ids_after(store, after):
        yield from (row.id for row in page)
        if type(page[-1].id) is not str:
            return
        after = page[-1].id


def _ids_after(store: Store, after: str) -> list[Any]:
    return store.database.read(lambda connection: _NEXT_IDS.all(connection, after=after, limit=_PAGE))
