"""The tables of the database, and `Store`, which has them. Times are seconds since the epoch."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)

from abstractcore.database import Database, Schema
from abstractcore.user_folders import data_folder

VERSION: Final = 4
"""The version of these tables. Each one added tables, and changed none."""
metadata = MetaData()
keys = Table(
    "abstractcore_keys",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("models", JSON),
    Column("tags", JSON, nullable=False),
    Column("requests_per_minute", Integer),
    Column("tokens_per_minute", BigInteger),
    Column("parallel", Integer),
    Column("created", Float(53), nullable=False),
    Column("expires", Float(53)),
    Column("revoked", Float(53)),
)
secrets = Table(
    "abstractcore_key_secrets",
    metadata,
    Column("prefix", String(20), primary_key=True),
    Column("name", String(100), ForeignKey(keys.c.name), nullable=False, index=True),
    Column("digest", LargeBinary(32), nullable=False),
    Column("created", Float(53), nullable=False),
    Column("expires", Float(53)),
)
"""The secrets of a key: one, or two while a rotation lets the earlier one be valid for a while."""
key_budgets = Table(
    "abstractcore_key_budgets",
    metadata,
    Column("name", String(100), ForeignKey(keys.c.name), primary_key=True),
    Column("per", String(10), primary_key=True),
    Column("usd", String(40), nullable=False),
)
"""What a key may spend in a window of time: US dollars as a decimal number. Budgets have tables of their own."""
responses = Table(
    "abstractcore_responses",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("id", String(100), primary_key=True),
    Column("created", Float(53), nullable=False),
    Column("expires", Float(53), nullable=False, index=True),
    Column("previous", String(100)),
    Column("body", JSON, nullable=False),
    Column("input", JSON, nullable=False),
)
"""Responses of `/v1/responses`, each with the items of its own input. `previous` is the response that it continues."""
background_responses = Table(
    "abstractcore_background_responses",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("id", String(100), primary_key=True),
    Column("process", String(32), nullable=False, index=True),
    Column("alive_until", Float(53), nullable=False),
    Column("ended", Float(53), index=True),
    Column("events", BigInteger, nullable=False),
    ForeignKeyConstraint(["owner", "id"], [responses.c.owner, responses.c.id], ondelete="CASCADE"),
)
"""Responses that a process makes in the background. It has ended if nothing renews `alive_until`. `events` is the
number of their events.
"""
response_events = Table(
    "abstractcore_response_events",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("id", String(100), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("event", JSON, nullable=False),
    ForeignKeyConstraint(
        ["owner", "id"], [background_responses.c.owner, background_responses.c.id], ondelete="CASCADE"
    ),
)
"""The events of responses in the background, in their order."""
conversations = Table(
    "abstractcore_conversations",
    metadata,
    Column("id", String(100), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("created", Float(53), nullable=False),
    Column("expires", Float(53), nullable=False, index=True),
    Column("metadata", JSON, nullable=False),
)
conversation_items = Table(
    "abstractcore_conversation_items",
    metadata,
    Column("conversation", String(100), ForeignKey(conversations.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("id", String(200), nullable=False),
    Column("item", JSON, nullable=False),
)
"""The items of conversations, in their order."""
approved_calls = Table(
    "abstractcore_approved_calls",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("expires", Float(53), nullable=False, index=True),
    Column("result", JSON),
    Column("result_expires", Float(53), index=True),
)
"""Calls of tools that clients have approved, by a SHA-256 of owner, question and call. One without `result` has begun,
or has ended long ago."""
files = Table(
    "abstractcore_files",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("id", String(100), primary_key=True),
    Column("name", String(1000), nullable=False),
    Column("purpose", String(40), nullable=False),
    Column("media_type", String(200), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("expires", Float(53), nullable=False, index=True),
    Column("content", LargeBinary, nullable=False),
)
"""Files that clients have uploaded. Their uploads have the contents; `content` is for files of earlier versions."""
uploads = Table(
    "abstractcore_uploads",
    metadata,
    Column("id", String(100), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("name", String(1000), nullable=False),
    Column("purpose", String(40), nullable=False),
    Column("media_type", String(200), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("expires", Float(53), nullable=False, index=True),
    Column("file_seconds", Float(53)),
    Column("cancelled", Boolean, nullable=False),
    Column("file", String(100)),
    Column("parts", JSON),
    ForeignKeyConstraint(["owner", "file"], [files.c.owner, files.c.id], ondelete="CASCADE"),
    Index("abstractcore_uploads_of_file", "owner", "file"),
)
"""Files that are uploaded in parts: pending, `cancelled`, or completed as `file`, whose content is that of `parts`, in
their order. A completed one lasts as long as its file."""
upload_parts = Table(
    "abstractcore_upload_parts",
    metadata,
    Column("id", String(100), primary_key=True),
    Column("upload", String(100), ForeignKey(uploads.c.id, ondelete="SET NULL"), index=True),
    Column("size", BigInteger, nullable=False),
    Column("whole", Boolean, nullable=False),
)
"""The parts of uploads. `size` counts from the beginning, `whole` is true once all of it is written. One without an
upload is not needed any more: removing a gigabyte takes too long for one transaction, so its pieces go a few at a time.
"""
upload_pieces = Table(
    "abstractcore_upload_pieces",
    metadata,
    Column("part", String(100), ForeignKey(upload_parts.c.id), primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
"""The contents of parts, so many bytes a row that a database and its driver need little memory for one."""
SCHEMA: Final = Schema("abstractcore_version", metadata, VERSION)


def default_file() -> Path:
    """Returns the path of the database if no other is named: a file in the user's data folder."""
    return data_folder() / "server.db"


class Store(Database):
    """The server's database: a file, or what a URL names. It makes the tables that are missing."""

    def __init__(self, place: str | Path) -> None:
        super().__init__(place, schema=SCHEMA)


class ExpiringRows:
    """Rows of `store` that are kept for `seconds`. `now` returns seconds since the epoch."""

    def __init__(self, store: Store, seconds: float, now: Callable[[], float] = time.time) -> None:
        self.database = store
        self._seconds = seconds
        self._now = now
