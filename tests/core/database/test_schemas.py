"""Tables and their versions: what is made, changed and refused when a database is opened."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Column, Connection, Integer, MetaData, String, Table, inspect, select, text

from abstractcore import ConfigurationError, InvalidInputError
from abstractcore.database import Database, DatabaseError, Schema
from tests.core.database.notes import SCHEMA, Notes

FIRST = MetaData()
Table("people", FIRST, Column("name", String(50), primary_key=True))
SECOND = MetaData()
people = Table("people", SECOND, Column("name", String(50), primary_key=True), Column("age", Integer))
Table("pets", SECOND, Column("name", String(50), primary_key=True))


def add_age(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE people ADD COLUMN age INTEGER"))


def set_age(connection: Connection) -> None:
    connection.execute(text("UPDATE people SET age = 7 WHERE age IS NULL"))


def fail(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE people ADD COLUMN other INTEGER"))
    raise ValueError("a migration failed")


VERSION_1 = Schema("people_version", FIRST, 1)
VERSION_3 = Schema("people_version", SECOND, 3, {2: add_age, 3: set_age})


@pytest.fixture
def first(url: str) -> Iterator[Database]:
    """A database with the tables of version 1, and a row."""
    database = Database(url, schema=VERSION_1)
    database.write(lambda connection: connection.execute(text("INSERT INTO people VALUES ('ann')")))
    yield database
    with database.writing() as connection:
        for table in inspect(connection).get_table_names():
            connection.execute(text(f"DROP TABLE {table}"))
    database.close()


def rows(database: Database) -> list[tuple[str, int | None]]:
    return database.read(lambda connection: [(row.name, row.age) for row in connection.execute(select(people))])


def test_migrations_run_in_their_order_and_once(first: Database):
    first.migrate(VERSION_3)
    assert rows(first) == [("ann", 7)]
    first.write(lambda connection: connection.execute(text("INSERT INTO people VALUES ('bob', NULL)")))
    first.migrate(VERSION_3)
    assert rows(first) == [("ann", 7), ("bob", None)]


def test_empty_database_gets_the_tables_as_they_are_now(first: Database):
    with first.writing() as connection:
        connection.execute(text("DROP TABLE people_version"))
        connection.execute(text("DROP TABLE people"))
    first.migrate(VERSION_3)
    assert rows(first) == []


def test_migration_that_fails_changes_nothing(first: Database):
    with pytest.raises(ValueError, match="a migration failed"):
        first.migrate(Schema("people_version", SECOND, 3, {2: add_age, 3: fail}))
    assert first.read(lambda connection: inspect(connection).get_columns("people")[0]["name"]) == "name"
    assert first.read(lambda connection: len(inspect(connection).get_columns("people"))) == 1
    first.migrate(VERSION_3)
    assert rows(first) == [("ann", 7)]


def test_tables_of_a_newer_version_are_refused(first: Database, url: str):
    first.migrate(VERSION_3)
    with pytest.raises(ConfigurationError, match="has version 3 of the tables, this AbstractCore knows version 1"):
        Database(url, schema=VERSION_1)
    with first.writing() as connection:
        connection.execute(text("DROP TABLE pets"))
    with pytest.raises(ConfigurationError, match="version 3"):
        Database(url, schema=Schema("people_version", SECOND, 2, {2: add_age}))


def test_several_users_of_a_database_have_versions_of_their_own(first: Database):
    first.migrate(SCHEMA)
    Notes(first).add("a")
    first.migrate(VERSION_3)
    first.migrate(SCHEMA)
    assert (rows(first), Notes(first).all()) == ([("ann", 7)], {"a": 0})


def test_of_several_that_open_a_database_at_once_one_migrates_it(first: Database, url: str):
    runs, barrier = list[int](), threading.Barrier(4)

    def count(connection: Connection) -> None:
        add_age(connection)
        runs.append(1)

    def migrate() -> None:
        database = Database(url)
        barrier.wait()
        database.migrate(Schema("people_version", SECOND, 2, {2: count}))
        database.close()

    with ThreadPoolExecutor(4) as pool:
        for each in [pool.submit(migrate) for _ in range(4)]:
            each.result()
    assert len(runs) == 1


def test_file_of_the_current_version_is_opened_while_another_transaction_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("abstractcore.database.database._WAIT_SECONDS", 0.01)
    database = Database(tmp_path / "notes.db", schema=SCHEMA)
    with database.writing():
        other = Database(tmp_path / "notes.db", schema=SCHEMA)
        assert Notes(other).all() == {}
        with pytest.raises(DatabaseError, match="locked"):
            Database(tmp_path / "notes.db", schema=VERSION_1)
    other.close()
    database.close()


@pytest.mark.parametrize(("version", "migrations"), [(0, {}), (2, {1: set_age}), (2, {3: set_age})])
def test_migrations_of_other_versions_are_refused(version: int, migrations: dict[int, object]):
    with pytest.raises(InvalidInputError, match="expected versions"):
        Schema("people_version", FIRST, version, migrations)  # type: ignore[arg-type]
