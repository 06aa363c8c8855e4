"""A process that is killed at any moment leaves a database that opens, and whose sums are those of its calls."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from abstractcore.traces import TraceStore
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.traces.stores import remove
from tests.core.traces.test_costs import assert_spend_is_the_sum_of_records
from tests.documents import ROOT
from tests.postgresql import PostgreSQL

_BATCH = 20
_PROGRAM = Path(__file__).with_name("writing_program.py")


def kill_while_it_writes(place: str, wait: float, batches: int) -> int:
    """Kills a writing process some time after its batches; returns how many it had reported."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen([sys.executable, str(_PROGRAM), place], stdout=subprocess.PIPE, env=environment)
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
