"""Limits of several processes, in SQLite and PostgreSQL: exact, and free of what a killed process held."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from abstractcore import LimitExceededError, Limits, Services, create_llm
from abstractcore.database import Database, DatabaseError
from abstractcore.limits import SCHEMA, CallLeases, LimitReached, flush
from abstractcore.limits.counting import FixedNumbers
from abstractcore.limits.leases import Turn
from abstractcore.testing import CallStyle, ScriptedReply
from tests.chaos_server import PATIENCE_SECONDS
from tests.leftovers import wait_until

NOW = 1_800_000_000.0


class Clock:
    """A clock that tests move. It returns seconds since the epoch."""

    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def now() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.process)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/limits.db"
        flush(PATIENCE_SECONDS)
        return
    url = request.getfixturevalue("postgresql").url
    yield url
    flush(PATIENCE_SECONDS)
    database = Database(url)
    with database.writing() as connection:
        SCHEMA.tables.drop_all(connection)
        connection.execute(text("DROP TABLE IF EXISTS abstractcore_limits_version"))
    database.close()


@pytest.fixture
def leases(url: str, now: Clock) -> Iterator[CallLeases]:
    database = Database(url)
    yield CallLeases(database, now, tokens_count="from begin")
    database.close()


def test_tokens_count_for_a_minute_from_the_begin(leases: CallLeases, now: Clock):
    numbers = FixedNumbers(tokens_per_minute=100)
    lease = leases.begin("a", numbers, 60, 600)
    assert isinstance(lease, str)
    assert leases.begin("a", numbers, 60, 600) == LimitReached("tokens", 100, 60.0)
    now.time += 20
    leases.settle(lease, 30)
    assert isinstance(leases.begin("a", numbers, 70, 600), str)
    now.time += 40
    assert isinstance(leases.begin("a", numbers, 30, 600), str)
    assert leases.begin("a", numbers, 1, 600) == LimitReached("tokens", 100, 20.0)


def test_call_that_was_not_sent_does_not_count(leases: CallLeases):
    numbers = FixedNumbers(1)
    lease = leases.begin("a", numbers, 0, 600)
    assert isinstance(lease, str)
    leases.drop(lease)
    assert isinstance(leases.begin("a", numbers, 0, 600), str)


def test_clock_that_goes_back_blocks_nothing_for_longer_than_a_minute(leases: CallLeases, now: Clock):
    numbers = FixedNumbers(1, 100)
    lease = leases.begin("a", numbers, 10, 600)
    assert isinstance(lease, str)
    leases.settle(lease, 10)
    now.time -= 10_000
    assert leases.begin("a", numbers, 0, 600) == LimitReached("requests", 1, 60.0)
    now.time += 60
    assert isinstance(leases.begin("a", numbers, 100, 600), str)


def test_call_that_has_waited_longer_goes_first(leases: CallLeases, now: Clock):
    numbers = FixedNumbers(parallel=1)
    lease = leases.begin("a", numbers, 0, 600)
    assert isinstance(lease, str)
    older, younger = Turn("older", NOW), Turn("younger", NOW + 5)
    assert leases.begin("a", numbers, 0, 600, younger) == LimitReached("calls at once", 1, 1.0)
    assert leases.begin("a", numbers, 0, 600, older) == LimitReached("calls at once", 1, 1.0)
    leases.settle(lease, 0)
    assert leases.begin("a", numbers, 0, 600, younger) == LimitReached("turn", 0, 1.0)
    assert isinstance(leases.begin("a", numbers, 0, 600, older._replace(is_kept=True)), str)
    assert leases.begin("a", numbers, 0, 600, younger) == LimitReached("calls at once", 1, 1.0)


def test_turn_of_a_killed_process_ends(leases: CallLeases, now: Clock):
    numbers = FixedNumbers(1)
    leases.begin("a", numbers, 0, 600)
    assert leases.begin("a", numbers, 0, 600, Turn("killed", NOW)) == LimitReached("requests", 1, 60.0)
    now.time += 60
    assert leases.begin("a", numbers, 0, 600, Turn("other", NOW + 5)) == LimitReached("turn", 0, 0.02)
    now.time += 2
    assert isinstance(leases.begin("a", numbers, 0, 600, Turn("other", NOW + 5)), str)


def test_lease_that_is_not_renewed_expires(leases: CallLeases, now: Clock):
    numbers, running = FixedNumbers(parallel=1), CallLeases(leases.database, now, "0a" * 6)
    lease = running.begin("a", numbers, 0, 15)
    assert isinstance(lease, str)
    now.time += 10
    running.renew([lease], 15, now())
    now.time += 14
    assert leases.begin("a", numbers, 0, 15) == LimitReached("calls at once", 1, 1.0)
    now.time += 1
    assert isinstance(leases.begin("a", numbers, 0, 15), str)


def test_lease_whose_end_was_lost_is_not_renewed_with_those_that_run(leases: CallLeases, now: Clock):
    numbers = FixedNumbers(parallel=2)
    lost, running = leases.begin("a", numbers, 0, 15), leases.begin("a", numbers, 0, 15)
    assert isinstance(lost, str)
    assert isinstance(running, str)
    now.time += 14
    leases.renew([running], 15, now())
    assert leases.begin("a", numbers, 0, 15) == LimitReached("calls at once", 2, 1.0)
    now.time += 1
    assert isinstance(leases.begin("a", numbers, 0, 15), str)


def test_killed_call_that_waited_for_tokens_is_in_the_way_for_a_moment_only(leases: CallLeases, now: Clock):
    """What others reserved may be free at any time: not only after a minute."""
    numbers = FixedNumbers(tokens_per_minute=100)
    lease = leases.begin("a", numbers, 100, 600)
    assert isinstance(lease, str)
    assert leases.begin("a", numbers, 50, 600, Turn("killed", NOW)) == LimitReached("tokens", 100, 60.0)
    leases.settle(lease, 10)
    now.time += 2.9
    assert leases.begin("a", numbers, 50, 600, Turn("other", NOW + 5)) == LimitReached("turn", 0, 0.02)
    now.time += 0.1
    assert isinstance(leases.begin("a", numbers, 50, 600, Turn("other", NOW + 5)), str)


def test_calls_of_two_llms_share_what_is_in_a_database(call_style: CallStyle, url: str, services: Services):
    name = f"shared by {call_style}"[:90]

    def connect() -> Any:
        limits = Limits(2, tokens_per_minute=10_000, name=name, store=url)
        return create_llm("scripted", replies=lambda call: "ok", services=services, limits=limits)

    one, other = connect(), connect()
    call_style.generate(one, "hi")
    call_style.generate(other, "hi")
    with pytest.raises(LimitExceededError, match="for 2 requests a minute"):
        call_style.generate(one, "hi", timeout=30)
    assert call_style.generate(other, "hi").seconds_waited == pytest.approx(60, abs=0.1)
    assert flush(PATIENCE_SECONDS)
    with Database(url).reading() as connection:
        rows = connection.execute(text("SELECT name, settled IS NULL AS runs, tokens FROM abstractcore_leases")).all()
        turns = connection.execute(text("SELECT id FROM abstractcore_turns")).all()
    assert {row.name for row in rows} == {f"limits:{name}"}
    assert not any(row.runs for row in rows)
    assert turns == []


def test_database_that_fails_is_an_error(services: Services, tmp_path: Path):
    limits = Limits(2, name="no database", store=f"sqlite:///{tmp_path}/missing/limits.db")
    llm = create_llm("scripted", replies=["ok"], services=services, limits=limits)
    with pytest.raises(DatabaseError):
        llm.generate("hi")


def test_tasks_and_threads_share_limits_in_a_database(tmp_path: Path):
    services = Services(environment={})
    limits = Limits(parallel=4, requests_per_minute=1_000, name="many", store=f"sqlite:///{tmp_path}/limits.db")
    running, most, lock = [0], [0], threading.Lock()

    class Counting:
        async def around_attempt(self, attempt: Any, next: Any) -> Any:
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            try:
                return await next(attempt)
            finally:
                with lock:
                    running[0] -= 1

    llm: Any = create_llm(
        "scripted",
        replies=lambda call: ScriptedReply.text("ok", delay=0.001),
        services=services,
        limits=limits,
        middleware=[Counting()],
        timeout=PATIENCE_SECONDS,
    )
    threads = [threading.Thread(target=lambda: [llm.generate("hi") for _ in range(2)]) for _ in range(8)]

    async def run() -> None:
        await asyncio.gather(*(llm.agenerate("hi") for _ in range(64)))

    for thread in threads:
        thread.start()
    asyncio.run(run())
    for thread in threads:
        thread.join()
    assert 1 <= most[0] <= 4
    assert limits.state().waiting == 0
    services.close()


@pytest.mark.process
def test_three_processes_let_in_as_many_as_the_limit_and_a_killed_one_leaves_no_turn(url: str):
    command = [sys.executable, "-m", "tests.core.limits.pacing", url, "three"]
    assert subprocess.run([*command, "4", "die"], check=False).returncode == -9
    running = [subprocess.Popen([*command, "40"], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    found = [process.communicate()[0].split(maxsplit=1) for process in running]
    assert {rest.strip() for _, rest in found} <= {"['LimitExceededError']", "[]"}
    assert sum(int(count) for count, _ in found) == 60 - 4
    live = text("SELECT id FROM abstractcore_turns WHERE expires > :now")

    def turns_are_over() -> bool:
        with Database(url).reading() as connection:
            return connection.execute(live, {"now": time.time()}).all() == []

    assert wait_until(turns_are_over)
