"""What holds of every run: its chain, its fold, and an outcome for each item."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import select, text

from abstractruntime import Program, Runtime
from abstractruntime.stepping import item_of
from abstractruntime.store.tables import ledger


def check_chain(runtime: Runtime, run: str) -> None:
    """Asserts that the records of a run are numbered without gaps and chained, by the rule alone."""
    with runtime.database.reading() as connection:
        rows = connection.execute(select(ledger).where(ledger.c.run == run).order_by(ledger.c.seq)).all()
        row = connection.execute(text("SELECT seq, head FROM abstractruntime_runs WHERE id = :run"), {"run": run}).one()
    previous = None
    for number, record in enumerate(rows, 1):
        assert record.seq == number
        body = record.redacted or hashlib.sha256(record.body).hexdigest()
        hashed = {
            "run": run, "seq": number, "kind": record.kind, "at": round(record.at * 1e6), "body": body,
            "prev_hash": previous,
        }  # fmt: skip
        canonical = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert record.hash == hashlib.sha256(canonical.encode()).hexdigest()
        previous = record.hash
    assert (row.seq, row.head) == (len(rows), previous)


def check_fold(runtime: Runtime, run: str, program: Program) -> None:
    """Asserts that the state of a run is the fold of the items in its ledger."""
    state: Any = None
    for record in runtime.store.records(run):
        if record.kind == "step":
            state = program.step(state, item_of(record.body["item"])).state
            state = json.loads(json.dumps(state))
    assert runtime.store.run(run).state == state


def check_outcomes(runtime: Runtime, run: str) -> None:
    """Asserts that a run waits, is due or has ended, and that each item of an ended one has an outcome."""
    info = runtime.store.run(run)
    if info.ended:
        assert info.inflight is None
        assert not runtime.store.waits(run)
        assert {row.state for row in runtime.store.inbox(run)} <= {"applied", "refused"}
    elif info.paused_at is None:
        assert info.due_at is not None or runtime.store.waits(run)


def check(runtime: Runtime, run: str, program: Program) -> None:
    """Asserts all that holds of every run, by the tests' own reading of the rules and by that of the package."""
    check_chain(runtime, run)
    check_fold(runtime, run, program)
    check_outcomes(runtime, run)
    runtime.run(run).verify().check()
    assert runtime.run(run).replay(program) == runtime.store.run(run).state
