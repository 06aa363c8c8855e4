"""Batches: records, their contents and the sums of their costs, written in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, table, text
from sqlalchemy import column as column_of

from ..database import Database, Statement, copy_rows, lock
from .contents import StoredContent, packed, text_of
from .process_locks import ProcessLock
from .rows import EncodedRecord
from .spending import SUMMED, KnownSums, SpendChanges
from .tables import IDS, POSTGRESQL, TEXTS, contents, messages, records

_CHUNK: Final = 100
"""How many values a statement looks for at once."""


class BatchWriter:
    """Writes batches to a database. A record whose trace id is stored replaces the stored one, and its costs: what is
    written twice, as after a commit whose outcome was unknown, counts once.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = KnownSums()
        self._months: set[int] = set()
        self._lock = ProcessLock()

    def write(self, batch: Sequence[EncodedRecord]) -> set[str]:
        """Writes a batch; returns the tags whose values were too many, "" for too many tags. Raises `DatabaseError`."""
        latest: dict[str, EncodedRecord] = {}
        for record in batch:
            earlier = latest.get(record.values["trace_id"])
            if earlier is not None:
                _continue(record.values, earlier.values["started_at"], earlier.values["month"])
            latest[record.values["trace_id"]] = record
        if self._database.dialect == "postgresql":
            self._make_partitions({record.values["month"] for record in batch})
        with self._lock:
            try:
                return self._database.write(lambda connection: self._write(connection, latest))
            except BaseException:
                self._months.clear()  # another process may have removed one
                raise

    def _write(self, connection: Connection, batch: dict[str, EncodedRecord]) -> set[str]:
        rows: _Rows = _PostgreSQLRows(connection) if connection.dialect.name == "postgresql" else _Rows(connection)
        rows.begin()
        changes = SpendChanges(self._known)
        for old in _found(connection, _FIND_RECORDS, list(batch)):
            changes.take_out(old)
            _continue(batch[old.trace_id].values, old.started_at, old.month)
            _DELETE_MESSAGES.run(connection, record=old.id)
            _DELETE_RECORD.run(connection, id=old.id)
        ids = rows.new_ids(len(batch))
        numbers = rows.content_ids([content for record in batch.values() for _, content in record.contents])
        lines: list[dict[str, Any]] = []
        for id, record in zip(ids, batch.values(), strict=True):
            changes.add(SimpleNamespace(**record.values))
            record.values["id"] = id
            lines += [
                {
                    "record": id,
                    "position": position,
                    "content": numbers[content.digest],
                    "month": record.values["month"],
                }
                for position, content in record.contents
            ]
        rows.add_records([record.values for record in batch.values()])
        rows.add_messages(lines)
        changes.write(connection)
        return changes.folded

    def _make_partitions(self, months: set[int]) -> None:
        """Makes the partitions of months, in a transaction of their own: it locks the tables."""
        missing = sorted(months - self._months)
        if not missing:
            return

        def make(connection: Connection) -> None:
            lock(connection, "traces_partitions")
            for month in missing:
                for name in (records.name, messages.name):
                    sql = f"CREATE TABLE IF NOT EXISTS {name}_{month} PARTITION OF {name} FOR VALUES IN ({month})"
                    connection.execute(text(sql))

        self._database.write(make)
        self._months.update(missing)


class _Rows:
    """Writes rows to SQLite, where a transaction that writes is alone."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def begin(self) -> None:
        """Does nothing: the file is locked."""

    def new_ids(self, count: int) -> Sequence[int]:
        """Returns numbers for new records."""
        return self._after(_LAST_RECORD, count)

    def content_ids(self, wanted: Iterable[StoredContent]) -> dict[bytes, int]:
        """Writes the contents that are not stored; returns the numbers of all by their digests."""
        by_digest = {content.digest: content for content in wanted}
        found = {bytes(row.digest): row.id for row in _found(self.connection, _FIND_CONTENTS, list(by_digest))}
        new = [content for digest, content in by_digest.items() if digest not in found]
        return found | self.add_contents(new) if new else found

    def add_contents(self, new: Sequence[StoredContent]) -> dict[bytes, int]:
        """Writes contents; returns their numbers by their digests."""
        numbered = dict(zip([content.digest for content in new], self._after(_LAST_CONTENT, len(new)), strict=True))
        rows: list[dict[str, Any]] = []
        texts: list[dict[str, Any]] = []
        for content in new:
            way, body = packed(content.body)
            words = text_of(content.body) if content.is_searched else ""
            id = numbered[content.digest]
            row = {"id": id, "digest": content.digest, "packed": way, "searched": int(bool(words)), "body": body}
            rows.append(row)
            if words:
                texts.append({"id": id, "text": words})
        _ADD_CONTENT.many(self.connection, rows)
        _ADD_TEXT.many(self.connection, texts)
        return numbered

    def add_records(self, rows: Sequence[dict[str, Any]]) -> None:
        """Writes rows of records."""
        _ADD_RECORD.many(self.connection, rows)

    def add_messages(self, rows: Sequence[dict[str, Any]]) -> None:
        """Writes which contents the records have."""
        _ADD_MESSAGE.many(self.connection, rows)

    def _after(self, last: Statement, count: int) -> Sequence[int]:
        first = (last.first(self.connection)[0] or 0) + 1
        return range(first, first + count)


class _PostgreSQLRows(_Rows):
    """Writes rows to PostgreSQL, by COPY; other processes write at the same time."""

    def begin(self) -> None:
        """Keeps contents from being removed as unused before this transaction has used them."""
        self.connection.execute(_LOCK_MESSAGES)

    def new_ids(self, count: int) -> Sequence[int]:
        rows = self.connection.execute(_NEXT_IDS, {"count": count})
        return [row[0] for row in rows]

    def add_contents(self, new: Sequence[StoredContent]) -> dict[bytes, int]:
        self.connection.execute(_STAGE)
        rows = [
            (id, content.digest, *packed(content.body), text_of(content.body) if content.is_searched else "")
            for id, content in zip(self.new_ids(len(new)), new, strict=True)
        ]
        copy_rows(self.connection, _STAGED, ("id", "digest", "packed", "body", "text"), rows)
        self.connection.execute(_ADD_STAGED)
        digests = [content.digest for content in new]
        return {bytes(row.digest): row.id for row in _found(self.connection, _FIND_CONTENTS, digests)}

    def add_records(self, rows: Sequence[dict[str, Any]]) -> None:
        _copy(self.connection, POSTGRESQL.records, rows)

    def add_messages(self, rows: Sequence[dict[str, Any]]) -> None:
        _copy(self.connection, POSTGRESQL.messages, rows)


def _continue(values: dict[str, Any], started_at: float, month: int) -> None:
    """Lets an interaction that was suspended have begun when it first did."""
    if values["kind"] == "interaction" and started_at < values["started_at"]:
        values |= {"started_at": started_at, "month": month}


def _copy(connection: Connection, target: Any, rows: Sequence[dict[str, Any]]) -> None:
    names = [column.name for column in target.columns]
    copy_rows(connection, target, names, [[row[name] for name in names] for row in rows])


def _found(connection: Connection, statement: Statement, values: Sequence[Any]) -> Iterator[Any]:
    """Yields the rows that a statement finds for values, some at a time."""
    for start in range(0, len(values), _CHUNK):
        some = values[start : start + _CHUNK]
        padded = [*some, *[some[-1]] * (_CHUNK - len(some))]
        yield from statement.all(connection, **{f"v{number}": value for number, value in enumerate(padded)})


def _among(column: Any, *names: Any) -> Any:
    return select(*names).where(column.in_([bindparam(f"v{number}", type_=column.type) for number in range(_CHUNK)]))


_FIND_RECORDS: Final = Statement(_among(records.c.trace_id, *(records.c[name] for name in SUMMED)))
_FIND_CONTENTS: Final = Statement(_among(contents.c.digest, contents.c.id, contents.c.digest))
_DELETE_RECORD: Final = Statement(delete(records).where(records.c.id == bindparam("id")))
_DELETE_MESSAGES: Final = Statement(delete(messages).where(messages.c.record == bindparam("record")))
_LAST_RECORD: Final = Statement(select(func.max(records.c.id)))
_LAST_CONTENT: Final = Statement(select(func.max(contents.c.id)))
_ADD_RECORD: Final = Statement(insert(records))
_ADD_CONTENT: Final = Statement(insert(contents))
_ADD_MESSAGE: Final = Statement(insert(messages))
_TEXTS: Final = table(TEXTS, column_of("rowid"), column_of("text"))
_ADD_TEXT: Final = Statement(insert(_TEXTS).values(rowid=bindparam("id"), text=bindparam("text")))
_NEXT_IDS: Final = text(f"SELECT nextval('{IDS}') FROM generate_series(1, :count)")
_LOCK_MESSAGES: Final = text(f"LOCK TABLE {messages.name} IN ROW EXCLUSIVE MODE")
_STAGED: Final = table("traces_staged")
_STAGE: Final = text(
    "CREATE TEMPORARY TABLE IF NOT EXISTS traces_staged"
    " (id bigint, digest bytea, packed smallint, body bytea, text text) ON COMMIT DELETE ROWS"
)
_ADD_STAGED: Final = text(
    f"INSERT INTO {contents.name} (id, digest, packed, searched, body, search)"
    " SELECT id, digest, packed, CASE WHEN text = '' THEN 0 ELSE 1 END, body, to_tsvector('simple', text)"
    " FROM traces_staged ORDER BY digest"
    " ON CONFLICT (digest) DO NOTHING"
)
