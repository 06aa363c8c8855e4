"""Databases that are gone for a while, that lose the reply to a COMMIT, and clocks that are wrong."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Generator
from contextlib import closing, contextmanager

import pg8000.dbapi
import pytest

from tests.runtime.crashes import boundaries
from tests.runtime.crashes.checking import check, finish
from tests.runtime.crashes.conftest import Place
from tests.runtime.crashes.processes import (
    FORKS,
    ended,
    exit_code,
    open_runtime,
    received,
    reporting_worker,
    running,
    story,
    worker,
)
from tests.runtime.crashes.programs import Outside
from tests.runtime.crashes.test_plain import check_order, trace

pytestmark = pytest.mark.process
RETRIES = {"SQLite": 1, "PostgreSQL": 13}
"""So many retries take four seconds or more: SQLite waits for five seconds each time, for another process."""


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
