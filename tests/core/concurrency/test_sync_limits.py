"""Sync calls: deadlines between and during reads, and the background event loop."""

from __future__ import annotations

import asyncio
import gc
import itertools
import subprocess
import sys
import threading
import time

import pytest

from abstractcore import RequestTimeoutError, StreamInterruptedError, TextDelta
from abstractcore.concurrency import SyncRuntime, drive
from tests.chaos_server import HANG, PATIENCE_SECONDS, PROMPTLY_SECONDS, Pause, answer, chunk, delta, stream_head
from tests.core.concurrency.test_invoke import asynchronous
from tests.core.concurrency.test_threads_and_loops import in_fork

DEADLINE_SECONDS = 0.3
BETWEEN_SECONDS = 0.02
"""How much later than a deadline a busy machine may be."""


def dripping(head: bytes, piece: bytes):
    """A script that sends a chunk at a time forever."""
    return lambda request: itertools.chain([head], itertools.cycle([Pause(BETWEEN_SECONDS), piece]))


def test_dripping_response_ends_at_the_deadline(call_style, server, connect):
    server.always_by(dripping(answer(length=10**9), b" "))
    start = time.monotonic()
    with pytest.raises(RequestTimeoutError) as caught:
        call_style.generate(connect(timeout=DEADLINE_SECONDS), "hi")
    took = time.monotonic() - start
    assert DEADLINE_SECONDS <= took < DEADLINE_SECONDS + PROMPTLY_SECONDS
    assert [attempt.error for attempt in caught.value.attempts] == ["RequestTimeoutError"]
    server.assert_closed_promptly(start + took)


def test_dripping_stream_ends_at_the_deadline_with_partial_reply(call_style, server, connect):
    server.always_by(dripping(stream_head(), chunk(delta("x"))))
    start = time.monotonic()
    deltas = []
    with pytest.raises(StreamInterruptedError, match="timed out after") as caught:
        deltas.extend(call_style.stream(connect(timeout=DEADLINE_SECONDS), "hi"))
    took = time.monotonic() - start
    assert DEADLINE_SECONDS <= took < DEADLINE_SECONDS + PROMPTLY_SECONDS
    assert caught.value.partial.text.startswith("xx")
    server.assert_closed_promptly(start + took)


def test_stream_dripping_less_than_a_delta_at_a_time_ends_at_the_deadline(call_style, server, connect):
    server.always_by(dripping(stream_head() + chunk(delta("hello")) + chunk(b"data: "), chunk(b" ")))
    stream = call_style.stream(connect(timeout=DEADLINE_SECONDS), "hi")
    start = time.monotonic()
    with pytest.raises(StreamInterruptedError) as caught:
        list(stream)
    assert time.monotonic() - start < DEADLINE_SECONDS + PROMPTLY_SECONDS
    assert caught.value.partial.text == "hello"


def test_deadline_passes_while_the_reader_is_busy(call_style, server, connect):
    """Time passes between two reads of the user's."""
    server.always_by(dripping(stream_head(), chunk(delta("x"))))
    stream = call_style.stream(connect(timeout=DEADLINE_SECONDS), "hi")
    while not isinstance(next(stream), TextDelta):
        pass
    threading.Event().wait(DEADLINE_SECONDS)
    start = time.monotonic()
    with pytest.raises(StreamInterruptedError):
        list(stream)
    assert time.monotonic() - start < PROMPTLY_SECONDS


def test_stalled_stream_ends_at_the_deadline(call_style, server, connect):
    """And not that long after the last piece."""
    seconds = 2.0
    server.script(stream_head() + chunk(delta("hello")), Pause(seconds / 2), chunk(delta(" there")), HANG)
    start = time.monotonic()
    with pytest.raises(StreamInterruptedError, match="timed out after") as caught:
        list(call_style.stream(connect(timeout=seconds), "hi"))
    took = time.monotonic() - start
    assert seconds <= took < seconds * 1.5
    assert caught.value.partial.text == "hello there"
    server.assert_closed_promptly(start + took)


def test_stalled_response_ends_at_the_deadline(call_style, server, connect):
    """And not that long after its head."""
    seconds = 2.0
    server.script(Pause(seconds * 0.75), answer("", length=9), HANG)
    start = time.monotonic()
    with pytest.raises(RequestTimeoutError):
        call_style.generate(connect(timeout=seconds), "hi")
    took = time.monotonic() - start
    assert seconds <= took < seconds * 1.5
    server.assert_closed_promptly(start + took)


# Async functions under plain code.


def test_ctrl_c_cancels_an_async_function_and_waits_for_it(ctrl_c):
    begun, ended = threading.Event(), []

    async def hang() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    runtime = SyncRuntime()
    ctrl_c(begun.is_set)
    with pytest.raises(KeyboardInterrupt):
        drive(runtime.invoke(hang))
    assert (ended, runtime.abandoned) == ([True], 0)
    assert drive(runtime.invoke(asynchronous, 1)) == 2


def test_ctrl_c_abandons_a_sync_function_with_a_timeout(ctrl_c):
    begun, release, ended = threading.Event(), threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        release.wait(PATIENCE_SECONDS)
        ended.set()

    runtime = SyncRuntime()
    ctrl_c(begun.is_set)
    with pytest.raises(KeyboardInterrupt):
        drive(runtime.invoke(hang, timeout=PATIENCE_SECONDS))
    assert runtime.abandoned == 1
    release.set()
    assert ended.wait(PATIENCE_SECONDS)


def test_llms_with_the_same_services_share_one_background_event_loop(services, connect):
    async def where() -> threading.Thread:
        return threading.current_thread()

    runtimes = [connect()._pipelines.sync.runtime for _ in range(2)]
    assert len({drive(runtime.invoke(where)) for runtime in runtimes}) == 1
    thread = drive(runtimes[0].invoke(where))
    services.close()
    assert not thread.is_alive()


@pytest.mark.process
def test_forked_child_gets_its_own_background_event_loop():
    """While the parent's runs: it continues undisturbed."""
    runtime = SyncRuntime()
    begun, go_on = threading.Event(), threading.Event()
    results: list[int] = []

    async def wait() -> int:
        begun.set()
        await asyncio.to_thread(go_on.wait, PATIENCE_SECONDS)
        return 42

    reader = threading.Thread(target=lambda: results.append(drive(runtime.invoke(wait))))
    reader.start()
    assert begun.wait(PATIENCE_SECONDS)

    def child() -> None:
        assert drive(runtime.invoke(asynchronous, 1)) == 2
        runtime.close()
        gc.collect()

    in_fork(child)
    assert drive(runtime.invoke(asynchronous, 2)) == 3
    go_on.set()
    reader.join(PATIENCE_SECONDS)
    assert results == [42]


@pytest.mark.process
def test_forked_child_does_not_count_abandoned_functions_of_its_parent():
    runtime = SyncRuntime()
    release = threading.Event()
    with pytest.raises(TimeoutError):
        drive(runtime.invoke(release.wait, PATIENCE_SECONDS, timeout=0.01))
    assert runtime.abandoned == 1

    def child() -> None:
        assert runtime.abandoned == 0

    in_fork(child)
    release.set()


AT_EXIT = """
import asyncio, contextlib, threading
from abstractcore import Services
from abstractcore.concurrency import drive

async def hang():
    try:
        begun.set()
        await asyncio.Event().wait()
    finally:
        print("cancelled")

async def double(number):
    return number * 2

services, begun = Services(), threading.Event()
print(drive(services.sync_runtime.invoke(double, 21)))

def use():
    with contextlib.suppress(BaseException):
        drive(services.sync_runtime.invoke(hang))

threading.Thread(target=use, daemon=True).start()
begun.wait()
with contextlib.suppress(TimeoutError):
    drive(services.sync_runtime.invoke(threading.Event().wait, timeout=0.01))
print("end", flush=True)
{ending}
"""


@pytest.mark.process
@pytest.mark.parametrize("ending", ["", "services.close()"], ids=["left", "closed"])
def test_abandoned_functions_do_not_delay_interpreter_exit(ending):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", AT_EXIT.format(ending=ending)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS * 2,
        check=False,
    )
    lines = result.stdout.split()
    assert (lines[:2], result.returncode) == (["42", "end"], 0)
    assert set(lines[2:]) <= {"cancelled"}
    assert result.stderr.splitlines() == [
        "Event.wait is still running in a background thread after its call ended (1 such now)"
    ]
