"""Databases that cannot be used: what reads says why, and no call fails, nor waits."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Services, create_llm
from abstractcore.database import DatabaseError
from abstractcore.errors import (
    AbstractCoreError,
    ConfigurationError,
    InvalidInputError,
    MissingExtraError,
    SchemaError,
)
from abstractcore.telemetry import Recorder
from abstractcore.traces import TraceStore, find_questions
from tests.core.traces.stores import NOON, a_call, remove, subscriber_of, write
from tests.postgresql import PostgreSQL

SECONDS = 60


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A database with one call."""
    path = tmp_path / "traces.db"
    store = TraceStore(path)
    write(store, a_call())
    store.close()
    return path


def of_a_later_version(place: Path) -> None:
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE traces_version SET version = 99")
    connection.close()


def no_database(place: Path) -> None:
    place.write_bytes(b"This is a letter, and no database. " * 100)


def cut(place: Path) -> None:
    content = place.read_bytes()
    place.write_bytes(content[: len(content) // 2])


def a_folder(place: Path) -> None:
    place.unlink()
    place.mkdir()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (of_a_later_version, "has version 99 of the tables"),
        (no_database, "is not a SQLite database"),
        (cut, "is damaged"),
        (a_folder, "unable to open"),
    ],
)
def test_what_reads_says_why_and_records_are_lost_only_at_the_end(
    place: Path, damage: Callable[[Path], None], message: str
):
    damage(place)
    services = Services()
    llm = create_llm("scripted", replies=["Yes."], services=services)
    store = TraceStore(place)
    with store.keep_for(services.records, "full") as kept:
        assert llm.generate("Is it kept?").content == "Yes."
        assert not kept.flush(SECONDS)
        assert message in str(kept.failure)
    with pytest.raises(AbstractCoreError, match=message):
        store.calls()
    assert store.losses == 1
    store.close()


@pytest.mark.parametrize("body", [b"", b"\0\xff\0", b'{"parts":[1'])
@pytest.mark.parametrize("packed", [0, 1, 2])
def test_damaged_contents_are_named_and_do_not_stop_what_goes_on(
    place: Path,
    tmp_path: Path,
    recorder: Recorder,
    body: bytes,
    packed: int,
    caplog: pytest.LogCaptureFixture,
):
    with sqlite3.connect(place) as connection:
        connection.execute("UPDATE traces_contents SET body = ?, packed = ?", (body, packed))
        connection.execute("UPDATE traces_records SET started_at = 0")
    connection.close()
    store = TraceStore(place, keep_days=1)
    (call,) = store.calls(text="meeting", since=0)
    assert store.excerpts("meeting", [call.trace_id]) == {call.trace_id: ("",)}
    for read in (lambda: store.trace(call.trace_id), lambda: find_questions(store)):
        with pytest.raises(SchemaError, match=f"the stored record '{call.trace_id}' is damaged"):
            read()
    assert store.export(tmp_path / "damaged.jsonl") == 0
    assert f"the stored record '{call.trace_id}' is damaged: " in caplog.text
    with store.keep_for(recorder, "full") as kept:
        subscriber_of(recorder)(a_call("Is it kept?", "It is."))
        assert kept.flush(SECONDS)
        assert (kept.lost, kept.failure) == (0, None)
    assert [each.started_at for each in store.calls()] == [NOON]  # the damaged one was too old
    assert store.export(tmp_path / "traces.jsonl") == 1
    store.close()


def test_locked_database_delays_records_and_no_call(place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("abstractcore.database.database._WAIT_SECONDS", 0.01)
    services = Services()
    llm = create_llm("scripted", replies=["Yes."], services=services)
    store = TraceStore(place)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with store.keep_for(services.records, "full") as kept:
        assert llm.generate("Is it kept?").content == "Yes."
        assert not kept.flush(SECONDS)
        assert "is locked by another process" in str(kept.failure)
        other.execute("ROLLBACK")
        other.close()
        assert kept.flush(SECONDS)
        assert kept.lost == 0
    assert len(store.calls()) == 2
    store.close()


def test_read_only_database_is_read(place: Path, recorder: Recorder):
    store = TraceStore(place)
    with store.database.reading() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
    with store.keep_for(recorder, "full") as kept:
        subscriber_of(recorder)(a_call())
        assert not kept.flush(SECONDS)
        assert isinstance(kept.failure, DatabaseError)
        assert "cannot be written" in str(kept.failure)
    assert (kept.lost, len(store.calls())) == (1, 1)
    store.close()


def test_full_disk_is_reported_and_ends(place: Path, recorder: Recorder):
    store = TraceStore(place)
    with store.database.reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    with store.keep_for(recorder, "full") as kept:
        for number in range(100):
            subscriber_of(recorder)(a_call(f"Question {number}? " + "word " * 500))
        assert not kept.flush(SECONDS)
        assert "is full" in str(kept.failure)
        with store.database.reading() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
        assert kept.flush(SECONDS)
    assert (kept.lost, len(store.calls(limit=1000))) == (0, 101)
    store.close()


def test_file_that_was_removed_is_made_again(place: Path, recorder: Recorder, caplog: pytest.LogCaptureFixture):
    store = TraceStore(place)
    with store.keep_for(recorder, "full") as kept:
        subscriber_of(recorder)(a_call("Before?"))
        assert kept.flush(SECONDS)
        for path in place.parent.iterdir():
            path.unlink()
        subscriber_of(recorder)(a_call("After?"))
        assert kept.flush(SECONDS)
    assert "traces are written to a new file" in caplog.text
    assert (kept.lost, len(store.calls(text="after")), len(store.calls())) == (0, 1, 1)
    store.close()


@pytest.mark.parametrize(
    ("place", "error"),
    [("mysql://host/db", ConfigurationError), ("postgresql+psycopg2://host/db", MissingExtraError)],
)
def test_place_that_cannot_be_used_is_an_error(place: str, error: type[Exception]):
    with pytest.raises(error):
        TraceStore(place)


@pytest.mark.parametrize(
    "options", [{"keep_days": 0}, {"keep_days": -1}, {"keep_bytes": 0}, {"keep_days": float("nan")}]
)
def test_invalid_bounds_are_errors(tmp_path: Path, options: Any):
    with pytest.raises(InvalidInputError):
        TraceStore(tmp_path / "traces.db", **options)


def test_clock_that_goes_back_changes_no_sum(store: TraceStore):
    times = [NOON, NOON - 7200, NOON + 60, -5.0, 1e300]
    write(store, *[a_call(at=time, cost="1") for time in times])
    assert [call.started_at for call in store.calls()] == sorted(times, reverse=True)
    assert sum(row.calls for row in store.costs(by=["hour"], since=-1e12)) == 5


@pytest.mark.process
def test_server_that_stops_and_starts_again_loses_no_record(postgresql: PostgreSQL):
    store = TraceStore(postgresql.url)
    recorder = Recorder()
    with store.keep_for(recorder, "full") as kept:
        receive = subscriber_of(recorder)
        call = a_call(at=NOON + 5)
        receive(call)
        assert kept.flush(SECONDS)
        postgresql.stop()
        receive(a_call(at=NOON + 6))
        assert not kept.flush(SECONDS)
        postgresql.start()
        assert kept.flush(SECONDS)
    assert kept.lost == 0
    assert len(store.calls(since=NOON + 5, until=NOON + 7)) == 2
    remove(store)


def test_threads_that_open_a_new_database_at_once_share_it(tmp_path: Path):
    store = TraceStore(tmp_path / "traces.db")
    threads = [threading.Thread(target=lambda: write(store, a_call())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.calls()) == 4
    store.close()


def test_existing_opens_what_is_there(place: Path):
    for name in (place, str(place), f"sqlite:///{place}"):
        store = TraceStore.existing(name)
        assert len(store.calls()) == 1
        store.close()


def test_existing_neither_makes_a_file_nor_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    missing, other = tmp_path / "folder" / "traces.db", tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE poems (text)")
    connection.close()
    content = other.read_bytes()
    for name in (missing, f"sqlite:///{missing}"):
        with pytest.raises(ConfigurationError, match="there is no such file") as raised:
            TraceStore.existing(name)
        assert str(raised.value.hint).startswith("Name the file or URL that traces are kept in; without one, it is /")
    with pytest.raises(ConfigurationError, match=r"has no traces\. Name the file or URL"):
        TraceStore.existing(other)
    monkeypatch.setattr("abstractcore.traces.store.data_folder", lambda: tmp_path / "data")
    with pytest.raises(ConfigurationError, match="Keep traces of every program: export ABSTRACTCORE_TRACES=full"):
        TraceStore.existing()
    assert not missing.parent.exists()
    assert other.read_bytes() == content


@pytest.mark.process
def test_existing_makes_no_tables_in_a_server(postgresql: PostgreSQL):
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="the database has no traces"):
            TraceStore.existing(postgresql.url)
    store = TraceStore(postgresql.url)
    write(store, a_call())
    again = TraceStore.existing(postgresql.url)
    assert len(again.calls()) == 1
    again.close()
    remove(store)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="takes a folder in which nobody can write")
def test_hint_for_a_place_that_cannot_be_written_is_another_place() -> None:
    store = TraceStore("/proc/traces.db")
    with pytest.raises(DatabaseError) as failed:
        store.calls()
    hint = failed.value.hint or ""
    assert hint.startswith("Keep traces elsewhere: export ABSTRACTCORE_TRACES_STORE=PLACE. Or see whether")
    store.close()
