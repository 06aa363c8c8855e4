"""The file of a SQLite database: who opens it, and who may."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from abstractcore.database import Database, DatabaseReplacedError, file_has_table
from tests.core.database.notes import SCHEMA, Notes

ENDS = ("", "-wal", "-shm")
_watched: list[str] | None = None
"""The paths that Python has opened, while a test wants to know."""


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched is not None and event == "open" and not arguments[2] & os.O_EXCL:  # which opens no file that is there
        _watched.append(str(arguments[0]))


sys.addaudithook(_note)  # which stays, like every such hook


@contextmanager
def watched() -> Generator[list[str]]:
    """Yields the paths of existing files that Python opens during `with`; not those that SQLite opens."""
    global _watched
    _watched = []
    try:
        yield _watched
    finally:
        _watched = None


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files_of(path: Path) -> list[Path]:
    """Returns the three files of a database that is open."""
    return [path.with_name(path.name + end) for end in ENDS]


def test_file_that_exists_is_opened_by_sqlite_only(tmp_path: Path):
    path = tmp_path / "notes.db"
    with watched() as opened:
        databases = [
            Database(path, schema=SCHEMA),
            Database(f"sqlite:///{path}", schema=SCHEMA),
            Database(path, schema=SCHEMA),
        ]
        for database in databases:
            Notes(database).add(f"{id(database)}")
            database.close()
        Database(path, schema=SCHEMA).close()
        path.read_bytes()
    assert [each for each in opened if each.startswith(str(path))] == [str(path)]  # that of this test


@pytest.mark.usefixtures("umask")
def test_only_the_owner_may_use_a_new_file_and_the_folders_that_are_made_for_it(tmp_path: Path):
    path = tmp_path / "new" / "folder" / "notes.db"
    database = Database(path, schema=SCHEMA)
    assert [mode(each) for each in (path.parent, path.parent.parent)] == [0o700, 0o700]
    assert [mode(each) for each in files_of(path)] == [0o600] * 3
    database.close()


@pytest.mark.usefixtures("umask")
def test_link_that_leads_nowhere_makes_a_private_file_where_it_leads(tmp_path: Path):
    target, link = tmp_path / "target.db", tmp_path / "notes.db"
    link.symlink_to(target)
    database = Database(link, schema=SCHEMA)
    assert [mode(each) for each in files_of(target)] == [0o600] * 3
    assert {*tmp_path.iterdir()} == {link, *files_of(target)}
    database.close()


def test_files_that_everyone_could_read_are_made_private_while_they_are_used(tmp_path: Path):
    path = tmp_path / "notes.db"
    used = Database(path, schema=SCHEMA)
    for each in files_of(path):
        each.chmod(0o644)
    Database(path, schema=SCHEMA).close()
    assert [mode(each) for each in files_of(path)] == [0o600] * 3
    Notes(used).add("alice")
    used.close()


def test_file_that_its_owner_shares_with_a_group_stays_shared(tmp_path: Path):
    path = tmp_path / "notes.db"
    Database(path, schema=SCHEMA).close()
    path.chmod(0o660)
    database = Database(path, schema=SCHEMA)
    assert [mode(each) for each in files_of(path)] == [0o660] * 3
    database.close()


def test_path_may_have_characters_that_have_a_meaning_in_urls(tmp_path: Path):
    path = tmp_path / "a?b#c%20d@e:f" / "notes.db"
    Database(path, schema=SCHEMA).close()
    assert [each.name for each in path.parent.iterdir()] == ["notes.db"]


@pytest.mark.parametrize("change", ["deleted", "replaced"])
def test_file_that_is_gone_or_another_one_is_noticed(tmp_path: Path, change: str):
    path = tmp_path / "notes.db"
    database = Database(path, schema=SCHEMA)
    notes = Notes(database)
    notes.add("a")
    aside = tmp_path / "aside.db"
    path.rename(aside)
    if change == "replaced":
        path.touch()
    for use in (notes.all, lambda: notes.add("b")):
        with pytest.raises(DatabaseReplacedError, match=f"notes.db was {change} while it was open") as caught:
            use()
        assert "fuser -v" in (caught.value.hint or "")
        assert not caught.value.retryable
    database.close()  # of the next connection, SQLite would make a file
    with pytest.raises(DatabaseReplacedError):
        notes.all()
    assert path.exists() == (change == "replaced")
    aside.rename(path)
    notes.add("b")
    assert notes.all() == {"a": 0, "b": 0}
    database.close()


def test_looking_for_a_table_changes_nothing(tmp_path: Path):
    with sqlite3.connect(tmp_path / "a.db") as connection:
        connection.execute("CREATE TABLE poems (text)")
    connection.close()
    content = (tmp_path / "a.db").read_bytes()
    assert file_has_table(tmp_path / "a.db", "poems") is True
    assert file_has_table(tmp_path / "a.db", "songs") is False
    assert file_has_table(tmp_path / "missing.db", "poems") is None
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]
    assert (tmp_path / "a.db").read_bytes() == content
