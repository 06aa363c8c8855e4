"""A run with an effect, a wait and a large value, for tests of its ledger; and changes of rows that nobody may make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import text

from abstractruntime import Effect, FunctionProgram, Item, Run, Runtime, Step, Wait

LARGE = "Größe " * 1000
"""A value that is stored apart."""


def order(state: Any, item: Item) -> Step:
    """Fetches a document, asks whether it is right, and completes."""
    if item.kind == "start":
        return Step.do({"for": item.payload}, Effect("fetch", {"name": "terms"}))
    if item.kind == "result":
        return Step.wait({**state, "length": len(item.payload)}, Wait("ok", "approval", asked={"what": "terms"}))
    return Step.complete({"by": item.sender}, state={**state, "answer": item.payload})


ORDER = FunctionProgram("order", order)
"""Its ledger has the records created, step (start), step (result, whose payload is stored apart) and step (answer)."""


def ordered(make: Callable[..., Runtime], *ids: str) -> Runtime:
    """Returns a runtime with runs of these ids that have completed."""
    runtime = make(ORDER, effects={"fetch": lambda context, payload: LARGE})
    for id in ids:
        run = waiting_order(runtime, id)
        run.waits[0].answer({"yes": True}, by="ann")
        runtime.work()
        assert run.status == "completed"
    return runtime


def waiting_order(runtime: Runtime, id: str) -> Run:
    """Returns a new run, which waits for its answer."""
    run = runtime.start(ORDER, {"customer": "Bö"}, id=id)
    runtime.work()
    assert run.status == "waiting"
    return run


def execute(runtime: Runtime, sql: str, **values: Any) -> None:
    """Changes rows by hand. `ledger`, `runs`, `waits`, `inbox` and `artifacts` stand for the tables."""
    for table in ("ledger", "runs", "waits", "inbox", "artifacts"):
        sql = sql.replace(f" {table} ", f" abstractruntime_{table} ")
    with runtime.database.writing() as connection:
        assert connection.execute(text(sql), values).rowcount
