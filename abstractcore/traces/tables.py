"""The tables of traces, in SQLite and PostgreSQL. Times are seconds since the epoch, costs integer picodollars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Sequence,
    SmallInteger,
    Table,
    Text,
    event,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

from ..database import Schema

VERSION: Final = 3
IDS: Final = "traces_ids"
"""PostgreSQL's sequence of the numbers of records and contents; SQLite counts on from the highest one."""
TEXTS: Final = "traces_texts"
"""SQLite's index of words, whose row ids are those of contents. PostgreSQL has a column of the contents instead."""
FILES_FROM: Final = 1_000_000
"""The first position of the files of a record: they are below its messages, which name them by their SHA-256."""

_number = BigInteger().with_variant(Integer, "sqlite")
_time = Float(53)


class RawBytes(LargeBinary):
    """Bytes, read as the driver returns them: without a copy for each value that is written."""

    cache_ok = True

    def bind_processor(self, dialect: Any) -> Any:
        """Returns None: the drivers take bytes."""
        return None

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        """Returns None: the drivers return bytes."""
        return None


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one kind of database. Statements of those of SQLite are valid for both."""

    schema: Schema
    records: Table
    contents: Table
    messages: Table
    spend: Table
    scores: Table


_BY_MONTH: Final[dict[str, Any]] = {"postgresql_partition_by": "LIST (month)"}


def _records(metadata: MetaData, *, postgresql: bool) -> Table:
    text_in_order = Text(collation="C") if postgresql else Text()
    records = Table(
        "traces_records",
        metadata,
        Column("id", _number, autoincrement=False),
        Column("month", Integer, nullable=False),
        Column("kind", Text, nullable=False),
        Column("trace_id", text_in_order, nullable=False),
        Column("parent_id", Text),
        Column("provider", Text, nullable=False),
        Column("model", Text, nullable=False),
        Column("operation", Text, nullable=False),
        Column("outcome", Text, nullable=False),
        Column("started_at", _time, nullable=False),
        Column("seconds", _time, nullable=False),
        Column("seconds_to_first", _time),
        Column("input_tokens", _number),
        Column("output_tokens", _number),
        Column("cached_tokens", _number),
        Column("cost", _number),
        Column("estimated_cost", _number),
        Column("retried_cost", _number),
        Column("retried_estimated", _number),
        Column("retried_models", Text),
        Column("saved_cost", _number),
        Column("tags", Text),
        Column("call_digest", RawBytes),
        Column("reply_digest", RawBytes),
        Column("detail", RawBytes, nullable=False),
        PrimaryKeyConstraint(*(("id", "month") if postgresql else ("id",))),
        Index("traces_records_by_trace", "trace_id"),
        Index("traces_records_by_time", "started_at"),
        **_BY_MONTH,
    )
    has_parent = records.c.parent_id.is_not(None)
    Index("traces_records_by_parent", records.c.parent_id, sqlite_where=has_parent, postgresql_where=has_parent)
    return records


def _contents(metadata: MetaData, *, postgresql: bool) -> Table:
    contents = Table(
        "traces_contents",
        metadata,
        Column("id", _number, primary_key=True, autoincrement=False),
        Column("digest", RawBytes, nullable=False),
        Column("packed", SmallInteger, nullable=False),
        Column("searched", SmallInteger, nullable=False),
        Column("body", RawBytes, nullable=False),
        *([Column("search", TSVECTOR)] if postgresql else []),
        Index("traces_contents_by_digest", "digest", unique=True),
    )
    if postgresql:
        Index("traces_contents_by_word", contents.c.search, postgresql_using="gin")
    return contents


def _messages(metadata: MetaData, *, postgresql: bool) -> Table:
    return Table(
        "traces_messages",
        metadata,
        Column("record", _number, nullable=False),
        Column("position", Integer, nullable=False),
        Column("content", _number, nullable=False),
        Column("month", Integer, nullable=False),
        PrimaryKeyConstraint(*(("record", "position", "month") if postgresql else ("record", "position"))),
        Index("traces_messages_by_content", "content"),
        sqlite_with_rowid=False,
        **_BY_MONTH,
    )


def _spend(metadata: MetaData) -> Table:
    return Table(
        "traces_spend",
        metadata,
        Column("tag", Text, primary_key=True),
        Column("hour", Integer, primary_key=True, autoincrement=False),
        Column("value", Text, primary_key=True),
        Column("folded", SmallInteger, primary_key=True, autoincrement=False),
        Column("kind", Text, primary_key=True),
        Column("provider", Text, primary_key=True),
        Column("model", Text, primary_key=True),
        Column("operation", Text, primary_key=True),
        Column("outcome", Text, primary_key=True),
        *(Column(name, _number, nullable=False) for name in SUMS),
        sqlite_with_rowid=False,
    )


def _scores(metadata: MetaData) -> Table:
    return Table(
        "traces_scores",
        metadata,
        Column("trace_id", Text, primary_key=True),
        Column("name", Text, primary_key=True),
        Column("value", _time, nullable=False),
        Column("comment", Text),
        Column("at", _time, nullable=False),
        sqlite_with_rowid=False,
    )


def _tables(*, postgresql: bool) -> Tables:
    metadata = MetaData()
    records = _records(metadata, postgresql=postgresql)
    contents = _contents(metadata, postgresql=postgresql)
    messages = _messages(metadata, postgresql=postgresql)
    spend, scores = _spend(metadata), _scores(metadata)
    if postgresql:
        Sequence(IDS, metadata=metadata)
    index_of_words = DDL(f"CREATE VIRTUAL TABLE IF NOT EXISTS {TEXTS} USING fts5(text, content='')")
    event.listen(metadata, "after_create", index_of_words.execute_if(dialect="sqlite"))
    schema = Schema("traces_version", metadata, VERSION, {2: _add_retried_models, 3: _add_saved})
    return Tables(schema, records, contents, messages, spend, scores)


def _add_retried_models(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE traces_records ADD COLUMN retried_models TEXT"))


def _add_saved(connection: Connection) -> None:
    from .saved_costs import add_saved_costs  # imports this module

    connection.execute(text("ALTER TABLE traces_records ADD COLUMN saved_cost BIGINT"))
    connection.execute(text("ALTER TABLE traces_spend ADD COLUMN saved BIGINT NOT NULL DEFAULT 0"))
    add_saved_costs(connection)


AMOUNTS: Final = ("known", "estimated", "saved")
SUMS: Final = ("calls", *AMOUNTS, "unknown", "input_tokens", "output_tokens", "cached_tokens")
"""The columns of `traces_spend` that are sums; the `AMOUNTS` are dollars. Its rows of the tag "" are those of all
records, the others those of records with that tag; `folded` is 1 for the rest of a tag that has too many values.
`unknown` counts calls."""
SQLITE: Final = _tables(postgresql=False)
POSTGRESQL: Final = _tables(postgresql=True)
records, contents, messages, spend, scores = (
    SQLITE.records,
    SQLITE.contents,
    SQLITE.messages,
    SQLITE.spend,
    SQLITE.scores,
)
