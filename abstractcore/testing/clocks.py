"""A clock for tests: time passes by sleeping, and takes none."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from collections.abc import Callable

_TURNS_AT_REST = 20
"""So many turns of an event loop without a new sleeper, and all its tasks are taken to be asleep."""


class VirtualClock:
    """Time that passes only when code sleeps on it, for `Services(clock=VirtualClock())`.

    Pauses before retries, `Retry-After`, deadlines and the delays of scripted replies then take no real time, and are
    the same in every run. `sleeps` has every sleep in the order in which they began, in seconds.

    Plain code that sleeps moves the time on at once, so what several threads sleep adds up. In an event loop the time
    moves on when its tasks are asleep, to the one that wakes first. It does not wait for tasks that wait for threads
    or for the network, and several loops do not wait for each other. `asyncio.sleep` and `asyncio.timeout` go by the
    loop's own clock: a call's deadline is looked at between reads.
    """

    def __init__(self, *, time_of_day: float = 0.0) -> None:
        self.sleeps: list[float] = []
        self._epoch = time_of_day
        self._now = 0.0
        self._lock = threading.Lock()
        self._dormitories: dict[asyncio.AbstractEventLoop, _Dormitory] = {}

    def now(self) -> float:
        """Seconds since the clock was made."""
        return self._now

    def time_of_day(self) -> float:
        """Seconds since the epoch: `time_of_day` at the beginning."""
        return self._epoch + self._now

    def advance(self, seconds: float) -> None:
        """Let time pass. Tasks that have slept long enough wake at the next turns of their loop."""
        with self._lock:
            self._now += max(0.0, seconds)

    def sleep(self, seconds: float) -> None:
        """Move the time on."""
        self.sleeps.append(seconds)
        self.advance(seconds)

    async def asleep(self, seconds: float) -> None:
        """Let other tasks run until the time has come."""
        self.sleeps.append(seconds)
        loop = asyncio.get_running_loop()
        for other in [other for other in self._dormitories if other.is_closed()]:
            del self._dormitories[other]
        dormitory = self._dormitories.setdefault(loop, _Dormitory(loop, self._reach))
        await dormitory.sleep(self._now + max(0.0, seconds))

    def _reach(self, time: float) -> None:
        """Move the time on to `time`, unless it is later already."""
        with self._lock:
            self._now = max(self._now, time)


class _Dormitory:
    """The sleepers of one event loop. Those that wake at the same time wake in the order in which they lay down."""

    def __init__(self, loop: asyncio.AbstractEventLoop, reach: Callable[[float], None]) -> None:
        self._loop = loop
        self._reach = reach
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._turns_left = 0

    async def sleep(self, until: float) -> None:
        sleeper = self._loop.create_future()
        heapq.heappush(self._sleepers, (until, next(self._numbers), sleeper))
        if self._turns_left == 0:
            self._loop.call_soon(self._turn)
        self._turns_left = _TURNS_AT_REST
        await sleeper

    def _turn(self) -> None:
        """Wait for a turn, or wake the first sleeper. Called once a turn while anybody sleeps."""
        self._turns_left -= 1
        if self._turns_left == 0:
            self._wake_first()
            self._turns_left = _TURNS_AT_REST if self._sleepers else 0
        if self._turns_left:
            self._loop.call_soon(self._turn)

    def _wake_first(self) -> None:
        while self._sleepers:
            until, _, sleeper = heapq.heappop(self._sleepers)
            if not sleeper.done():
                self._reach(until)
                sleeper.set_result(None)
                return
