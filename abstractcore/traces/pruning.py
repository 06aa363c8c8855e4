"""Removes old records, and the contents that no other record has."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, select, text
from sqlalchemy import column as column_of
from sqlalchemy import table as table_of

from ..database import Database, DatabaseError, Statement
from ..errors import InvalidInputError
from .contents import stored_text
from .tables import TEXTS, contents, messages, records, scores

_CHUNK: Final = 500
"""How many records a transaction removes: others write between two of them."""
_FULL: Final = 0.9
"""The part of `keep_bytes` that is left after removing the oldest records."""
_EVERY_RECORDS: Final = 10_000
_EVERY_SECONDS: Final = 600.0
_SECONDS_A_DAY: Final = 86_400
_log = logging.getLogger("abstractcore.traces")


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many records, and how many contents, were removed."""

    records: int = 0
    contents: int = 0

    def __add__(self, other: Pruned) -> Pruned:
        return Pruned(self.records + other.records, self.contents + other.contents)


class Pruner:
    """Keeps a database within its bounds."""

    def __init__(self, database: Database, keep_days: float | None, keep_bytes: int | None) -> None:
        if keep_bytes is not None and database.dialect != "sqlite":
            hint = "Use keep_days: PostgreSQL gives the space of removed rows back when it likes."
            raise InvalidInputError("keep_bytes is for SQLite files", path="keep_bytes", hint=hint)
        self._keep_days = keep_days
        self._keep_bytes = keep_bytes
        self._written = _EVERY_RECORDS
        self._next_time = 0.0

    def after(self, database: Database, count: int) -> None:
        """Prunes now and then, after `count` records were written. Failures are logged."""
        if self._keep_days is None and self._keep_bytes is None:
            return
        self._written += count
        if self._written < _EVERY_RECORDS and time.monotonic() < self._next_time:
            return
        self._written, self._next_time = 0, time.monotonic() + _EVERY_SECONDS
        try:
            self.prune(database, time.time())
        except DatabaseError as error:
            _log.warning("old traces were not removed: %s", error)

    def prune(self, database: Database, now: float) -> Pruned:
        """Removes what is out of bounds."""
        total = Pruned()
        if self._keep_days is not None:
            oldest = now - self._keep_days * _SECONDS_A_DAY
            while (removed := database.write(lambda connection: _remove(connection, oldest, _CHUNK))).records:
                total += removed
        if self._keep_bytes is not None and database.read(_size) > self._keep_bytes:
            enough = self._keep_bytes * _FULL
            while database.read(_size) > enough:
                removed = database.write(lambda connection: _remove(connection, None, _CHUNK))
                if not removed.records:
                    break
                total += removed
        return total


def _remove(connection: Connection, before: float | None, limit: int) -> Pruned:
    """Removes the oldest records, with what belongs to them alone."""
    if connection.dialect.name == "postgresql":
        # A transaction that uses stored contents holds a lock which excludes this one.
        connection.execute(text(f"LOCK TABLE {messages.name} IN SHARE ROW EXCLUSIVE MODE"))
    statement = select(records.c.id, records.c.trace_id).order_by(records.c.started_at).limit(limit)
    if before is not None:
        statement = statement.where(records.c.started_at < before)
    rows = connection.execute(statement).all()
    if not rows:
        return Pruned()
    ids, traces = [row.id for row in rows], [row.trace_id for row in rows]
    used = select(messages.c.content).where(messages.c.record.in_(ids)).distinct()
    candidates = [row.content for row in connection.execute(used)]
    connection.execute(delete(messages).where(messages.c.record.in_(ids)))
    connection.execute(delete(records).where(records.c.id.in_(ids)))
    connection.execute(delete(scores).where(scores.c.trace_id.in_(traces)))
    removed = sum(_remove_unused(connection, candidates[at : at + _CHUNK]) for at in range(0, len(candidates), _CHUNK))
    return Pruned(len(rows), removed)


def _remove_unused(connection: Connection, candidates: list[int]) -> int:
    """Removes the contents among `candidates` that no record has."""
    is_used = select(messages.c.record).where(messages.c.content == contents.c.id).exists()
    unused = select(contents.c.id, contents.c.packed, contents.c.body, contents.c.searched).where(
        contents.c.id.in_(candidates), ~is_used
    )
    rows: list[Any] = [*connection.execute(unused)]
    if connection.dialect.name == "sqlite":
        # The index has no texts of its own: it needs those of a row that is removed, and keeps those of a damaged one.
        texts = [(row.id, stored_text(row.packed, row.body)) for row in rows if row.searched]
        _REMOVE_TEXT.many(connection, [{"command": "delete", "id": id, "text": words} for id, words in texts if words])
    connection.execute(delete(contents).where(contents.c.id.in_([row.id for row in rows])))
    return len(rows)


def _size(connection: Connection) -> int:
    """Returns the bytes of a SQLite file that are in use."""
    return connection.execute(_SIZE).scalar_one()


_SIZE: Final = text(
    "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_TEXTS: Final = table_of(TEXTS, column_of(TEXTS), column_of("rowid"), column_of("text"))
_REMOVE_TEXT: Final = Statement(
    insert(_TEXTS).values({TEXTS: bindparam("command"), "rowid": bindparam("id"), "text": bindparam("text")})
)
