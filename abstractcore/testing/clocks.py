"""`VirtualClock`: a clock for tests, whose sleeps take no real time.

`tool_context`: the context of a tool in a unit test, without a call of a model.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from ..concurrency import SyncRuntime
from ..ports import ToolContext
from ..schema import ToolCall, ToolProgress

_TURNS_AT_REST = 20
"""After so many iterations of an event loop without a new sleeper, all its tasks count as asleep."""


class VirtualClock:
    """A clock that advances only by sleeping, for `Services(clock=VirtualClock())`.

    Pauses before retries, `Retry-After`, deadlines and the delays of scripted replies then take no real time, and are
    the same in every run. `sleeps` holds the seconds of every sleep, in the order in which they began.

    A sleep in sync code advances the clock at once, so sleeps of several threads add up. In an event loop the clock
    advances when all tasks sleep, to the first one to wake. It does not wait for tasks that wait for threads or for the
    network, and several loops do not wait for each other. `asyncio.sleep` and `asyncio.timeout` use the loop's own
    clock: the deadline of a call is checked between reads. `time_of_day` is its time at first, in seconds since 1970.
    """

    def __init__(self, *, time_of_day: float = 0.0) -> None:
        self.sleeps: list[float] = []
        self._epoch = time_of_day
        self._now = 0.0
        self._lock = threading.Lock()
        self._dormitories: dict[asyncio.AbstractEventLoop, _Sleepers] = {}

    def now(self) -> float:
        """Returns the seconds since the clock was created."""
        return self._now

    def time_of_day(self) -> float:
        """Returns seconds since the epoch, beginning at `time_of_day`."""
        return self._epoch + self._now

    def advance(self, seconds: float) -> None:
        """Advances the clock. Tasks that have slept long enough wake in the next iterations of their loop."""
        with self._lock:
            self._now += max(0.0, seconds)

    def sleep(self, seconds: float) -> None:
        """Advances the clock by `seconds`."""
        self.sleeps.append(seconds)
        self.advance(seconds)

    async def asleep(self, seconds: float) -> None:
        """Lets other tasks run until the clock has advanced by `seconds`."""
        self.sleeps.append(seconds)
        loop = asyncio.get_running_loop()
        for other in [other for other in self._dormitories if other.is_closed()]:
            del self._dormitories[other]
        dormitory = self._dormitories.setdefault(loop, _Sleepers(loop, self._reach))
        await dormitory.sleep(self._now + max(0.0, seconds))

    def _reach(self, time: float) -> None:
        """Advances the clock to `time`, unless it is later already."""
        with self._lock:
            self._now = max(self._now, time)


class _Sleepers:
    """The sleeping tasks of one event loop. Those that wake at the same time wake in the order of their sleeps."""

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
        """Waits for an iteration, or wakes the first sleeper. Called once per iteration while tasks sleep."""
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


D = TypeVar("D")
_CALL = ToolCall("call_0_0", "tool", "{}")


@dataclass(frozen=True)
class RecordedContext(ToolContext[D]):
    """A `ToolContext` that keeps what the tool reported: `reported` has a `ToolProgress` for each `progress(...)`."""

    reported: list[ToolProgress] = field(default_factory=list[ToolProgress])

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Keeps the progress in `reported`."""
        self.reported.append(ToolProgress(self.call, done, total, message))


@overload
def tool_context(
    deps: None = None,
    *,
    llm: Any = None,
    call: ToolCall = _CALL,
    trace_id: str = "trace",
    seconds_left: float | None = None,
) -> RecordedContext[Any]: ...
@overload
def tool_context(
    deps: D,
    *,
    llm: Any = None,
    call: ToolCall = _CALL,
    trace_id: str = "trace",
    seconds_left: float | None = None,
) -> RecordedContext[D]: ...
def tool_context(
    deps: Any = None,
    *,
    llm: Any = None,
    call: ToolCall = _CALL,
    trace_id: str = "trace",
    seconds_left: float | None = None,
) -> RecordedContext[Any]:
    """Returns a context to call a tool with in a test: `price("tea", tool_context(Shop(...)))`.

    `seconds_left` is the time until the call of `generate` would time out, on a clock that stands still. What the tool
    reports with `context.progress(...)` is in `reported`.
    """
    runtime = SyncRuntime(VirtualClock())
    deadline = None if seconds_left is None else runtime.now() + seconds_left
    return RecordedContext(deps, llm, call, trace_id, runtime, deadline)
