"""Worker threads: bounds, order, cancelled and abandoned jobs, forks."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from contextvars import ContextVar, copy_context

import pytest

from abstractcore.concurrency import AbandonedWork, WorkerThreads
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.concurrency.test_invoke import wait_until
from tests.core.concurrency.test_threads_and_loops import in_fork

MOST = 3
VARIABLE: ContextVar[str] = ContextVar("variable", default="unset")


def threads() -> int:
    return [thread.name for thread in threading.enumerate()].count("abstractcore-work")


@pytest.fixture
def abandoned():
    return AbandonedWork()


@pytest.fixture
def workers(abandoned):
    """Three at most, with nothing running on after the test."""
    yield WorkerThreads("work", MOST, abandoned)
    wait_until(lambda: threads() == 0 and len(abandoned) == 0)


@pytest.fixture
def release():
    """An event that is set at the test's end at the latest."""
    event = threading.Event()
    yield event
    event.set()


def begin(workers, function, *arguments):
    job = workers.job(copy_context(), function, *arguments)
    job.begin()
    return job


def hang(release):
    """Returns a function that waits, and an event that is set when it has begun."""
    begun = threading.Event()

    def wait() -> bool:
        begun.set()
        return release.wait(PATIENCE_SECONDS)

    return wait, begun


def occupy(workers, release, count=MOST):
    """Jobs that hold places."""
    jobs = []
    for _ in range(count):
        wait, begun = hang(release)
        jobs.append(begin(workers, wait))
        assert begun.wait(PATIENCE_SECONDS)
    return jobs


def test_job_returns_or_raises_like_its_function(workers):
    assert begin(workers, divmod, 7, 2).result.result(PATIENCE_SECONDS) == (3, 1)
    for error in (ZeroDivisionError, SystemExit, KeyboardInterrupt):

        def fail(error=error) -> None:
            raise error

        with pytest.raises(error):
            begin(workers, fail).result.result(PATIENCE_SECONDS)
    with pytest.raises(RuntimeError, match="StopIteration"):
        begin(workers, next, iter([])).result.result(PATIENCE_SECONDS)


def test_job_runs_in_a_copy_of_its_context(workers):
    VARIABLE.set("mine")

    def look() -> str:
        before = VARIABLE.get()
        VARIABLE.set("changed")
        return before

    assert begin(workers, look).result.result(PATIENCE_SECONDS) == "mine"
    assert VARIABLE.get() == "mine"


def test_concurrency_is_bounded_and_jobs_queue_in_order(workers, release):
    first = occupy(workers, release)
    order: list[int] = []
    later = [begin(workers, order.append, number) for number in range(20)]
    assert threads() == MOST
    assert not any(job.result.running() or job.result.done() for job in later)
    release.set()
    for job in (*first, *later):
        job.result.result(PATIENCE_SECONDS)
    assert sorted(order) == list(range(20))


def test_single_slot_is_first_come_first_served(abandoned, release):
    workers = WorkerThreads("work", 1, abandoned)
    occupy(workers, release, 1)
    order: list[int] = []
    jobs = [begin(workers, order.append, number) for number in range(20)]
    release.set()
    for job in jobs:
        job.result.result(PATIENCE_SECONDS)
    assert order == list(range(20))


def test_all_jobs_of_many_threads_are_done(workers):
    """However adding the last job and ending the last thread fall together."""
    done: list[int] = []

    def add() -> None:
        for number in range(200):
            begin(workers, done.append, number).result.result(PATIENCE_SECONDS)

    adders = [threading.Thread(target=add) for _ in range(8)]
    for adder in adders:
        adder.start()
    for adder in adders:
        adder.join()
    assert sorted(done) == sorted([*range(200)] * 8)


def test_job_cancelled_in_the_queue_never_starts(workers, release, abandoned):
    occupy(workers, release)
    order: list[int] = []
    job, other = begin(workers, order.append, 1), begin(workers, order.append, 2)
    job.abandon()
    assert len(abandoned) == 0
    release.set()
    other.result.result(PATIENCE_SECONDS)
    with pytest.raises(CancelledError):
        job.result.result(PATIENCE_SECONDS)
    assert order == [2]


def test_abandoned_job_is_counted_logged_and_frees_its_slot(workers, release, abandoned, caplog):
    jobs = occupy(workers, release)
    waiting = begin(workers, divmod, 7, 2)
    jobs[0].abandon()
    assert waiting.result.result(PATIENCE_SECONDS) == (3, 1)
    assert len(abandoned) == 1
    assert "is still running in a background thread after its call ended (1 such now)" in caplog.text
    release.set()
    wait_until(lambda: len(abandoned) == 0)
    jobs[1].abandon()
    occupied = occupy(workers, release)  # all places are there again
    assert [job.result.result(PATIENCE_SECONDS) for job in occupied] == [True] * MOST


def test_number_of_freed_slots_is_bounded(workers, release, abandoned):
    """Else functions that hang would take more and more threads."""
    for _ in range(128):
        (job,) = occupy(workers, release, 1)
        job.abandon()
    jobs = occupy(workers, release)
    for job in jobs:
        job.abandon()
    waiting = begin(workers, divmod, 7, 2)
    assert threads() == 128 + MOST
    assert len(abandoned) == 128 + MOST
    assert not waiting.result.running()
    release.set()
    assert waiting.result.result(PATIENCE_SECONDS) == (3, 1)


def test_nested_job_in_the_same_pool_does_not_deadlock(workers):
    """At every depth, and from all places at once."""
    together = threading.Barrier(MOST)

    def nested(depth: int) -> int:
        if depth == 0:
            return 0
        if depth == 3:
            together.wait(PATIENCE_SECONDS)
        return 1 + begin(workers, nested, depth - 1).result.result(PATIENCE_SECONDS)

    jobs = [begin(workers, nested, 3) for _ in range(MOST)]
    assert [job.result.result(PATIENCE_SECONDS) for job in jobs] == [3] * MOST


@pytest.mark.process
def test_forked_child_has_all_slots(workers, release, abandoned):
    occupy(workers, release)
    begin(workers, divmod, 7, 2)

    def child() -> None:
        here = threading.Event()
        occupy(workers, here)
        here.set()
        assert len(abandoned) == 0

    in_fork(child)
    release.set()


def test_error_is_raised_if_no_thread_can_start(workers, monkeypatch):
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        job = workers.job(copy_context(), divmod, 7, 2)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            job.begin()
        job.abandon()
    assert job.result.cancelled()
    assert begin(workers, divmod, 7, 2).result.result(PATIENCE_SECONDS) == (3, 1)
