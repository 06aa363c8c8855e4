"""Workers that stand still, that are copied, that are late, that are gone, and that know other versions."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import ExitStack
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import pytest

from abstractruntime import (
    Child,
    Effect,
    EffectContext,
    FunctionEffect,
    FunctionProgram,
    Item,
    Run,
    Runtime,
    Step,
    Wait,
)
from abstractruntime.json_documents import JSON
from tests.chaos_server import PATIENCE_SECONDS
from tests.leftovers import wait_until
from tests.runtime.crashes import boundaries
from tests.runtime.crashes.checking import check, end_leases, finish
from tests.runtime.crashes.conftest import Place
from tests.runtime.crashes.processes import (
    FORKS,
    ended,
    exit_code,
    is_stopped,
    open_runtime,
    received,
    running,
    worker,
)
from tests.runtime.crashes.programs import PROGRAMS, Outside

pytestmark = pytest.mark.process
RUNS = 1000


def stopped_worker(url: str, outside: Outside, name: str, number: int) -> None:
    """Works on what is due. At one boundary it stands still, as a machine that is suspended."""
    boundaries.install()
    boundaries.at(name, number, lambda: os.kill(os.getpid(), signal.SIGSTOP))
    with open_runtime(url, outside) as runtime:
        runtime.work()


@pytest.mark.parametrize(
    "boundary", [("in the effect, after its work", 2), ("effect executed", 1), ("step made", 2), ("item taken", 1)]
)
def test_worker_that_was_stopped_past_its_lease_changes_nothing(place: Place, boundary: tuple[str, int]):
    place.crash("SIGSTOP past the lease")
    run = place.runtime.start("payments", {"name": "a", "count": 3}, id="a")
    with running(stopped_worker, place.url, place.outside, *boundary) as late:
        assert is_stopped(late)
        finish(place.runtime, run, place.outside)
        before = run.info
        assert late.pid is not None
        os.kill(late.pid, signal.SIGCONT)
        assert ended(late) == 0
    assert run.info == before
    check(place.runtime, "a")
    assert place.outside.done() == {"pay a 3": 1, "pay a 2": 1, "pay a 1": 1}
    place.survived()


def copied_worker(url: str, outside: Outside, name: str, number: int) -> None:
    """Works on what is due. At one boundary it forks, and both processes go on with what they held."""
    boundaries.install()
    copies: list[int] = []
    boundaries.at(name, number, lambda: copies.append(os.fork()))
    with open_runtime(url, outside) as runtime:
        runtime.work()
    if copies == [0]:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(copies[0], 0)[1]) == 0


@pytest.mark.parametrize(
    "boundary", [("in the effect, after its work", 2), ("step made", 2), ("item taken", 1), ("claimed", 1)]
)
def test_of_a_worker_that_forks_one_process_goes_on(place: Place, boundary: tuple[str, int]):
    place.crash("a fork of the process while it works")
    run = place.runtime.start("payments", {"name": "a", "count": 3}, id="a")
    assert exit_code(copied_worker, place.url, place.outside, *boundary) == 0
    finish(place.runtime, run, place.outside)
    check(place.runtime, "a")
    assert place.outside.done() == {"pay a 3": 1, "pay a 2": 1, "pay a 1": 1}
    place.survived()


def worker_of_many(url: str, outside: Outside) -> None:
    """Takes all runs at once, and is killed."""
    with open_runtime(url, outside) as runtime:
        runtime.store.claim([*PROGRAMS], "dead", RUNS)
        boundaries.kill()


def test_runs_of_a_dead_worker_are_taken_by_others(place: Place):
    place.crash("1,000 runs of a dead worker")
    for number in range(RUNS):
        place.runtime.start("payments", {"name": str(number), "count": 1}, id=str(number))
    assert exit_code(worker_of_many, place.url, place.outside) == -signal.SIGKILL
    assert place.runtime.work() == 0
    end_leases(place.runtime)
    assert place.runtime.work() == RUNS
    assert all(run.status == "completed" and run.fence == 2 for run in place.runtime.runs(limit=2 * RUNS))
    assert place.outside.done() == {f"pay {number} 1": 1 for number in range(RUNS)}
    check(place.runtime, *map(str, range(0, RUNS, 100)))
    place.survived()


def waiting_program(version: str) -> FunctionProgram:
    """Returns a program that waits for an approval, pays, and says its version."""

    def step(state: JSON, item: Item) -> Step:
        match item.kind:
            case "start":
                return Step.wait([version], Wait("approval", "approval"))
            case "answer":
                return Step.do([*state, version], Effect("pay", "pay by version " + version))
            case _:
                return Step.complete([*state, version], state=state)

    return FunctionProgram("wait", step, version)


def test_run_that_waits_during_an_upgrade_ends_on_its_version(place: Place):
    place.crash("an upgrade while a run waits")
    old, new = waiting_program("1"), waiting_program("2")
    with (
        Runtime(place.url, programs=[old], effects=place.outside.effects()) as before,
        Runtime(place.url, programs=[new], effects=place.outside.effects()) as after,
        Runtime(place.url, programs=[old, new], effects=place.outside.effects()) as both,
    ):
        run = before.start("wait", id="old")
        before.work()
        run.waits[0].answer(True)
        newer = after.start("wait", id="new")
        assert after.work() == 1
        assert run.info.program == "wait@1"
        assert run.status == "waiting"
        assert after.store.due_programs() == {"wait@1": 1}
        newer.waits[0].answer(True)
        both.work()
        assert run.output == ["1", "1", "1"]
        assert newer.output == ["2", "2", "2"]
    check(place.runtime, "old", "new", programs={"wait@1": old, "wait@2": new})
    assert place.outside.done() == {"pay by version 1": 1, "pay by version 2": 1}
    place.survived()


def heartbeats(run: Run, count: int) -> None:
    """Waits until the lease of a run has been extended: its worker knows all commands of before the last one."""
    for _ in range(count):
        until = run.info.due_at
        assert until is not None
        assert wait_until(lambda until=until: (run.info.due_at or 0) > until)


def test_run_that_is_paused_during_an_effect_keeps_its_result_and_begins_no_other(place: Place):
    place.crash("pause and resume during an effect")
    run = place.runtime.start("payments", {"name": "a", "count": 3}, id="a")
    ours, theirs = FORKS.Pipe()
    with running(worker, place.url, place.outside, ("in the effect, after its work", 2), theirs, 0.3) as process:
        received(ours)
        run.pause(by="ann")
        heartbeats(run, 2)
        ours.send("go on")
        assert ended(process) == 0
    assert place.outside.done() == {"pay a 3": 1, "pay a 2": 1}
    info = run.info
    assert (info.owner, info.due_at, info.ended) == (None, None, False)
    assert info.paused_at is not None
    assert place.runtime.work() == 0
    run.resume(by="ann")
    finish(place.runtime, run, place.outside)
    check(place.runtime, "a")
    assert place.outside.done() == {"pay a 3": 1, "pay a 2": 1, "pay a 1": 1}
    assert not [record for record in run.ledger() if record.kind == "interrupted"]
    place.survived()


def hang(context: EffectContext, payload: JSON) -> JSON:
    """Works until it is interrupted."""
    boundaries.passed("in the effect, before its work")
    ended = threading.Event()
    with context.interruption.ending(ended.set):
        assert ended.wait(PATIENCE_SECONDS)
    raise InterruptedError("the work was interrupted")


def _tree(state: JSON, item: Item) -> Step:
    """Starts the children that its input names, and then hangs or waits, as its input says."""
    if item.kind != "start":
        return Step.complete("not cancelled", state=state)
    children = tuple(Child(name, "tree", input) for name, input in item.payload["children"].items())
    if item.payload["hangs"]:
        return Step("hangs", effect=Effect("hang"), children=children)
    return Step.wait(
        "waits", Wait("approval", "approval"), *(Wait(each.key, "child") for each in children), children=children
    )


TREE = FunctionProgram("tree", _tree)


def worker_of_trees(url: str, test: Connection) -> None:
    """Works on what is due, and lets the test know when its effect hangs."""
    boundaries.install()
    boundaries.at("in the effect, before its work", 1, lambda: test.send("here"))
    with Runtime(url, programs=[TREE], effects={"hang": FunctionEffect(hang)}, lease_seconds=0.3) as runtime:
        runtime.work()


def test_cancel_interrupts_the_effects_of_a_run_and_of_its_children(place: Place):
    place.crash("a cancel while tools run")
    leaf = {"hangs": False, "children": {}}
    middle = {"hangs": False, "children": {"leaf": leaf, "worker": {"hangs": True, "children": {}}}}
    with Runtime(place.url, programs=[TREE]) as runtime, ExitStack() as stack:
        run = runtime.start(TREE, {"hangs": True, "children": {"middle": middle}}, id="root")
        processes: list[BaseProcess] = []
        for _ in range(2):
            ours, theirs = FORKS.Pipe()
            processes.append(stack.enter_context(running(worker_of_trees, place.url, theirs)))
            received(ours)
        run.cancel("not needed", by="ann")
        assert [ended(process) for process in processes] == [0, 0]
    ids = ["root", "root/middle", "root/middle/leaf", "root/middle/worker"]
    assert [place.runtime.run(id).status for id in ids] == ["cancelled"] * 4
    check(place.runtime, *ids, programs={"tree@1": TREE})
    place.survived()
