"""A run whose rows were damaged is put off, with a line in the log: others go on, and nothing of it is lost."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from abstractcore.testing import VirtualClock
from abstractruntime import Effect, FunctionProgram, Item, Runtime, Step
from abstractruntime.store.tables import inbox, runs
from tests.runtime.checks import check
from tests.runtime.orders import ORDER, execute, ordered, waiting_order

Make = Callable[..., Runtime]
HOUR = 3600


def stored(runtime: Runtime, table: Any, column: str, id: str) -> bytes:
    """Returns a value of a run's row."""
    key = table.c.id if table is runs else table.c.run
    statement = table.select().where(key == id).order_by(table.c[column].is_(None))
    with runtime.database.reading() as connection:
        return getattr(connection.execute(statement).first(), column)


@pytest.mark.parametrize("column", ["state", "limits", "spent", "inbox"])
def test_a_damaged_run_is_put_off_and_goes_on_once_it_is_repaired(
    make_stored: Make, clock: VirtualClock, caplog: pytest.LogCaptureFixture, column: str
) -> None:
    runtime = ordered(make_stored)
    run, other = waiting_order(runtime, "a"), waiting_order(runtime, "b")
    for each in (run, other):
        each.waits[0].answer({"yes": True}, by="ann")
    table, name = (inbox, "payload") if column == "inbox" else (runs, column)
    sql = f"UPDATE {'inbox' if table is inbox else 'runs'} SET {name} = :value WHERE {name} = :old AND "
    sql += "run = 'a'" if table is inbox else "id = 'a'"
    whole = stored(runtime, table, name, "a")
    execute(runtime, sql, value=b"{", old=whole)
    caplog.set_level(logging.ERROR)
    runtime.work()
    assert other.status == "completed"
    assert "the run 'a' " in caplog.text
    assert "abstractcore runs verify a" in caplog.text
    assert runtime.work() == 0
    execute(runtime, sql, value=whole, old=b"{")
    assert (run.status, run.info.owner, run.info.due_at) == ("waiting", None, clock.time_of_day() + HOUR)
    clock.advance(HOUR)
    runtime.work()
    assert run.output == {"by": "ann"}
    check(runtime, "a", ORDER)


@pytest.mark.parametrize(
    "spent", [{"dollars": "NaN"}, {"dollars": "-5"}, {"tokens": -5}, {"tokens": "5"}, {"steps": None}]
)
def test_a_run_whose_account_cannot_be_counted_is_put_off(make_runtime: Make, spent: dict[str, Any]) -> None:
    runtime = ordered(make_runtime)
    run = waiting_order(runtime, "a")
    run.waits[0].answer({"yes": True}, by="ann")
    whole = stored(runtime, runs, "spent", "a")
    damaged = json.dumps({**json.loads(whole), **spent}).encode()
    execute(runtime, "UPDATE runs SET spent = :value WHERE id = 'a'", value=damaged)
    assert runtime.work() == 0
    execute(runtime, "UPDATE runs SET spent = :value WHERE id = 'a'", value=whole)
    assert run.status == "waiting"


def test_an_effect_is_not_executed_for_a_state_that_cannot_be_read(make_runtime: Make, clock: VirtualClock) -> None:
    executed: list[int] = []

    def step(state: Any, item: Item) -> Step:
        return Step.do({}, Effect("work")) if item.kind == "start" else Step.complete(item.error)

    def work(context: Any, payload: Any) -> None:
        executed.append(1)

    program = FunctionProgram("works", step)
    runtime = make_runtime(program, effects={"work": work})
    run = runtime.start(program, id="a")
    execute(runtime, "UPDATE runs SET state = :value WHERE id = 'a'", value=b"{")
    runtime.work()
    assert (executed, run.verify().records) == ([], 1)
    execute(runtime, "UPDATE runs SET state = NULL WHERE id = 'a'")
    clock.advance(HOUR)
    runtime.work()
    assert (executed, run.status) == ([1], "completed")


def test_an_effect_that_finds_its_own_ledger_damaged_is_not_given_as_an_error(
    make_runtime: Make, clock: VirtualClock
) -> None:
    def step(state: Any, item: Item) -> Step:
        return Step.do({}, Effect("read", item.payload)) if item.kind == "start" else Step.complete(item.error)

    def read(context: Any, payload: Any) -> int:
        return len([*runtime.run(payload or context.run).ledger()])

    program = FunctionProgram("reads", step)
    runtime = make_runtime(program, effects={"read": read})
    own, others = runtime.start(program, id="a"), runtime.start(program, "a", id="b")
    execute(runtime, "UPDATE ledger SET body = :value WHERE run = 'a'", value=b"{")
    runtime.work()
    assert (own.status, own.info.due_at) == ("running", clock.time_of_day() + HOUR)
    assert others.output["type"] == "LedgerError"
    clock.advance(HOUR)
    runtime.work()
    assert [wait.reason for wait in own.waits] == ["interrupted"]
