"""Databases that are gone for a while, that are full, that lose the reply to a COMMIT, and clocks that are wrong.

The disk of a PostgreSQL cannot be filled here: that takes a file system of its own.
"""

from __future__ import annotations

import logging
import resource
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pg8000.dbapi
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from abstractcore.database import DatabaseError
from tests.runtime.crashes import boundaries
from tests.runtime.crashes.checking import check, end_leases, finish
from tests.runtime.crashes.conftest import Place
from tests.runtime.crashes.processes import (
    FORKS,
    ended,
    exit_code,
    open_runtime,
    received,
    running,
    story,
    worker,
)
from tests.runtime.crashes.programs import Outside
from tests.runtime.crashes.test_plain import check_order, trace

pytestmark = pytest.mark.process
RETRIES = {"SQLite": 1, "PostgreSQL": 13}
"""So many retries take four seconds or more: SQLite waits for five seconds each time, for another process."""


class Reports(logging.Handler):
    """Reports each retry of a transaction to the test."""

    def __init__(self, test: Connection) -> None:
        super().__init__()
        self._test = test

    def emit(self, record: logging.LogRecord) -> None:
        """Sends a word."""
        if "tried again" in record.msg:
            self._test.send("retry")


def reporting_worker(url: str, outside: Outside, meets: tuple[str, int], test: Connection) -> None:
    """Works on what is due, and reports retries."""
    log = logging.getLogger("abstractcore.database")
    log.setLevel(logging.INFO)
    log.addHandler(Reports(test))
    worker(url, outside, meets, test)


@contextmanager
def gone(place: Place) -> Generator[None]:
    """Stops the server during `with`; a file is locked by this process."""
    if place.server is not None:
        place.server.stop()
        yield
        place.server.start()
        return
    with closing(sqlite3.connect(place.folder / "runs.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@pytest.mark.parametrize(
    ("place", "boundary"),
    [
        ("SQLite", ("in the effect, after its work", 3)),  # a transaction that has begun has the lock itself
        ("PostgreSQL", ("in the effect, after its work", 3)),
        ("PostgreSQL", ("before COMMIT", 5)),
        ("PostgreSQL", ("statement executed", 12)),
    ],
    indirect=["place"],
)
def test_database_that_is_gone_for_seconds_loses_and_repeats_nothing(place: Place, boundary: tuple[str, int]):
    place.crash("the database gone for four seconds")
    run = place.runtime.start("payments", {"name": "a", "count": 20}, id="a")
    ours, theirs = FORKS.Pipe()
    with running(reporting_worker, place.url, place.outside, boundary, theirs) as process:
        received(ours)
        with gone(place):
            ours.send("go on")
            for _ in range(RETRIES[place.database]):
                received(ours, "retry")
        assert ended(process) == 0
    info = run.info
    assert (info.status, info.fence) == ("completed", 1)
    check(place.runtime, "a")
    assert place.outside.done() == {f"pay a {number}": 1 for number in range(1, 21)}
    place.survived()


def limit_files(folder: Path) -> Callable[[], None]:
    """Lets no file of this process grow beyond that of the log; returns what ends that."""
    size, (_, most) = (folder / "runs.db-wal").stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def limit_pages(folder: Path) -> Callable[[], None]:
    """Lets the database have no more pages; returns what ends that."""
    pages = [1]

    def limit(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages[0]}")

    event.listen(Engine, "checkout", limit)
    return lambda: pages.insert(0, 1_000_000)


def worker_on_a_full_disk(
    url: str, outside: Outside, folder: Path, fill: Callable[[Path], Callable[[], None]], at: tuple[str, int]
) -> None:
    """Works until the disk is full; then it gets room, and goes on."""
    empty: list[Callable[[], None]] = []
    boundaries.install()
    boundaries.at(*at, lambda: empty.append(fill(folder)))
    with open_runtime(url, outside) as runtime:
        with pytest.raises(DatabaseError) as caught:
            runtime.work()
        assert caught.value.code in ("SQLITE_FULL", "SQLITE_IOERR_WRITE")
        empty[0]()
        end_leases(runtime)
        runtime.work()


@pytest.mark.parametrize("place", ["SQLite"], indirect=True)
@pytest.mark.parametrize("fill", [limit_files, limit_pages])
@pytest.mark.parametrize("at", [("in the effect, after its work", 20), ("started", 20), ("claimed", 1)])
def test_full_disk_ends_a_worker_and_loses_nothing(
    place: Place, fill: Callable[[Path], Callable[[], None]], at: tuple[str, int]
):
    place.crash("a full disk")
    run = place.runtime.start("payments", {"name": "a" * 150, "count": 60}, id="a")
    assert exit_code(worker_on_a_full_disk, place.url, place.outside, place.folder, fill, at) == 0
    finish(place.runtime, run, place.outside)
    check(place.runtime, "a")
    assert set(place.outside.done().values()) == {1}
    assert len(place.outside.done()) == 60
    place.survived()


def order_without_a_reply(url: str, outside: Outside, id: str, number: int) -> None:
    """Works on an order until the reply to one COMMIT is lost, and goes on as far as that allows."""
    boundaries.install()

    def lose() -> None:
        if url.startswith("postgresql"):
            raise pg8000.dbapi.InterfaceError("network error")
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise error

    boundaries.at("after COMMIT", number, lose)
    story(url, outside, "order", id, None)


def test_lost_reply_to_a_commit_repeats_nothing(place: Place):
    for number in range(1, Counter(trace(place))["after COMMIT"] + 1):
        id = f"lost-{number}"
        place.crash("the reply to a COMMIT lost")
        assert exit_code(order_without_a_reply, place.url, place.outside, id, number) in (0, 1)
        check_order(place, id)
        place.survived()


def worker_ahead(url: str, outside: Outside, seconds: float) -> None:
    """Works with a clock that is wrong."""
    right = time.time
    time.time = lambda: right() + seconds
    with open_runtime(url, outside) as runtime:
        runtime.work()


@pytest.mark.parametrize("seconds", [3600, -3600])
def test_clock_that_is_an_hour_off_repeats_nothing(place: Place, seconds: float):
    place.crash("a clock that is an hour off")
    run = place.runtime.start("payments", {"name": "a", "count": 3}, id="a")
    later = place.runtime.start("payments", {"name": "b", "count": 1}, id="b", due_at=time.time() + 1800)
    ours, theirs = FORKS.Pipe()
    with running(worker, place.url, place.outside, ("in the effect, after its work", 2), theirs) as process:
        received(ours)
        assert exit_code(worker_ahead, place.url, place.outside, seconds) == 0
        is_taken = place.server is None and seconds > 0  # a server's clock counts, and a file has none
        assert run.info.fence == (2 if is_taken else 1)
        assert later.status == ("completed" if is_taken else "running")
        ours.send("go on")
        assert ended(process) == 0
    finish(place.runtime, run, place.outside)
    assert run.status == "completed"
    check(place.runtime, "a")
    done = place.outside.done()
    assert (done["pay a 3"], done["pay a 2"], done["pay a 1"]) == (1, 1, 1)
    place.survived()
