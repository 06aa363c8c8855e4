"""Runs that have ended are deleted with all that belongs to them, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import func, select

from abstractcore.errors import InvalidInputError
from abstractcore.testing import VirtualClock
from abstractruntime import Child, FunctionProgram, Item, RunNotFoundError, Runtime, Send, Step, Wait
from abstractruntime.store import pruning
from abstractruntime.store.tables import artifacts, inbox, ledger, runs, waits
from tests.runtime.orders import ORDER, execute, ordered, waiting_order

Make = Callable[..., Runtime]
DAY = 86400.0


def counts(runtime: Runtime) -> dict[str, int]:
    """Returns how many rows each table has."""
    with runtime.database.reading() as connection:
        return {
            table.name.removeprefix("abstractruntime_"): connection.execute(
                select(func.count()).select_from(table)
            ).scalar_one()
            for table in (runs, ledger, waits, inbox, artifacts)
        }


def ids(runtime: Runtime) -> list[str]:
    """Returns the ids of the runs that are there."""
    return sorted(info.id for info in runtime.runs())


def test_an_ended_run_is_deleted_with_all_that_it_has(make_stored: Make, clock: VirtualClock) -> None:
    runtime = ordered(make_stored, "old")
    clock.advance(2 * DAY)
    ordered(make_stored, "new")
    before = counts(runtime)
    assert runtime.prune(DAY, dry_run=True) == ["old"]
    assert counts(runtime) == before
    assert runtime.prune(DAY) == ["old"]
    assert counts(runtime) == {name: count // 2 for name, count in before.items()}
    assert runtime.prune(DAY) == []
    assert [each.run for each in runtime.verify() if each.check()] == ["new"]
    with pytest.raises(RunNotFoundError):
        runtime.run("old")
    assert runtime.prune(0) == ["new"]
    assert set(counts(runtime).values()) == {0}


def test_runs_that_have_not_ended_stay(make_stored: Make, clock: VirtualClock) -> None:
    runtime = ordered(make_stored, "a")
    waiting_order(runtime, "waiting")
    runtime.start(ORDER, id="due")
    clock.advance(1000 * DAY)
    assert runtime.prune(DAY) == ["a"]
    assert ids(runtime) == ["due", "waiting"]


def test_chosen_statuses_are_deleted_and_chosen_runs_kept(make_stored: Make, clock: VirtualClock) -> None:
    runtime = ordered(make_stored, "completed", "kept")
    waiting_order(runtime, "cancelled").cancel()
    failing = FunctionProgram("fails", lambda state, item: Step.fail("no"))
    runtime.start(failing, id="failed")
    runtime.work()
    clock.advance(2 * DAY)
    assert runtime.prune(DAY, statuses=["cancelled"]) == ["cancelled"]
    assert sorted(runtime.prune(DAY, keep=["kept"])) == ["completed", "failed"]
    assert ids(runtime) == ["kept"]


def parent_of(ends: bool) -> FunctionProgram:
    """Returns a program that starts a child, and then waits for it or completes."""

    def step(state: Any, item: Item) -> Step:
        child = Child("part", "child")
        if ends:
            return Step(None, ended="completed", children=(child,))
        return Step.wait({}, Wait("other"), children=(child,))

    return FunctionProgram("parent", step)


CHILD = FunctionProgram("child", lambda state, item: Step.complete())


def test_a_child_stays_until_its_parent_has_ended(make_stored: Make, clock: VirtualClock) -> None:
    parent = parent_of(ends=False)
    runtime = make_stored(parent, CHILD)
    run = runtime.start(parent, id="p")
    runtime.work()
    assert [child.status for child in run.children] == ["completed"]
    clock.advance(2 * DAY)
    assert runtime.prune(DAY) == []
    run.cancel()
    runtime.work()
    assert runtime.prune(DAY) == ["p/part"]
    assert ids(runtime) == ["p"]


def test_an_ended_parent_is_deleted_before_its_child(make_stored: Make, clock: VirtualClock) -> None:
    waiting = FunctionProgram(
        "child", lambda state, item: Step.wait({}, Wait("ok")) if item.kind == "start" else Step.complete(1)
    )
    parent = parent_of(ends=True)
    runtime = make_stored(parent, waiting)
    runtime.start(parent, id="p")
    runtime.work()
    clock.advance(2 * DAY)
    assert runtime.prune(DAY) == ["p"]
    child = runtime.run("p/part")
    child.waits[0].answer()
    runtime.work()
    assert child.output == 1
    clock.advance(2 * DAY)
    assert runtime.prune(DAY) == ["p/part"]
    assert counts(runtime)["runs"] == 0


def test_a_held_run_and_one_that_has_something_to_deliver_stay(make_stored: Make, clock: VirtualClock) -> None:
    sends = FunctionProgram("sends", lambda state, item: Step.complete(sends=(Send("news"),)))
    runtime = make_stored(sends)
    runtime.start(sends, id="a")
    runtime.work()
    clock.advance(2 * DAY)
    execute(runtime, "UPDATE runs SET owner = 'w' WHERE id = 'a'")
    assert runtime.prune(DAY) == []
    execute(runtime, "UPDATE runs SET owner = NULL, due_at = 1 WHERE id = 'a'")
    assert runtime.prune(DAY) == []
    execute(runtime, "UPDATE runs SET due_at = NULL WHERE id = 'a'")
    assert runtime.prune(DAY) == ["a"]
    assert counts(runtime)["inbox"] == 0


def test_events_that_nobody_has_waited_for_are_deleted(
    make_stored: Make, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "_PAGE", 4)
    listening = FunctionProgram(
        "listens",
        lambda state, item: (
            Step.wait({}, Wait("rain", "event")) if item.kind == "start" else Step.complete(item.payload)
        ),
    )
    runtime = make_stored(listening)
    for number in range(10):
        runtime.emit("rain", number)
    clock.advance(DAY)
    runtime.emit("rain", "new")
    queued = runtime.start(listening, id="a")
    runtime.work()
    assert queued.output == 0
    runtime.start(listening, id="due")
    clock.advance(10)
    assert runtime.prune(DAY, dry_run=True) == []
    assert counts(runtime)["inbox"] == 13
    assert runtime.prune(DAY) == []
    assert counts(runtime)["inbox"] == 4
    runtime.work()
    assert runtime.run("due").output == "new"


def test_many_runs_are_deleted_in_transactions_of_few_records(
    make_runtime: Make, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "_PAGE", 4)
    monkeypatch.setattr(pruning, "_MOST_RECORDS", 5)
    runtime = make_runtime(CHILD)
    for number in range(10):
        runtime.start(CHILD, id=f"run-{number}")
    runtime.work()
    clock.advance(2 * DAY)
    written: list[object] = []
    write = runtime.database.write

    def counted(work: Any, **options: Any) -> Any:
        result = write(work, **options)
        written.append(result)
        return result

    monkeypatch.setattr(runtime.database, "write", counted)
    assert len(runtime.prune(DAY, dry_run=True)) == 10
    assert written == []
    assert len(runtime.prune(DAY, keep=["run-0"])) == 9
    groups = [[f"run-{n}" for n in group] for group in ((1, 2), (3,), (4, 5), (6, 7), (8, 9))]
    assert written == [*groups, 0]  # no events
    assert ids(runtime) == ["run-0"]


def test_a_run_that_changes_meanwhile_stays(
    make_stored: Make, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = ordered(make_stored, "a")
    clock.advance(2 * DAY)
    write = runtime.database.write

    def claimed(work: Any, **options: Any) -> Any:
        monkeypatch.setattr(runtime.database, "write", write)
        execute(runtime, "UPDATE runs SET owner = 'w' WHERE id = 'a'")
        return write(work, **options)

    monkeypatch.setattr(runtime.database, "write", claimed)
    assert runtime.prune(DAY) == []
    assert runtime.run("a").verify().ok


def test_a_deleted_id_can_be_used_again(make_stored: Make, clock: VirtualClock) -> None:
    runtime = ordered(make_stored, "a")
    assert runtime.prune(0) == ["a"]
    assert waiting_order(runtime, "a").verify().ok


@pytest.mark.parametrize("statuses", [["running"], ["waiting", "completed"], ["x"]])
def test_other_statuses_are_invalid(make_runtime: Make, statuses: list[str]) -> None:
    with pytest.raises(InvalidInputError, match="statuses: expected some of cancelled, completed, failed, got"):
        make_runtime().prune(DAY, statuses=statuses)


@pytest.mark.parametrize("seconds", [-1, float("nan"), "1"])
def test_other_times_are_invalid(make_runtime: Make, seconds: Any) -> None:
    with pytest.raises(InvalidInputError, match="older_than_seconds: expected seconds, got"):
        make_runtime().prune(seconds)
