"""Entries of a response cache in SQLite or PostgreSQL."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Final

from ...database import (
    Database,
    DatabaseError,
    Retries,
    Schema,
    Statement,
)  # first: without SQLAlchemy, it says what to install

# isort: split
from sqlalchemy import (
    Column,
    Connection,
    Float,
    LargeBinary,
    MetaData,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    select,
)

from ...errors import SchemaError
from .entries import Entry, read, written

__all__ = ["DatabaseEntries", "DatabaseError"]

_PRUNED_EVERY: Final = 100
"""Entries that are written between two removals of old ones."""
_RETRIES: Final = Retries(attempts=2)
"""A call waits for the cache: asking again is better than to wait for long."""
_tables = MetaData()
_responses = Table(
    "cached_responses",
    _tables,
    Column("key", Text, primary_key=True),
    Column("stored_at", Float(53), nullable=False, index=True),
    Column("checksum", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
)
SCHEMA: Final = Schema("cached_responses_version", _tables, 1)
_columns: Any = _responses.c
_find = Statement(select(_columns.stored_at, _columns.checksum, _columns.body).where(_columns.key == bindparam("id")))
_remove = Statement(delete(_responses).where(_columns.key == bindparam("id")))
_add = Statement(
    insert(_responses).values(
        key=bindparam("id"), stored_at=bindparam("at"), checksum=bindparam("sum"), body=bindparam("text")
    )
)
_count = Statement(select(func.count().label("number")).select_from(_responses))
_expire = Statement(delete(_responses).where(_columns.stored_at < bindparam("oldest")))
_first = select(_columns.key).order_by(_columns.stored_at).limit(bindparam("extra"))
_shrink = Statement(delete(_responses).where(_columns.key.in_(_first.scalar_subquery())))
_clear = Statement(delete(_responses))


class DatabaseEntries:
    """Entries of the database at a path or URL, which several processes share. Opened at first use, and again after a
    failure: each method may raise `DatabaseError`.
    """

    def __init__(self, place: Any, max_entries: int) -> None:
        self._place = place
        self._max_entries = max_entries
        self._opened_once: dict[str, Database] = {}
        self._written = 0

    def get(self, key: str) -> Entry | None:
        """Returns the entry; None without one, and for a row that is damaged."""
        row = self._opened().read(lambda connection: _find.first(connection, id=key))
        if row is None:
            return None
        try:
            body, stored_at = bytes(memoryview(row.body)), float(row.stored_at)
            if _checksum(key, body) != row.checksum or not math.isfinite(stored_at):
                return None
            return read(body, stored_at)
        except (AttributeError, LookupError, SchemaError, TypeError, ValueError):  # of another version of this package
            return None

    def put(self, key: str, entry: Entry, oldest: float | None) -> None:
        """Replaces the entry; at times, removes old ones."""
        body = written(entry)
        prunes = self._written % _PRUNED_EVERY == 0
        self._written += 1

        def work(connection: Connection) -> None:
            _remove.run(connection, id=key)
            _add.run(connection, id=key, at=entry.stored_at, sum=_checksum(key, body), text=body)
            if prunes:
                self._prune(connection, oldest)

        self._opened().write(work)

    def clear(self) -> None:
        """Removes all entries."""
        self._opened().write(_clear.run)

    def _prune(self, connection: Connection, oldest: float | None) -> None:
        if oldest is not None:
            _expire.run(connection, oldest=oldest)
        extra = _count.first(connection).number - self._max_entries
        if extra > 0:
            _shrink.run(connection, extra=extra)

    def _opened(self) -> Database:
        for database in self._opened_once.values():
            return database
        opened = Database(self._place, schema=SCHEMA, retries=_RETRIES)
        database = self._opened_once.setdefault("", opened)
        if database is not opened:  # another thread was faster
            opened.close()
        return database


def _checksum(key: str, body: bytes) -> str:
    return hashlib.sha256(key.encode() + body).hexdigest()
