"""The tables of runs, in SQLite and PostgreSQL. Times are seconds since the epoch."""

from __future__ import annotations

import zlib
from typing import Any, Final

from sqlalchemy import BigInteger, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table

from abstractcore.database import Schema

from ..json_documents import MAX_BYTES_AROUND
from ..programs import LONGEST_NAME
from ..records import LONGEST_KIND

VERSION: Final = 2
LONGEST_OUTCOME: Final = 500
"""The longest outcome of an item, in characters."""
_LONG: Final = 1000
"""A document with so many bytes is compressed: three or two such rows have room in a page of SQLite, and not one."""
_ZLIB: Final = b"x"
metadata = MetaData()
_name = String(LONGEST_NAME)
_time = Float(53)


class StoredBytes(LargeBinary):
    """Bytes, read as they are stored: SQLite has other values in such a column too, which their readers refuse."""

    cache_ok = True

    def bind_processor(self, dialect: Any) -> Any:
        """Returns None: drivers take bytes."""
        return None

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        """Returns bytes for the views of some drivers."""
        return _bytes_of_view


def _bytes_of_view(value: Any) -> Any:
    return value.tobytes() if isinstance(value, memoryview) else value


class StoredDocument(StoredBytes):
    """JSON as bytes, which zlib compresses if it is long: such data begins with an `x`, and no JSON does.

    What reads and writes it has the JSON alone, and hashes are of that.
    """

    cache_ok = True

    def bind_processor(self, dialect: Any) -> Any:
        """Returns the function that compresses."""
        return _compressed

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        """Returns the function that decompresses; damaged data stays as it is, which its readers refuse."""
        return _decompressed


def _compressed(data: Any) -> Any:
    if data is None or len(data) < _LONG:
        return data
    compressed = zlib.compress(data)
    return compressed if len(compressed) < len(data) else data


def _decompressed(value: Any) -> Any:
    data = _bytes_of_view(value)
    if type(data) is not bytes or not data.startswith(_ZLIB):
        return data
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, MAX_BYTES_AROUND)
    except zlib.error:
        return data
    return found if stream.eof and not stream.unused_data else data


runs = Table(
    "abstractruntime_runs",
    metadata,
    Column("id", _name, primary_key=True),
    Column("program", _name, nullable=False),
    Column("status", String(20), nullable=False),
    Column("state", StoredDocument),
    Column("inflight", StoredBytes),
    Column("seq", Integer, nullable=False),
    Column("head", String(64), nullable=False),
    Column("due_at", _time),
    Column("owner", String(64)),
    Column("fence", Integer, nullable=False),
    Column("outbox", Integer, nullable=False),
    Column("paused_at", _time),
    Column("parent", _name),
    Column("parent_key", _name),
    Column("session", _name),
    Column("limits", StoredBytes, nullable=False),
    Column("spent", StoredBytes, nullable=False),
    Column("output", StoredDocument),
    Column("error", StoredBytes),
    Column("created", _time, nullable=False),
    Column("updated", _time, nullable=False),
    Index("abstractruntime_runs_due", "due_at"),
    Index("abstractruntime_runs_by_status", "status", "created"),
    Index("abstractruntime_runs_of_parent", "parent"),
    Index("abstractruntime_runs_of_session", "session"),
)
"""`due_at` is the only column that workers poll: ready, a deadline, a pause before a retry and the end of a lease are
the same. `outbox` counts the sent items that are not delivered yet."""

ledger = Table(
    "abstractruntime_ledger",
    metadata,
    Column("run", _name, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(LONGEST_KIND), nullable=False),
    Column("at", _time, nullable=False),
    Column("body", StoredDocument),
    Column("redacted", String(64)),
    Column("hash", String(64), nullable=False),
)
"""`redacted` is the SHA-256 of a body that was deleted."""

waits = Table(
    "abstractruntime_waits",
    metadata,
    Column("run", _name, primary_key=True),
    Column("key", _name, primary_key=True),
    Column("reason", String(20), nullable=False),
    Column("deadline", _time),
    Column("asked", StoredBytes, nullable=False),
    Column("opened", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    Index("abstractruntime_waits_by_key", "key"),
)

inbox = Table(
    "abstractruntime_inbox",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("id", String(500), nullable=False, unique=True),
    Column("run", _name),
    Column("key", _name),
    Column("kind", String(20), nullable=False),
    Column("payload", StoredDocument),
    Column("state", String(10), nullable=False),
    Column("outcome", String(LONGEST_OUTCOME)),
    Column("sender", _name),
    Column("created", _time, nullable=False),
    Index("abstractruntime_inbox_of_run", "run", "state"),
    Index("abstractruntime_inbox_by_key", "key", "state"),
    Index("abstractruntime_inbox_of_sender", "sender", "state"),
)
"""States: `added` by a step and not delivered yet; `queued` for a run; `kept` for the first run that waits for its key;
`applied`; `refused`, with the reason as its outcome. An applied item has no payload any more: the ledger has it."""

artifacts = Table(
    "abstractruntime_artifacts",
    metadata,
    Column("run", _name, primary_key=True),
    Column("sha256", String(64), primary_key=True),
    Column("body", StoredDocument, nullable=False),
)
"""Large values of records, by their hash."""

schema: Final = Schema("abstractruntime_version", metadata, VERSION)
