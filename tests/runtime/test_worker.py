"""A worker in an event loop: many runs at once, hints and polling, the end, and databases that are gone for a while."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from abstractcore.database import DatabaseError
from abstractcore.errors import InvalidInputError
from abstractcore.ports import Interruption
from abstractcore.testing import VirtualClock
from abstractruntime import (
    Child,
    Effect,
    EffectContext,
    FunctionEffect,
    FunctionProgram,
    Item,
    LeaseLostError,
    Runtime,
    Step,
    Wait,
    Worker,
)
from abstractruntime.heartbeat import Heartbeat
from abstractruntime.store import Change
from tests.leftovers import wait_until
from tests.postgresql import running_postgresql
from tests.runtime.checks import check

Make = Callable[..., Runtime]
PATIENCE_SECONDS = 30.0


def counting(state: Any, item: Item) -> Step:
    done = 0 if state is None else state["done"] + 1
    if done == 3:
        return Step.complete(done, state={"done": done})
    return Step.do({"done": done}, Effect("work"))


def asking(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.wait({}, Wait("go"))
    return Step.complete(item.payload)


def one_effect(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.do({}, Effect("work"))
    return Step.complete({"value": item.payload, "error": item.error}, state={})


COUNTING = FunctionProgram("counting", counting)
ASKING = FunctionProgram("asking", asking)
ONE = FunctionProgram("one", one_effect)


def work(runtime: Runtime, **options: Any) -> int:
    return asyncio.run(runtime.worker().run(until="idle", **options))


@contextmanager
def working(worker: Worker, **options: Any) -> Generator[Interruption]:
    """Runs a worker in a thread during `with`; ends when it has ended. Set the interruption to stop it."""
    stop, ready = Interruption(), threading.Event()
    with ThreadPoolExecutor(1) as threads:
        run = worker.run(stop=stop, report=lambda metrics: ready.set(), **options)
        ended = threads.submit(asyncio.run, run)
        try:
            assert ready.wait(PATIENCE_SECONDS)
            yield stop
        finally:
            stop.set()
            ended.result()


def test_runs_until_nothing_is_due(make_runtime: Make) -> None:
    runtime = make_runtime(COUNTING, effects={"work": FunctionEffect(lambda context, payload: 1, "repeat")})
    for number in range(20):
        runtime.start(COUNTING, id=f"run-{number}")
    worker = runtime.worker()
    assert asyncio.run(worker.run(until="idle", concurrency=6)) == 20
    assert (worker.metrics.claimed, worker.metrics.completed, worker.metrics.active) == (20, 20, 0)
    for number in range(20):
        check(runtime, f"run-{number}", COUNTING)


def test_effects_of_runs_overlap_up_to_the_concurrency(make_runtime: Make) -> None:
    active, most = 0, 0
    together: asyncio.Event | None = None

    async def execute(context: EffectContext, payload: Any) -> None:
        nonlocal active, most, together
        together = together or asyncio.Event()
        active += 1
        most = max(most, active)
        if active == 3:
            together.set()
        await together.wait()
        active -= 1

    runtime = make_runtime(ONE, effects={"work": FunctionEffect(execute, "repeat")})
    for number in range(7):
        runtime.start(ONE, id=f"run-{number}")
    assert work(runtime, concurrency=3) == 7
    assert most == 3
    assert {run.status for run in runtime.runs()} == {"completed"}


def test_functions_that_block_overlap_in_threads(make_runtime: Make) -> None:
    meeting = threading.Barrier(3)

    def execute(context: EffectContext, payload: Any) -> None:
        meeting.wait(PATIENCE_SECONDS)

    runtime = make_runtime(ONE, effects={"work": execute})
    for _ in range(3):
        runtime.start(ONE)
    work(runtime)
    assert [run.output["error"] for run in runtime.runs()] == [None] * 3


async def leave_async(context: EffectContext, payload: Any) -> None:
    sys.exit(3)


def leave(context: EffectContext, payload: Any) -> None:
    sys.exit(3)


@pytest.mark.parametrize("leave", [leave, leave_async])
def test_effect_that_calls_sys_exit_fails_and_the_worker_goes_on(make_runtime: Make, leave: Any) -> None:
    runtime = make_runtime(ONE, effects={"work": FunctionEffect(leave, "repeat")})
    runs = [runtime.start(ONE, id=f"run-{number}") for number in range(3)]
    work(runtime)
    for run in runs:
        assert run.output["error"] == {"message": "the effect has called sys.exit(3)", "type": "ProgramError"}
        check(runtime, run.id, ONE)


def test_run_that_was_given_up_is_an_error_of_a_worker_until_idle(
    make_runtime: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise DatabaseError("the disk is full")

    runtime = make_runtime(ONE, effects={"work": FunctionEffect(lambda context, payload: payload)})
    run = runtime.start(ONE)
    monkeypatch.setattr(runtime.store, "commit", fail)
    with pytest.raises(DatabaseError, match="the disk is full"):
        work(runtime)
    assert run.status == "running"


def test_step_that_calls_sys_exit_fails_and_the_worker_goes_on(make_runtime: Make) -> None:
    program = FunctionProgram("leaves", lambda state, item: sys.exit(3))
    runtime = make_runtime(program, ONE, effects={"work": FunctionEffect(lambda context, payload: payload)})
    left, other = runtime.start(program), runtime.start(ONE)
    work(runtime)
    assert (left.status, left.error["type"], other.status) == ("failed", "ProgramError", "completed")


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_step_that_ends_the_program_of_a_sync_worker_leaves_its_run_as_it_was(
    make_runtime: Make, clock: VirtualClock, error: type[BaseException]
) -> None:
    """A signal handler may have raised it, in any code: nothing is written of what it has interrupted."""
    raised: list[bool] = []

    def step(state: Any, item: Item) -> Step:
        if not raised:
            raised.append(True)
            raise error
        return Step.complete(item.payload)

    runtime = make_runtime(program := FunctionProgram("stopped", step))
    run = runtime.start(program, 1)
    with pytest.raises(error):
        runtime.work()
    assert (run.status, run.info.seq) == ("running", 1)
    clock.advance(31)
    runtime.work()
    assert run.output == 1
    check(runtime, run.id, program)


def test_claims_up_to_the_free_slots_with_their_waits(make_runtime: Make) -> None:
    runtime = make_runtime(ASKING)
    for number in range(60):
        runtime.start(ASKING, id=f"run-{number}")
    work(runtime, concurrency=60)
    for number in range(60):
        runtime.run(f"run-{number}").waits[0].answer(number)
    leases = runtime.store.claim(["asking@1"], "test", 1000)
    assert len(leases) == 60
    assert {wait.run for lease in leases for wait in lease.waits.values()} == {lease.run for lease in leases}


def test_hint_wakes_the_worker_between_polls(make_runtime: Make) -> None:
    runtime = make_runtime(ASKING)
    with working(runtime.worker(), poll=10_000.0):
        run = runtime.start(ASKING)
        waiting(run)
        run.waits[0].answer(5)
        assert run.wait_for_output(PATIENCE_SECONDS) == 5


def test_hint_wakes_the_worker_for_children_and_sent_items(make_runtime: Make) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("part", "child"), children=(Child("part", "asking@1"),))
        return Step.complete(item.payload)

    runtime = make_runtime(program := FunctionProgram("parent", step), ASKING)
    with working(runtime.worker(), poll=10_000.0):
        run = runtime.start(program, id="p")
        assert wait_until(lambda: run.children)
        (part,) = run.children
        waiting(part)
        part.waits[0].answer(7)
        assert run.wait_for_output(PATIENCE_SECONDS) == 7


def test_worker_of_one_run_at_once_takes_the_next_one(make_runtime: Make) -> None:
    runtime = make_runtime(COUNTING, effects={"work": FunctionEffect(lambda context, payload: 1, "repeat")})
    runs = [runtime.start(COUNTING, id=f"run-{number}") for number in range(3)]
    with working(runtime.worker(), poll=10_000.0, concurrency=1):
        for run in runs:
            assert run.wait_for_output(PATIENCE_SECONDS) == 3


def test_heartbeat_extends_what_is_held_three_times_in_a_lease(
    make_runtime: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = make_runtime(ASKING)
    held, ended = (runtime.start(ASKING, id=id) for id in ("held", "ended"))
    leases = {run.id: runtime.store.claim_run(run.id, "one") for run in (held, ended)}
    waited: list[float] = []
    extended: list[list[Any]] = []

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return len(waited) == 3

    heartbeat = Heartbeat(runtime.store)
    monkeypatch.setattr(heartbeat._stopped, "wait", wait)
    monkeypatch.setattr(runtime.store, "extend", extended.append)
    monkeypatch.setattr(threading.Thread, "start", lambda thread: None)
    for lease in leases.values():
        assert lease is not None
        heartbeat.add(lease)
    heartbeat.remove(leases["ended"])
    heartbeat._run()
    assert waited == [10.0, 10.0, 10.0]
    assert extended == [[leases["held"]]] * 2


def test_polling_finds_what_another_process_made_due(make_runtime: Make, tmp_path: Path) -> None:
    runtime = make_runtime(ASKING)
    with working(runtime.worker(), poll=0.01), Runtime(tmp_path / "runs.db") as other:
        run = other.start("asking@1", due_at=0.0)
        waiting(run)
        run.waits[0].answer(6)
        assert run.wait_for_output(PATIENCE_SECONDS) == 6


def waiting(run: Any) -> None:
    """Returns when a run waits."""
    ticks = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.01)):
        if run.status == "waiting":
            return
        ticks.wait(0.01)
    raise AssertionError(run.status)


def test_deadline_is_met_without_a_hint(tmp_path: Path) -> None:
    def step(state: Any, item: Item) -> Step:
        if item.kind == "start":
            return Step.wait({}, Wait("never", deadline=item.at + 0.2))
        return Step.complete(item.kind)

    program = FunctionProgram("late", step)
    with Runtime(tmp_path / "runs.db", programs=[program]) as runtime, working(runtime.worker(), poll=0.5):
        assert runtime.start(program).wait_for_output(PATIENCE_SECONDS) == "timeout"


def test_stop_lets_an_effect_end_and_begins_no_other(make_runtime: Make) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def execute(context: EffectContext, payload: Any) -> str:
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)
        return "done"

    runtime = make_runtime(COUNTING, effects={"work": FunctionEffect(execute)})
    run = runtime.start(COUNTING)
    with working(runtime.worker(), grace=PATIENCE_SECONDS) as stop:
        assert begun.wait(PATIENCE_SECONDS)
        stop.set()
        go_on.set()
    info = run.info
    assert (info.state, info.owner, info.inflight["state"]) == ({"done": 1}, None, "waiting")
    assert runtime.work() == 1
    assert run.output == 3
    check(runtime, run.id, COUNTING)


@pytest.mark.parametrize("is_async", [False, True])
def test_effect_that_outlives_the_grace_period_is_recovered_at_once(make_runtime: Make, is_async: bool) -> None:
    begun, end = threading.Event(), threading.Event()
    refused: list[Exception] = []

    def blocks(context: EffectContext, payload: Any) -> None:
        begun.set()
        with context.interruption.ending(end.set):
            assert end.wait(PATIENCE_SECONDS)
        try:
            context.note("journal", {"late": True})
        except LeaseLostError as error:
            refused.append(error)
        late.set()

    async def awaits(context: EffectContext, payload: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    late = threading.Event()
    runtime = make_runtime(ONE, effects={"work": FunctionEffect(awaits if is_async else blocks, "ask")})
    run = runtime.start(ONE)
    with working(runtime.worker(), grace=0.0) as stop:
        assert begun.wait(PATIENCE_SECONDS)
        stop.set()
    assert (run.info.owner, run.info.inflight["state"]) == (None, "started")
    assert is_async or late.wait(PATIENCE_SECONDS)
    assert len(refused) == (not is_async)
    assert runtime.work() == 1  # without waiting for the end of the lease
    assert [wait.reason for wait in run.waits] == ["interrupted"]
    run.waits[0].result("was done")
    runtime.work()
    assert run.output == {"value": "was done", "error": None}
    check(runtime, run.id, ONE)


def test_cancelled_task_gives_its_runs_back(make_runtime: Make) -> None:
    async def main() -> None:
        begun = asyncio.Event()

        async def execute(context: EffectContext, payload: Any) -> None:
            begun.set()
            await asyncio.Event().wait()

        runtime.effects["work"] = FunctionEffect(execute, "repeat")
        task = asyncio.ensure_future(runtime.worker().run())
        await asyncio.wait_for(begun.wait(), PATIENCE_SECONDS)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    runtime = make_runtime(ONE)
    run = runtime.start(ONE)
    asyncio.run(main())
    assert (run.info.owner, run.info.inflight["state"]) == (None, "started")


def test_claim_that_ends_after_its_task_was_cancelled_gives_its_runs_back(make_runtime: Make) -> None:
    runtime = make_runtime(ONE)
    run = runtime.start(ONE)
    claim, begun, go_on = runtime.store.claim, threading.Event(), threading.Event()

    def late(*arguments: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)
        return claim(*arguments)

    runtime.store.claim = late  # type: ignore[method-assign]

    async def main() -> None:
        task = asyncio.ensure_future(runtime.worker().run())
        assert await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert (run.info.owner, run.info.fence) == (None, 1)


def test_unknown_program_is_reported_once_and_stays_due(make_runtime: Make, caplog: Any) -> None:
    make_runtime(COUNTING).start(COUNTING, id="other")
    runtime = make_runtime(ASKING)
    worker, reports = runtime.worker(), threading.Semaphore(0)
    stop = Interruption()
    with caplog.at_level(logging.WARNING), ThreadPoolExecutor(1) as threads:
        run = worker.run(stop=stop, report=lambda metrics: reports.release(), report_every=0.01)
        ended = threads.submit(asyncio.run, run)
        for _ in range(3):
            assert reports.acquire(timeout=PATIENCE_SECONDS)
        stop.set()
        ended.result()
    assert [record.message for record in caplog.records] == [
        "1 run of the program counting@1 is due, which this worker does not have"
    ]
    assert worker.metrics.due == 1
    assert runtime.run("other").info.due_at is not None


def test_worker_goes_on_when_the_database_is_back(make_runtime: Make, caplog: Any) -> None:
    runtime = make_runtime(ONE, effects={"work": FunctionEffect(lambda context, payload: 1, "repeat")})
    store, worker = runtime.store, runtime.worker()
    claim, failures = store.claim, threading.Semaphore(2)

    def failing(*arguments: Any) -> Any:
        if failures.acquire(blocking=False):
            raise DatabaseError("the database is gone")
        return claim(*arguments)

    store.claim = failing  # type: ignore[method-assign]
    run = runtime.start(ONE)
    with caplog.at_level(logging.WARNING), working(worker, poll=0.01):
        run.wait_for_output(PATIENCE_SECONDS)
    assert [record.message for record in caplog.records] == ["no run could be claimed: the database is gone"] * 2


def test_failure_of_the_database_ends_work_until_idle(make_runtime: Make) -> None:
    runtime = make_runtime(ONE)

    def failing(*arguments: Any) -> Any:
        raise DatabaseError("the database is gone")

    runtime.store.claim = failing  # type: ignore[method-assign]
    with pytest.raises(DatabaseError, match="gone"):
        work(runtime)


@pytest.mark.parametrize(
    ("option", "value"), [("concurrency", 0), ("concurrency", 1001), ("poll", 0.0), ("grace", -1.0), ("poll", 1e9)]
)
def test_number_out_of_range_is_refused(make_runtime: Make, option: str, value: float) -> None:
    with pytest.raises(InvalidInputError) as caught:
        work(make_runtime(), **{option: value})
    assert caught.value.path == option


@pytest.mark.process
def test_workers_share_the_runs_of_postgresql_which_is_started_again() -> None:
    done, go_on = threading.Semaphore(0), threading.Event()

    def execute(context: EffectContext, payload: Any) -> int:
        done.release()
        assert go_on.wait(PATIENCE_SECONDS)
        return 1

    with running_postgresql() as server:
        effects = {"work": FunctionEffect(execute, "ask")}
        with Runtime(server.url, programs=[COUNTING, ASKING], effects=effects) as runtime:
            started = [runtime.start(COUNTING) for _ in range(6)]
            with working(runtime.worker(), concurrency=2), working(runtime.worker(), concurrency=4):
                for _ in started:
                    assert done.acquire(timeout=PATIENCE_SECONDS)
                server.stop()
                go_on.set()  # results come while the database is gone
                server.start()
                assert [run.wait_for_output(PATIENCE_SECONDS) for run in started] == [3] * 6
                asked = runtime.start(ASKING)
                waiting(asked)
                asked.waits[0].answer("yes")
                assert asked.wait_for_output(PATIENCE_SECONDS) == "yes"
            assert {run.info.fence for run in started} == {1}
            for run in started:
                check(runtime, run.id, COUNTING)


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_process_writes_nothing_with_its_parents_lease(make_runtime: Make) -> None:
    runtime = make_runtime(ONE)
    runtime.start(ONE, id="a")
    (lease,) = runtime.store.claim(["one@1"], "test")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            runtime.store.release(lease)
            runtime.store.commit(lease, Change(records=[("journal", {})]))
        except LeaseLostError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert runtime.run("a").info.owner == "test"
    runtime.store.commit(lease, Change(records=[("journal", {})]))
    assert runtime.run("a").info.seq == 2
