"""`SQLiteFile`: what it refuses, what it leaves beside a file, and what a forked child may do with it."""

from __future__ import annotations

import gc
import multiprocessing
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstractcore import EmbeddingCacheError, InvalidInputError, SearchIndexError, SessionError
from abstractcore.embeddings import caching
from abstractcore.search import store
from abstractcore.sessions import file as sessions
from abstractcore.stores import sqlite_files
from abstractcore.stores.sqlite_files import SQLiteFile, SQLiteFileKind
from tests.chaos_server import PATIENCE_SECONDS

KIND = SQLiteFileKind("a diary", 0x41437431, 1, "CREATE TABLE days (text TEXT)", SessionError, "Buy another one.")
KINDS: list[Any] = [KIND, caching._KIND, sessions._KIND, store._KIND]  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "diary.db"


def add(file: SQLiteFile, text: str) -> None:
    with file.writing() as connection:
        connection.execute("INSERT INTO days VALUES (?)", (text,))


def days(file: SQLiteFile) -> list[str]:
    with file.reading() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM days")]


def written(path: Path) -> None:
    file = SQLiteFile(path, KIND)
    add(file, "one")
    file.close()


def beside(path: Path) -> set[str]:
    return {each.name for each in path.parent.iterdir()}


def damage(path: Path) -> None:
    path.write_bytes(b"no database, and long enough to be one" * 200)


def make_other(path: Path) -> None:
    statement(path, "CREATE TABLE other (x)")


def make_later(path: Path) -> None:
    statement(path, "PRAGMA user_version = 9")


def make_folder(path: Path) -> None:
    path.mkdir()


def statement(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.noun)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (damage, "is damaged, or not {noun}: file is not a database"),
        (make_other, "is not {noun}"),
        (make_later, "has version 9: this release reads version 1"),
        (make_folder, "cannot be opened: unable to open database file"),
    ],
)
def test_files_that_cannot_be_used_are_errors_of_their_kind(
    path: Path, kind: SQLiteFileKind, spoil: Callable[[Path], None], message: str
):
    spoil(path)
    for _ in range(2):
        with pytest.raises(kind.error, match=message.format(noun=kind.noun)) as failed:
            SQLiteFile(path, kind)
        assert str(path) in failed.value.message
    assert {SearchIndexError, EmbeddingCacheError, SessionError} == {each.error for each in KINDS}


def test_paths_that_cannot_be_are_typed_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InvalidInputError, match="it has a null character"):
        SQLiteFile("nul\0byte", KIND)
    with pytest.raises(SessionError, match="cannot be opened: No such file or directory"):
        SQLiteFile(tmp_path / "missing" / "diary.db", KIND)
    if sys.platform != "win32":  # where a folder that is in use cannot be removed
        (tmp_path / "gone").mkdir()
        monkeypatch.chdir(tmp_path / "gone")
        (tmp_path / "gone").rmdir()
        with pytest.raises(SessionError, match="cannot be opened: No such file or directory"):
            SQLiteFile("diary.db", KIND)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.noun)
def test_full_disk_leaves_no_new_file(path: Path, kind: SQLiteFileKind):
    full = replace(kind, pragmas=("max_page_count = 1",))
    with pytest.raises(kind.error, match="cannot be opened: database or disk is full") as failed:
        SQLiteFile(path, full)
    assert failed.value.hint == f"See how full it is: df -h {path.parent.resolve()}"
    assert not path.exists()
    path.touch()
    with pytest.raises(kind.error, match="cannot be opened: database or disk is full"):
        SQLiteFile(path, full)
    with pytest.raises(kind.error, match=r"is empty\. Remove it"):
        SQLiteFile(path, kind, read_only=True)
    SQLiteFile(path, kind).close()


def test_files_of_each_kind_are_refused_by_the_others(tmp_path: Path):
    for kind in KINDS:
        SQLiteFile(tmp_path / kind.noun, kind).close()
    for kind in KINDS:
        for other in KINDS:
            if other is not kind:
                with pytest.raises(kind.error, match=f"is not {kind.noun}"):
                    SQLiteFile(tmp_path / other.noun, kind)


def test_reading_leaves_nothing_beside_the_file_and_changes_nothing(path: Path):
    written(path)
    before = path.read_bytes(), path.stat().st_mtime_ns
    file = SQLiteFile(path, KIND, read_only=True)
    assert days(file) == ["one"]
    with pytest.raises(SessionError, match="cannot be written: attempt to write a readonly database"):
        add(file, "two")
    file.close()
    assert beside(path) == {"diary.db"}
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    with pytest.raises(SessionError, match="does not exist"):
        SQLiteFile(path.with_name("missing"), KIND, read_only=True)
    assert beside(path) == {"diary.db"}


def test_reading_keeps_the_log_of_a_crashed_process(path: Path):
    file = SQLiteFile(path, KIND)
    add(file, "one")
    crashed = path.with_name("crashed")
    crashed.mkdir()
    for end in ("", "-wal"):  # as a process leaves them that is killed
        (crashed / f"diary.db{end}").write_bytes(path.with_name(f"diary.db{end}").read_bytes())
    file.close()
    path = crashed / "diary.db"
    log = path.with_name("diary.db-wal").read_bytes()
    reader = SQLiteFile(path, KIND, read_only=True)
    assert days(reader) == ["one"]
    reader.close()
    assert path.with_name("diary.db-wal").read_bytes() == log


def test_readers_see_what_a_writer_writes_and_harm_it_not(path: Path):
    written(path)
    reader = SQLiteFile(path, KIND, read_only=True)
    writer = SQLiteFile(path, KIND)
    add(writer, "two")
    assert days(reader) == ["one", "two"]
    reader.close()
    add(writer, "three")
    writer.close()
    assert beside(path) == {"diary.db"}
    again = SQLiteFile(path, KIND, read_only=True)
    assert days(again) == ["one", "two", "three"]
    again.close()


def test_file_that_is_dropped_is_closed(path: Path):
    file = SQLiteFile(path, KIND)
    add(file, "one")
    assert beside(path) == {"diary.db", "diary.db-shm", "diary.db-wal"}
    del file
    gc.collect()  # with no warning, which Python has from 3.13 on
    assert beside(path) == {"diary.db"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.process
@pytest.mark.parametrize("use", ["add", "close", "drop"])
def test_forked_child_leaves_the_connection_of_its_parent_open(path: Path, use: str):
    files = [SQLiteFile(path, KIND)]  # the only reference
    add(files[0], "parent")
    assert exit_code(lambda: _use_in_child(files, use)) == 0
    assert days(files[0]) == (["parent", "child"] if use == "add" else ["parent"])
    files[0].close()


def _use_in_child(files: list[SQLiteFile], use: str) -> None:
    parents = id(files[0]._opened.connection)  # pyright: ignore[reportPrivateUsage]
    if use == "add":
        add(files[0], "child")
    elif use == "close":
        files.pop().close()
    else:
        files.clear()
    gc.collect()
    assert parents in {id(each) for each in gc.get_objects() if isinstance(each, sqlite3.Connection)}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.process
@pytest.mark.parametrize("is_closed", [False, True])
def test_forked_child_waits_for_no_thread_of_its_parent(path: Path, is_closed: bool):
    file = SQLiteFile(path, KIND)
    is_used, may_end = threading.Event(), threading.Event()

    def use() -> None:
        with file.reading():
            is_used.set()
            assert may_end.wait(PATIENCE_SECONDS)

    thread = threading.Thread(target=use)
    thread.start()
    assert is_used.wait(PATIENCE_SECONDS)
    try:
        assert exit_code(lambda: file.close() if is_closed else add(file, "child")) == 0
    finally:
        may_end.set()
        thread.join()
    assert days(file) == ([] if is_closed else ["child"])
    file.close()


def exit_code(function: Callable[[], object]) -> int | None:
    """Calls a function in a forked child; returns None if it does not end."""
    child = multiprocessing.get_context("fork").Process(target=function)
    child.start()
    child.join(PATIENCE_SECONDS)
    code = child.exitcode
    child.kill()
    child.join()
    return code


def test_file_that_another_program_makes_at_this_moment_is_opened(path: Path, monkeypatch: pytest.MonkeyPatch):
    connection = sqlite_files._OwnConnection  # pyright: ignore[reportPrivateUsage]

    class Slow(connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            if sql == "PRAGMA user_version":  # when it has read already that the file is of no application
                monkeypatch.setattr(sqlite_files, "_OwnConnection", connection)
                with suppress(SessionError):  # locked
                    written(path)
            return super().execute(sql, *parameters)

    monkeypatch.setattr(sqlite_files, "_BUSY_SECONDS", 0)
    monkeypatch.setattr(sqlite_files, "_OwnConnection", Slow)
    file = SQLiteFile(path, KIND)
    add(file, "two")
    assert days(file)[-1:] == ["two"]
    file.close()
