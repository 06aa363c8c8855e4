"""A process that is killed at any moment leaves a database that opens, and whose sums are those of its calls."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from abstractcore import Budget
from abstractcore.budgets.database import DatabaseLedger
from abstractcore.ports.budgets import BudgetAccount
from abstractcore.traces import TraceStore
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.traces.stores import remove
from tests.core.traces.test_costs import assert_spend_is_the_sum_of_records
from tests.documents import ROOT
from tests.postgresql import PostgreSQL

_BATCH = 20
_PROGRAM = Path(__file__).with_name("writing_program.py")
_CALLING_PROGRAM = Path(__file__).with_name("calling_program.py")
_CALLS_A_SECOND = "1000"
_CALL_PICODOLLARS = 3_000_000


def run(program: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen([sys.executable, str(program), *arguments], stdout=subprocess.PIPE, env=environment)


def kill_while_it_writes(place: str, wait: float, batches: int) -> int:
    """Kills a writing process some time after its batches; returns how many it had reported."""
    process = run(_PROGRAM, place)
    assert process.stdout is not None
    with process.stdout as lines:
        for _ in range(batches):
            lines.readline()
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        rest = lines.read().count(b"\n")
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    return batches + rest


def check(place: str, batches: int) -> None:
    """At most the batch that was being written is missing or more than was reported."""
    store = TraceStore(place)
    count = len(store.calls(limit=1_000_000))
    assert count % _BATCH == 0
    assert batches <= count // _BATCH <= batches + 1
    assert_spend_is_the_sum_of_records(store)
    (row,) = store.costs(since=0)
    assert (row.calls, row.costs.unknown) == (count, count // _BATCH)
    store.close()


@pytest.mark.process
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.smoke), *range(1, 20)])
def test_killed_process_leaves_sums_that_are_those_of_the_calls(tmp_path: Path, seed: int):
    chosen = random.Random(seed)
    place = str(tmp_path / "traces.db")
    batches = kill_while_it_writes(place, chosen.uniform(0, 0.2), chosen.randrange(1, 10))
    check(place, batches)


@pytest.mark.process
@pytest.mark.parametrize("seed", range(3))
def test_killed_process_leaves_a_postgresql_whose_sums_are_those_of_the_calls(postgresql: PostgreSQL, seed: int):
    chosen = random.Random(seed)
    batches = kill_while_it_writes(postgresql.url, chosen.uniform(0, 0.3), chosen.randrange(1, 10))
    store = TraceStore(postgresql.url)
    with store.database.writing() as connection:  # what the server still does for the killed process ends before
        connection.exec_driver_sql("LOCK TABLE traces_records IN ACCESS EXCLUSIVE MODE")
    check(postgresql.url, batches)
    remove(store)


@pytest.mark.process
@pytest.mark.exhaustive
def test_process_killed_at_a_hundred_moments(tmp_path: Path):
    chosen = random.Random(35)
    for number in range(100):
        place = str(tmp_path / f"{number}.db")
        check(place, kill_while_it_writes(place, chosen.uniform(0, 0.1), chosen.randrange(1, 5)))


def kill_while_it_calls(place: Path, wait: float) -> int:
    """Kills a program whose threads make calls, some time after its first ones were flushed; returns how many it had
    reported as flushed.
    """
    process = run(_CALLING_PROGRAM, f"{place}/traces.db", f"{place}/budgets.db", _CALLS_A_SECOND)
    assert process.stdout is not None
    with process.stdout as lines:
        numbers: Iterator[bytes] = (line for line in lines if line != b"0\n")
        flushed = next(numbers)
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        *_, flushed = flushed, *(line for line in numbers if line.endswith(b"\n"))
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    return int(flushed)


def check_traces(place: Path, least: int) -> int:
    """The file opens, it has all calls that were reported, whole, and its sums are those of the calls; returns how many
    there are.
    """
    with closing(sqlite3.connect(place / "traces.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store = TraceStore(place / "traces.db")
    calls = store.calls(limit=1_000_000)
    assert len(calls) >= least
    assert_spend_is_the_sum_of_records(store)
    (row,) = store.costs(since=0)
    assert row.costs.known == sum((call.cost or Decimal(0) for call in calls), Decimal(0))
    assert (row.calls, row.costs.known) == (len(calls), len(calls) * Decimal("0.000003"))
    assert store.export(place / f"{len(calls)}.jsonl") == len(calls)
    assert len(store.calls(text="question", limit=1_000_000)) == len(calls)
    store.close()
    return len(calls)


def check_budget(place: Path) -> None:
    """What is left can be reserved in one piece once the reservations of the killed program have expired."""
    with closing(sqlite3.connect(place / "budgets.db")) as connection:
        ((key, spent),) = connection.execute("SELECT key, spent FROM budget_accounts").fetchall()
        (latest,) = connection.execute("SELECT max(expires_at) FROM budget_reservations").fetchone()
    assert spent > 0
    assert spent % _CALL_PICODOLLARS == 0
    now = 0.0 if latest is None else latest + 1
    ledger = DatabaseLedger(place / "budgets.db")
    account = BudgetAccount(key, Budget(1_000).limit, None)
    assert ledger.balance(account, now).reserved == 0
    all_that_is_left = account.limit - spent
    id = ledger.reserve(account, all_that_is_left, now, now + 60)
    assert isinstance(id, int)
    ledger.release(account, id)
    ledger.close()


def kill_and_check(place: Path, chosen: random.Random, times: int) -> None:
    """Kills programs, one after the other, that go on with the same files."""
    count = 0
    for _ in range(times):
        flushed = kill_while_it_calls(place, chosen.uniform(0, 0.3))
        count = check_traces(place, count + flushed)
        check_budget(place)


@pytest.mark.process
def test_program_killed_while_its_threads_call_leaves_whole_traces_and_nothing_reserved(tmp_path: Path):
    kill_and_check(tmp_path, random.Random(35), 3)


@pytest.mark.process
@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(10))
def test_program_whose_threads_call_killed_at_ten_moments(tmp_path: Path, seed: int):
    kill_and_check(tmp_path, random.Random(seed), 10)
