"""Where a cache keeps its answers: SQLite and PostgreSQL, forks, clocks, and databases that fail."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from abstractcore import ResponseCache, Services, create_llm
from abstractcore.concurrency import SystemClock
from abstractcore.database import Database
from tests.forks import in_fork
from tests.small_disks import fill, small_disk


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.process)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/cache.db"
        return
    url = request.getfixturevalue("postgresql").url
    yield url
    database = Database(url)
    with database.writing() as connection:
        connection.execute(text("DROP TABLE IF EXISTS cached_responses, cached_responses_version"))
    database.close()


def scripted(cache: ResponseCache, *replies: Any, **options: Any):
    return create_llm("scripted", replies=list(replies), middleware=[cache], **options)


def test_caches_of_one_database_share_answers(call_style, url: str):
    first, second = (scripted(ResponseCache(url), "one", "two") for _ in range(2))
    assert call_style.generate(first, "hi").content == "one"
    again = call_style.generate(second, "hi")
    assert (again.content, again.cached_at is not None) == ("one", True)
    assert call_style.generate(second, "other").content == "one"


@pytest.mark.process
def test_forked_process_uses_the_answers_and_adds_some(url: str):
    llm = scripted(ResponseCache(url), "one", "two")
    llm.generate("hi")

    def child() -> None:
        assert llm.generate("hi").cached_at is not None
        assert llm.generate("other").content == "two"

    in_fork(child)
    assert llm.generate("other").cached_at is not None
    assert llm.generate("hi").content == "one"


class Gate:
    """Holds calls until it is opened."""

    def __init__(self) -> None:
        self.opened, self.entered = threading.Event(), threading.Event()

    async def around_call(self, context, next):
        self.entered.set()
        await context.runtime.call(self.opened.wait)
        return await next(context)


@pytest.mark.process
def test_forked_process_does_not_wait_for_a_call_of_its_parent():
    gate = Gate()
    llm = create_llm("scripted", replies=["one"], middleware=[ResponseCache(), gate])
    thread = threading.Thread(target=llm.generate, args=["hi"])
    thread.start()
    assert gate.entered.wait(60)

    def child() -> None:
        gate.opened.set()
        assert llm.generate("hi").content == "one"

    in_fork(child)
    gate.opened.set()
    thread.join(60)


def aged(path: Path, seconds: float) -> None:
    """Makes the answers of a file older."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE cached_responses SET stored_at = stored_at - ?", [seconds])
    connection.close()


@pytest.mark.parametrize(("seconds", "content"), [(59, "one"), (61, "two"), (-2, "one"), (-50, "two"), (-1e9, "two")])
def test_answer_is_given_for_its_time_and_not_from_the_future(tmp_path: Path, seconds: float, content: str):
    path = tmp_path / "cache.db"
    llm = scripted(ResponseCache(path, ttl=60), "one", "two")
    llm.generate("hi")
    aged(path, seconds)
    assert llm.generate("hi").content == content
    assert llm.generate("hi").cached_at is not None


def test_answers_are_kept_for_ever_without_a_time(tmp_path: Path):
    path = tmp_path / "cache.db"
    llm = scripted(ResponseCache(path), "one", "two")
    llm.generate("hi")
    aged(path, 1e9)
    assert llm.generate("hi").content == "one"


def test_oldest_answers_of_a_database_are_removed(tmp_path: Path):
    path = tmp_path / "cache.db"
    llm = scripted(ResponseCache(path, max_entries=5), *["one"] * 201)
    for number in range(201):
        llm.generate(str(number))
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM cached_responses").fetchone() == (5,)
    connection.close()
    assert llm.generate("200").cached_at is not None


DAMAGES = {
    "other body": "UPDATE cached_responses SET body = x'00'",
    "empty body": "UPDATE cached_responses SET body = x''",
    "body of another type": "UPDATE cached_responses SET body = 'text'",
    "body that is a number": "UPDATE cached_responses SET body = 7",
    "time of another type": "UPDATE cached_responses SET stored_at = 'text'",
    "time that is none": "UPDATE cached_responses SET stored_at = 9e999",
    "other checksum": "UPDATE cached_responses SET checksum = 'x'",
    "answer of another call": "UPDATE cached_responses SET key = 'x'",
}


@pytest.mark.parametrize("statement", DAMAGES.values(), ids=list(DAMAGES))
def test_damaged_row_is_a_miss_and_is_replaced(tmp_path: Path, statement: str):
    path = tmp_path / "cache.db"
    llm = scripted(ResponseCache(path), "one", "two")
    llm.generate("hi")
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()
    assert [llm.generate("hi").content, llm.generate("hi").content] == ["two", "two"]


def test_answer_under_the_key_of_another_call_is_a_miss(tmp_path: Path):
    path = tmp_path / "cache.db"
    llm = scripted(ResponseCache(path), "one", "two", "three")
    llm.generate("hi")
    llm.generate("other")
    connection = sqlite3.connect(path)
    with connection:
        rows = connection.execute("SELECT key, body, checksum FROM cached_responses").fetchall()
        for (key, _, _), (_, body, checksum) in zip(rows, reversed(rows), strict=True):
            connection.execute(
                "UPDATE cached_responses SET body = ?, checksum = ? WHERE key = ?", [body, checksum, key]
            )
    connection.close()
    assert llm.generate("hi").content == "three"


def warnings_of(caplog: pytest.LogCaptureFixture) -> int:
    return sum("response cache" in each.getMessage() for each in caplog.records)


def test_database_of_a_later_version_fails_no_call(call_style, tmp_path: Path, caplog):
    path = tmp_path / "cache.db"
    scripted(ResponseCache(path), "one").generate("hi")
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE cached_responses_version SET version = 99")
    connection.close()
    with caplog.at_level(logging.WARNING, "abstractcore"):
        llm = scripted(ResponseCache(path), "two", "three")
        assert [call_style.generate(llm, "hi").content for _ in range(2)] == ["two", "three"]
    assert warnings_of(caplog) == 1


def test_locked_database_fails_no_call_and_holds_up_one(tmp_path: Path, caplog, monkeypatch):
    monkeypatch.setattr("abstractcore.database.database._WAIT_SECONDS", 0.05)
    path = tmp_path / "cache.db"
    llm = scripted(ResponseCache(path), "one", "two", "three")
    llm.generate("hi")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    with caplog.at_level(logging.WARNING, "abstractcore"):
        assert [llm.generate(each).content for each in ("a", "b")] == ["two", "three"]
    assert warnings_of(caplog) == 1
    connection.close()


@pytest.mark.process
def test_full_disk_fails_no_call(tmp_path: Path, caplog):
    with small_disk(400_000) as folder:
        llm = scripted(ResponseCache(folder / "cache.db"), "one", "x" * 100_000, "y" * 100_000)
        llm.generate("hi")
        empty = fill(folder)
        with caplog.at_level(logging.WARNING, "abstractcore"):
            assert [len(llm.generate(each).content) for each in ("a", "b")] == [100_000, 100_000]
        assert warnings_of(caplog) == 1
        empty()


def test_missing_server_fails_no_call(call_style, caplog):
    llm = scripted(ResponseCache("postgresql://nobody@127.0.0.1:1/none"), "one", "two")
    with caplog.at_level(logging.WARNING, "abstractcore"):
        assert [call_style.generate(llm, "hi").content for _ in range(2)] == ["one", "two"]
    assert warnings_of(caplog) == 1


class Watch(SystemClock):
    """A clock that is set."""

    seconds = 1_000.0

    def time_of_day(self) -> float:
        return self.seconds


def test_database_is_used_again_after_a_pause(tmp_path: Path, caplog):
    path, watch = tmp_path / "cache.db", Watch()
    path.mkdir()
    services = Services(environment={}, clock=watch)
    llm = scripted(ResponseCache(path), "one", "two", "three", services=services)
    with caplog.at_level(logging.WARNING, "abstractcore"):
        assert llm.generate("hi").content == "one"
        path.rmdir()
        watch.seconds += 9
        assert llm.generate("hi").content == "two"
        assert not path.exists()
        watch.seconds += 2
        assert [llm.generate("hi").content, llm.generate("hi").content] == ["three", "three"]
    assert warnings_of(caplog) == 1
    services.close()


def test_any_text_is_kept(url: str):
    content = "\x00 😀 äöü"
    llm = scripted(ResponseCache(url), content, "two")
    assert [llm.generate("\x00").content, llm.generate("\x00").content] == [content] * 2
