"""The end of a program while native code runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from abstractcore import MediaError
from abstractcore.ports.transpilers import NativeCalls

PATIENCE_SECONDS = 60


def test_end_waits_for_a_call_and_refuses_later_ones() -> None:
    calls, begun, may_return = NativeCalls(), threading.Event(), threading.Event()

    def work() -> str:
        with calls.running("a.wav"):
            begun.set()
            assert may_return.wait(PATIENCE_SECONDS)
            return "done"

    with ThreadPoolExecutor(2) as threads:
        working = threads.submit(work)
        assert begun.wait(PATIENCE_SECONDS)
        ending = threads.submit(calls.end, PATIENCE_SECONDS)
        assert not ending.done()
        may_return.set()
        ending.result(PATIENCE_SECONDS)
        assert working.result(PATIENCE_SECONDS) == "done"
    with pytest.raises(MediaError, match=r"b\.wav was not processed, since the program ends"), calls.running("b.wav"):
        pytest.fail("it must not begin")


def test_end_stops_calls_that_can_be_stopped() -> None:
    calls, begun, stopped = NativeCalls(), threading.Event(), threading.Event()

    def work() -> None:
        with calls.running("speech", stop=stopped.set):
            begun.set()
            assert stopped.wait(PATIENCE_SECONDS)
            raise RuntimeError("terminated")

    with ThreadPoolExecutor(1) as threads:
        working = threads.submit(work)
        assert begun.wait(PATIENCE_SECONDS)
        calls.end(PATIENCE_SECONDS)
        with pytest.raises(MediaError, match="the program ends"):
            working.result(PATIENCE_SECONDS)


def test_error_before_the_end_is_the_calls_own() -> None:
    calls = NativeCalls()
    with pytest.raises(RuntimeError, match="broken"), calls.running("a.wav"):
        raise RuntimeError("broken")
    calls.end(0)


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_child_does_not_wait_for_calls_of_its_parent() -> None:
    program = """
import os, threading
from abstractcore.ports.transpilers import NativeCalls
calls = NativeCalls()
with calls.running("a.wav"):
    child = os.fork()
    if child == 0:
        calls.end(3600)
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert ran.stdout == "7\n", ran.stderr
