"""What is true of runs after any crash: the assertions of the crash matrix."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, update

from abstractruntime import Program, Record, Run, Runtime, RunWait
from abstractruntime.json_documents import canonical, digest
from abstractruntime.stepping import item_of
from abstractruntime.store.tables import inbox, runs, waits
from tests.leftovers import wait_until
from tests.runtime.crashes.programs import Outside


def end_leases(runtime: Runtime) -> None:
    """Lets the time of all leases be over."""
    held = update(runs).where(runs.c.owner.is_not(None)).values(due_at=0.0)
    runtime.database.write(lambda connection: connection.execute(held))


def approve(wait: RunWait) -> None:
    """Answers a wait for an approval."""
    if "pending" in wait.asked:
        wait.allow(by="ann")
    else:
        wait.answer(True, by="ann", id=f"answer:{wait.run}:{wait.opened}")


def answer(run: Run, outside: Outside) -> None:
    """Answers what a run asks: about an interrupted effect, whoever looks outside knows whether it was done."""
    for wait in run.waits:
        if wait.reason == "approval":
            approve(wait)
        elif wait.reason == "interrupted":
            is_tool = "pending" in wait.asked
            what = f"pay {wait.call.arguments['to']}" if is_tool else wait.asked["effect"]["payload"]
            wait.result(f"did {what}", by="auditor") if outside.done()[what] else wait.repeat(by="auditor")


def finish(runtime: Runtime, run: Run, outside: Outside) -> None:
    """Takes a run and its children on, as other workers and people do after a crash, to their end."""

    def has_ended() -> bool:
        runtime.work()
        family = [run, *run.children]
        for each in family:
            answer(each, outside)
        return all(each.info.ended for each in family)

    end_leases(runtime)
    assert wait_until(has_ended), [each.info for each in [run, *run.children]]


def check(runtime: Runtime, *ids: str, programs: dict[str, Program] | None = None) -> None:
    """Asserts what is true of runs that have ended."""
    for id in ids:
        run = runtime.run(id)
        info, records = run.info, [*run.ledger()]
        assert info.ended, info
        assert info.owner is None
        assert info.due_at is None
        check_chain(records, info.seq, info.head)
        state, output = folded(records, {**runtime.programs, **(programs or {})}[info.program])
        assert info.state == state
        if info.status == "completed":
            assert info.output == output
    check_items(runtime)
    check_seen_to(runtime)


def check_chain(records: Sequence[Record], count: int, head: str) -> None:
    """Asserts that records are numbered without gaps, and that each has the hash of the one before it."""
    assert [record.seq for record in records] == [*range(1, count + 1)]
    previous = None
    for record in records:
        hashed = {
            "at": round(record.at * 1e6), "body": record.body_sha256, "kind": record.kind, "prev_hash": previous,
            "run": record.run, "seq": record.seq,
        }  # fmt: skip
        text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert record.hash == hashlib.sha256(text.encode()).hexdigest(), record
        previous = record.hash
    assert previous == head


def folded(records: Sequence[Record], program: Program) -> tuple[Any, Any]:
    """Returns the state and output of the items in a ledger; asserts that each step has the state of its record."""
    state = output = None
    for record in records:
        if record.kind == "step":
            step = program.step(state, item_of(record.body["item"]))
            assert record.body["state"] == digest(canonical(step.state, "state")), record
            state, output = step.state, step.output
    return state, output


def check_items(runtime: Runtime) -> None:
    """Asserts that each item of a run that has ended has its outcome, and that nothing was sent and not delivered."""
    rows = _rows(runtime, select(inbox, runs.c.status).join(runs, runs.c.id == inbox.c.run, isouter=True))
    for row in rows:
        assert row.state != "added", row
        if row.status in ("completed", "failed", "cancelled"):
            assert row.state in ("applied", "refused"), row
            assert row.outcome, row


def check_seen_to(runtime: Runtime) -> None:
    """Asserts that no run is lost: each has ended, is due at some time, or waits for somebody."""
    rows = _rows(runtime, select(runs.c.id, runs.c.status, runs.c.due_at, runs.c.paused_at))
    waiting = {row.run for row in _rows(runtime, select(waits.c.run))}
    for row in rows:
        is_over = row.status in ("completed", "failed", "cancelled")
        assert is_over or row.due_at is not None or row.paused_at is not None or row.id in waiting, row
        assert not (is_over and row.id in waiting), row


def _rows(runtime: Runtime, statement: Any) -> Sequence[Any]:
    return runtime.database.read(lambda connection: connection.execute(statement).all())
