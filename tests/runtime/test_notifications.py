"""Workers that other processes wake through PostgreSQL: they poll so rarely that nothing else can wake them."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from typing import Any, Final

import pytest
from sqlalchemy import delete, text

from abstractcore.ports import Interruption
from abstractruntime import Child, Effect, FunctionEffect, FunctionProgram, Item, Run, Runtime, Send, Step, Wait
from abstractruntime.store.tables import metadata
from tests.chaos_server import PATIENCE_SECONDS
from tests.leftovers import wait_until
from tests.postgresql import PostgreSQL, running_postgresql
from tests.runtime.checks import check
from tests.runtime.crashes.processes import FORKS, ended, running

pytestmark = pytest.mark.process
_POLL_SECONDS: Final = 3600.0


def asking(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.wait({}, Wait("go"), Wait("news", "event"))
    return Step.complete([item.kind, item.payload])


def parent(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.wait({}, Wait("part", "child"), children=(Child("part", "asking@1"),))
    return Step.complete(item.payload)


def sending(state: Any, item: Item) -> Step:
    if item.kind == "start":
        return Step.do({}, Effect("hold"), sends=(Send("news", "sent"),))
    return Step.complete()


ASKING = FunctionProgram("asking", asking)
PARENT = FunctionProgram("parent", parent)
SENDING = FunctionProgram("sending", sending)


@pytest.fixture
def url(postgresql: PostgreSQL) -> str:
    """The URL of a database without runs."""
    with Runtime(postgresql.url) as runtime:
        for table in metadata.sorted_tables:
            runtime.database.write(lambda connection, table=table: connection.execute(delete(table)))
    return postgresql.url


def work(url: str, ready: Event) -> None:
    """Works until SIGTERM."""
    stop = Interruption()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    with Runtime(url, programs=[ASKING]) as runtime:
        asyncio.run(runtime.worker().run(stop=stop, poll=_POLL_SECONDS, report=lambda metrics: ready.set()))


@contextmanager
def working_elsewhere(url: str) -> Generator[BaseProcess]:
    """Runs a worker of `asking` in another process during `with`."""
    ready = FORKS.Event()
    with running(work, url, ready) as process:
        assert ready.wait(PATIENCE_SECONDS)
        yield process


@contextmanager
def working(runtime: Runtime, **options: Any) -> Generator[None]:
    """Runs a worker in a thread during `with`; it ends when it is stopped."""
    stop, ready = Interruption(), threading.Event()
    run = runtime.worker().run(stop=stop, poll=_POLL_SECONDS, report=lambda metrics: ready.set(), **options)
    thread = threading.Thread(target=asyncio.run, args=(run,))
    thread.start()
    try:
        assert ready.wait(PATIENCE_SECONDS)
        yield
    finally:
        stop.set()
        thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()


def waiting(run: Run) -> None:
    """Returns when a run waits."""
    assert wait_until(lambda: run.status == "waiting")


def listeners(runtime: Runtime) -> list[int]:
    """Returns the server's processes whose connection listens, and has had no notification."""
    with runtime.database.reading() as connection:
        statement = text("SELECT pid FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'LISTEN %'")
        return [row.pid for row in connection.execute(statement)]


def test_start_and_answer_wake_a_worker_of_another_process(url: str) -> None:
    with Runtime(url) as runtime, working_elsewhere(url):
        run = runtime.start("asking@1")
        waiting(run)
        run.waits[0].answer("yes")
        assert run.wait_for_output(PATIENCE_SECONDS) == ["answer", "yes"]
        check(runtime, run.id, ASKING)


def emit(runtime: Runtime, run: Run) -> None:
    runtime.emit("news", "rain")


def send(runtime: Runtime, run: Run) -> None:
    run.send("news", "rain")


def cancel(runtime: Runtime, run: Run) -> None:
    run.cancel()


@pytest.mark.parametrize(("act", "status"), [(emit, "completed"), (send, "completed"), (cancel, "cancelled")])
def test_event_and_command_wake_a_worker_of_another_process(url: str, act: Callable[..., None], status: str) -> None:
    with Runtime(url) as runtime, working_elsewhere(url):
        run = runtime.start("asking@1")
        waiting(run)
        act(runtime, run)
        assert wait_until(lambda: run.info.ended)
        assert run.status == status


def test_child_of_a_program_that_only_another_worker_has_wakes_it(url: str) -> None:
    with Runtime(url, programs=[PARENT]) as runtime, working_elsewhere(url), working(runtime):
        run = runtime.start(PARENT)
        assert wait_until(lambda: run.children)
        waiting(run.children[0])
        run.children[0].waits[0].answer("done")
        run.wait_for_output(PATIENCE_SECONDS)


def test_child_that_a_worker_in_a_thread_makes_wakes_another_process(url: str) -> None:
    with Runtime(url, programs=[PARENT]) as runtime, working_elsewhere(url):
        run = runtime.start(PARENT)
        runtime.work()
        waiting(run.children[0])


def test_what_a_worker_makes_due_while_it_has_no_place_wakes_another_one(url: str) -> None:
    go_on = threading.Event()

    def hold(context: Any, payload: Any) -> None:
        assert go_on.wait(PATIENCE_SECONDS)

    effects = {"hold": FunctionEffect(hold)}
    with (
        Runtime(url, programs=[SENDING, ASKING], effects=effects) as runtime,
        working_elsewhere(url),
        working(runtime, concurrency=1),
    ):
        heard = runtime.start(ASKING)
        waiting(heard)
        run = runtime.start(SENDING)
        try:
            assert heard.wait_for_output(PATIENCE_SECONDS) == ["event", "sent"]
            assert run.status == "running"
        finally:
            go_on.set()


def test_listener_whose_connection_was_ended_comes_back(url: str) -> None:
    with Runtime(url, programs=[ASKING]) as runtime, Runtime(url) as other, working(runtime):
        assert wait_until(lambda: listeners(other))
        (before,) = listeners(other)
        with other.database.writing() as connection:
            connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": before})
        assert wait_until(lambda: (pids := listeners(other)) and before not in pids)
        run = other.start("asking@1")
        waiting(run)
        run.waits[0].answer("yes")
        run.wait_for_output(PATIENCE_SECONDS)


def test_listener_comes_back_with_the_database() -> None:
    with running_postgresql() as server, Runtime(server.url, programs=[ASKING]) as runtime, working(runtime):
        assert wait_until(lambda: listeners(runtime))
        server.stop()
        server.start()
        with Runtime(server.url) as other:
            assert wait_until(lambda: listeners(other))
            run = other.start("asking@1")
            waiting(run)
            run.waits[0].answer("yes")
            run.wait_for_output(PATIENCE_SECONDS)


def test_worker_that_listens_ends_on_a_signal(url: str) -> None:
    with Runtime(url) as runtime, working_elsewhere(url) as process:
        assert wait_until(lambda: listeners(runtime))
        process.terminate()
        assert ended(process) == 0
        assert wait_until(lambda: not listeners(runtime))


def test_worker_leaves_no_thread(url: str) -> None:
    with Runtime(url, programs=[ASKING]) as runtime:
        with working(runtime):
            assert wait_until(lambda: listeners(runtime))
        assert "abstractruntime-listener" not in {thread.name for thread in threading.enumerate()}
        assert wait_until(lambda: not listeners(runtime))


def test_worker_of_sqlite_does_not_listen(make_runtime: Callable[..., Runtime]) -> None:
    runtime = make_runtime(ASKING)
    assert runtime.store.listen(lambda: None) is None
    with working(runtime):
        assert "abstractruntime-listener" not in {thread.name for thread in threading.enumerate()}
