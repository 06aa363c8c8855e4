"""Alarms of sync calls: on time, cancelled, and without a thread when there are none."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from abstractcore.concurrency import AlarmClock
from tests.chaos_server import PATIENCE_SECONDS, PROMPTLY_SECONDS
from tests.core.concurrency.test_invoke import wait_until
from tests.core.concurrency.test_threads_and_loops import in_fork


def watchers() -> int:
    return [thread.name for thread in threading.enumerate()].count("abstractcore-alarms")


def test_alarm_runs_once_and_its_thread_ends():
    rung = threading.Event()
    start = time.monotonic()
    AlarmClock().set(0.1, rung.set)
    assert rung.wait(PATIENCE_SECONDS)
    assert 0.1 <= time.monotonic() - start < 0.1 + PROMPTLY_SECONDS
    wait_until(lambda: watchers() == 0)


def test_cancelled_alarm_does_not_run():
    clock, rung, other = AlarmClock(), threading.Event(), threading.Event()
    off = clock.set(0.1, rung.set)
    clock.set(0.2, other.set)
    off()
    off()
    assert other.wait(PATIENCE_SECONDS)
    assert not rung.is_set()


def test_failing_alarm_does_not_affect_others(caplog):
    clock, rung = AlarmClock(), threading.Event()
    clock.set(0.0, lambda: 1 / 0)
    clock.set(0.1, rung.set)
    assert rung.wait(PATIENCE_SECONDS)
    assert "ZeroDivisionError" in caplog.text


def test_alarms_share_one_thread():
    clock, rung = AlarmClock(), threading.Semaphore(0)
    for _ in range(100):
        clock.set(0.1, rung.release)
    assert watchers() == 1
    assert all(rung.acquire(timeout=PATIENCE_SECONDS) for _ in range(100))


def test_no_alarm_is_lost_while_the_thread_restarts():
    """A thread switch wherever one can be, and no pause between looking and looking again."""

    def set_and_wait(_: int) -> bool:
        rung = threading.Event()
        clock.set(0.0, rung.set)
        return rung.wait(PATIENCE_SECONDS)

    clock = AlarmClock()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(set_and_wait, range(80)))
    finally:
        sys.setswitchinterval(interval)


def test_works_without_alarms_if_no_thread_can_start(monkeypatch, caplog):
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    clock, rung = AlarmClock(), threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        clock.set(0.0, rung.set)
    assert "alarms cannot run" in caplog.text
    clock.set(0.0, rung.set)
    assert rung.wait(PATIENCE_SECONDS)


@pytest.mark.process
def test_forked_child_has_its_own_alarms():
    clock = AlarmClock()
    off = clock.set(PATIENCE_SECONDS * 10, threading.Event().set)

    def child() -> None:
        rung = threading.Event()
        clock.set(0.0, rung.set)
        assert rung.wait(PATIENCE_SECONDS)

    in_fork(child)
    off()
    wait_until(lambda: watchers() == 0)
