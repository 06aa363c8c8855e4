"""The virtual clock: hours in no real time, deterministic."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from abstractcore import OverloadedError, RateLimitError, RequestTimeoutError, Services, create_llm
from abstractcore.concurrency import AsyncRuntime, SyncRuntime
from abstractcore.testing import ScriptedReply, VirtualClock

HOUR = 3600.0


def runtime(call_style, clock):
    return SyncRuntime(clock) if call_style.name == "sync" else AsyncRuntime(clock)


def test_time_advances_by_sleeping_only(call_style):
    clock = VirtualClock(time_of_day=1_000.0)
    assert (clock.now(), clock.time_of_day()) == (0.0, 1_000.0)
    call_style.run(runtime(call_style, clock).sleep(HOUR))
    call_style.run(runtime(call_style, clock).sleep(0.5))
    assert (clock.now(), clock.time_of_day()) == (HOUR + 0.5, 1_000.0 + HOUR + 0.5)
    assert clock.sleeps == [HOUR, 0.5]


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_time_never_goes_back(call_style, seconds):
    clock = VirtualClock()
    call_style.run(runtime(call_style, clock).sleep(seconds))
    clock.advance(seconds)
    assert clock.now() == 0.0


def test_advance_moves_the_time():
    clock = VirtualClock()
    clock.advance(7.0)
    assert (clock.now(), clock.sleeps) == (7.0, [])


def test_sleeps_of_threads_add_up():
    clock = VirtualClock()
    threads = [threading.Thread(target=clock.sleep, args=[0.25]) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clock.now() == 4.0


def log_of(clock: VirtualClock, *naps: list[float], turns: int = 0) -> list[tuple[str, float]]:
    """When each task woke, the tasks named by letters; each takes `turns` of the loop between its naps."""
    log: list[tuple[str, float]] = []

    async def nap(name: str, seconds: list[float]) -> None:
        for each in seconds:
            for _ in range(turns):
                await asyncio.sleep(0)
            await clock.asleep(each)
            log.append((name, clock.now()))

    async def main() -> None:
        await asyncio.gather(*(nap(name, seconds) for name, seconds in zip("abcdef", naps, strict=False)))

    asyncio.run(main())
    return log


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_tasks_wake_in_order_of_time(turns):
    clock = VirtualClock()
    assert log_of(clock, [30.0], [10.0, 10.0, 15.0], [20.5], turns=turns) == [
        ("b", 10.0),
        ("b", 20.0),
        ("c", 20.5),
        ("a", 30.0),
        ("b", 35.0),
    ]


def test_tasks_that_wake_at_the_same_time_wake_in_order_of_start():
    assert log_of(VirtualClock(), [1.0], [1.0], [0.5, 0.5]) == [("c", 0.5), ("a", 1.0), ("b", 1.0), ("c", 1.0)]


def test_thousand_tasks():
    clock = VirtualClock()

    async def main() -> None:
        await asyncio.gather(*(clock.asleep(float(seconds)) for seconds in range(1000)))

    asyncio.run(main())
    assert clock.now() == 999.0


def test_cancelled_sleep_does_not_move_the_time():
    clock = VirtualClock()

    async def main() -> None:
        task = asyncio.ensure_future(clock.asleep(HOUR))
        await asyncio.sleep(0)
        task.cancel()
        await clock.asleep(1.0)
        assert task.cancelled()
        await asyncio.sleep(0)

    asyncio.run(main())
    assert clock.now() == 1.0


def test_advance_wakes_tasks_that_are_due():
    clock = VirtualClock()

    async def main() -> None:
        task = asyncio.ensure_future(clock.asleep(5.0))
        await asyncio.sleep(0)
        clock.advance(60.0)
        await task

    asyncio.run(main())
    assert clock.now() == 60.0


def test_loop_that_ended_with_sleepers_is_forgotten():
    clock = VirtualClock()

    async def leave() -> None:
        task = asyncio.ensure_future(clock.asleep(HOUR))
        await asyncio.sleep(0)
        assert not task.done()

    for _ in range(3):
        asyncio.run(leave())
    asyncio.run(clock.asleep(1.0))
    assert clock.now() == 1.0
    assert len(clock._dormitories) == 1


def scripted(clock: VirtualClock, *replies, **options):
    return create_llm("scripted", replies=replies, services=Services(clock=clock, random=lambda: 1.0), **options)


def test_retry_backoff_uses_it(call_style):
    clock = VirtualClock()
    llm = scripted(clock, OverloadedError("busy"), RateLimitError("slow down", retry_after=45.0), "here")
    response = call_style.generate(llm, "hi")
    assert response.content == "here"
    assert clock.sleeps == [0.5, 45.0]
    assert response.seconds == 45.5
    assert [attempt.started_at for attempt in response.attempts] == [0.0, 0.5, 45.5]


def test_deadlines_use_it(call_style):
    clock = VirtualClock()
    llm = scripted(clock, ScriptedReply.text("late", delay=HOUR), max_retries=0)
    with pytest.raises(RequestTimeoutError):
        call_style.generate(llm, "hi", timeout=60)
    assert clock.now() == 60.0


def test_delayed_calls_in_one_loop_end_in_order_of_their_delays():
    clock = VirtualClock()
    llm = scripted(clock, *(ScriptedReply.text(str(delay), delay=delay) for delay in (5.0, 1.0, 3.0)))
    order = []

    async def ask() -> None:
        order.append((await llm.agenerate("hi")).content)

    async def main() -> None:
        await asyncio.gather(ask(), ask(), ask())

    asyncio.run(main())
    assert order == ["1.0", "3.0", "5.0"]
    assert clock.now() == 5.0


@pytest.mark.process
def test_neither_hypothesis_nor_pytest_is_imported():
    code = "import sys, abstractcore.testing as t; t.VirtualClock(); print({'hypothesis', 'pytest'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "set()\n"
