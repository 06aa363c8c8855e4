"""A table of tests, and the databases that have it: a SQLite file, and a PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Column, Connection, Integer, MetaData, String, Table, insert, select, text, update

from abstractcore.database import Database, Schema, reads, writes

metadata = MetaData()
notes = Table(
    "notes",
    metadata,
    Column("id", String(50), primary_key=True),
    Column("count", Integer, nullable=False),
    Column("facts", JSON),
)
SCHEMA = Schema("notes_version", metadata, 1)


class Notes:
    """Counters by name."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @writes
    def add(self, connection: Connection, id: str, count: int = 0) -> None:
        connection.execute(insert(notes).values(id=id, count=count))

    @writes
    def increment(self, connection: Connection, id: str) -> None:
        found = connection.execute(select(notes.c.count).where(notes.c.id == id).with_for_update()).scalar_one()
        connection.execute(update(notes).where(notes.c.id == id).values(count=found + 1))

    @reads
    def all(self, connection: Connection) -> dict[str, int]:
        rows: Any = connection.execute(select(notes.c.id, notes.c.count))
        return dict(rows.all())


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.process)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    return f"sqlite:///{tmp_path}/notes.db" if request.param == "sqlite" else request.getfixturevalue("postgresql").url


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """A database with the table."""
    opened = Database(url, schema=SCHEMA)
    yield opened
    clear(opened)


@pytest.fixture
def server(postgresql: Any) -> Iterator[Database]:
    """The database with the table, of a PostgreSQL."""
    opened = Database(postgresql.url, schema=SCHEMA)
    yield opened
    clear(opened)


def clear(database: Database) -> None:
    """Removes the table and its version, and closes the database."""
    with database.writing() as connection:
        metadata.drop_all(connection)
        connection.execute(text("DROP TABLE notes_version"))
    database.close()
