"""Background work: in order, in batches, and safe for finalizers."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from abstractcore.concurrency import GATHERING_SECONDS, BackgroundWorker, background
from tests.chaos_server import PATIENCE_SECONDS

PIECES = 20
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")


def collecting(collect: Callable[[], None], file: str = "") -> Callable[[FrameType, str, Any], Any]:
    """A trace function that calls `collect`, as a finalizer, before every line that runs in its thread (of `file`)."""
    inside = False

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal inside
        if not frame.f_code.co_filename.endswith(file):
            return None
        if event in ("line", "return") and not inside:
            inside = True
            try:
                collect()
            finally:
                inside = False
        return trace

    return trace


def test_finalizers_may_put_at_any_line_of_the_worker_thread():
    done: list[int] = []
    collected: list[int] = []

    def collect() -> None:
        if workers and len(collected) < 1000:
            collected.append(0)
            workers[0].put(lambda: done.append(-1))

    workers: list[BackgroundWorker] = []
    threading.settrace(collecting(collect))
    try:
        workers.append(BackgroundWorker("test"))
    finally:
        threading.settrace(None)  # type: ignore[arg-type]
    for number in range(PIECES):
        workers[0].put(lambda number=number: done.append(number))
        assert workers[0].flush(PATIENCE_SECONDS), "the thread waits for itself"
    assert [number for number in done if number >= 0] == list(range(PIECES))
    assert collected
    workers[0].stop()


@pytest.mark.parametrize("asks", ["put", "flush", "stop"])
def test_finalizers_may_put_at_any_line_of_a_producer_thread(asks):
    worker = BackgroundWorker("test")
    done: list[int] = []

    def give() -> None:
        sys.settrace(collecting(lambda: worker.put(lambda: done.append(-1))))
        try:
            for number in range(PIECES):
                worker.put(lambda number=number: done.append(number))
            if asks == "flush":
                worker.flush(PATIENCE_SECONDS)
            if asks == "stop":
                worker.stop()
        finally:
            sys.settrace(None)

    giving = threading.Thread(target=give, daemon=True)
    giving.start()
    giving.join(PATIENCE_SECONDS)
    assert not giving.is_alive(), "it waits for itself"
    worker.stop()
    worker._thread.join(PATIENCE_SECONDS)
    assert [number for number in done if number >= 0] == list(range(PIECES))
    assert -1 in done


def test_items_put_while_another_thread_stops_the_worker_are_done():
    worker = BackgroundWorker("test")
    done: list[int] = []

    def stop() -> None:
        if worker._thread.is_alive():
            worker.stop()
            worker._thread.join(PATIENCE_SECONDS)

    def give() -> None:
        sys.settrace(collecting(stop, background.__file__))
        try:
            for number in range(PIECES):
                worker.put(lambda number=number: done.append(number))
        finally:
            sys.settrace(None)

    giving = threading.Thread(target=give, daemon=True)
    giving.start()
    giving.join(PATIENCE_SECONDS)
    assert worker.flush(PATIENCE_SECONDS)
    assert done == list(range(PIECES))


def test_concurrent_put_and_stop_leave_no_item_undone():
    worker = BackgroundWorker("test")
    done: list[int] = []
    starting = threading.Barrier(4)

    def give() -> None:
        starting.wait(PATIENCE_SECONDS)
        for number in range(500):
            worker.put(lambda number=number: done.append(number))
            worker.stop()

    threads = [threading.Thread(target=give, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    assert worker.flush(PATIENCE_SECONDS)
    assert sorted(done) == sorted(4 * list(range(500)))


def test_put_raises_if_no_thread_can_start(monkeypatch):
    worker = BackgroundWorker("test")
    done: list[int] = []
    worker.stop()
    worker._thread.join(PATIENCE_SECONDS)

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError):
            worker.put(lambda: done.append(1))
        assert not worker.flush(PATIENCE_SECONDS)
    assert worker.flush(PATIENCE_SECONDS)
    assert done == [1]


def test_items_put_in_quick_succession_are_batched():
    worker, wakes = BackgroundWorker("test", GATHERING_SECONDS), []
    gather = worker._gather

    def gathered() -> None:
        wakes.append(0)
        gather()

    worker._gather = gathered  # type: ignore[method-assign]
    for _ in range(100):
        worker.put(lambda: None)
    assert worker.flush(PATIENCE_SECONDS)
    assert len(wakes) < 100
    worker.stop()


def test_waiting_bytes_are_counted_until_the_item_is_done():
    worker = BackgroundWorker("test")
    begun, free, sizes = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        free.wait(PATIENCE_SECONDS)

    worker.put(work, 10)
    worker.put(lambda: sizes.append(worker.waiting_bytes), 5)
    assert begun.wait(PATIENCE_SECONDS)
    assert worker.waiting_bytes == 15
    free.set()
    assert worker.flush(PATIENCE_SECONDS)
    assert sizes == [5]
    assert worker.waiting_bytes == 0
    worker.stop()


def test_awaitable_result_runs_in_the_context_of_its_item():
    worker, seen = BackgroundWorker("test"), []

    async def look() -> None:
        seen.append(VARIABLE.get())

    def piece(value: str) -> object:
        VARIABLE.set(value)
        return look()

    for value in "ab":
        worker.put(lambda value=value: piece(value))
    assert worker.flush(PATIENCE_SECONDS)
    assert seen == ["a", "b"]
    worker.stop()
