"""`Runtime`: what differs between sync and async calls."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from .interruptions import Interruption

T = TypeVar("T")
WorkKind: TypeAlias = Literal["files", "other"]
"""Blocking functions run in a thread pool for their kind: many slow files do not block other work."""


class Clock(Protocol):
    """A clock, with sleeps. All times are in seconds."""

    def now(self) -> float:
        """Returns monotonic seconds, for durations and deadlines."""
        ...

    def time_of_day(self) -> float:
        """Returns seconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> None:
        """Blocks the thread for `seconds`."""
        ...

    async def asleep(self, seconds: float) -> None:
        """Sleeps for `seconds` without blocking the event loop."""
        ...


@runtime_checkable
class WakeableClock(Protocol):
    """A clock whose sleeps take real time, and can be interrupted."""

    def sleep_until(self, woken: threading.Event, seconds: float) -> None:
        """Blocks the thread until `woken` is set, for `seconds` at most."""
        ...


class TimeLimit(Protocol):
    """An async context manager that limits the time of its body."""

    async def __aenter__(self) -> object: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool | None: ...

    def expired(self) -> bool:
        """Returns whether the limit ended its body: a `TimeoutError` may have other causes."""
        ...


class Feed(Protocol[T]):
    """Items that are produced while they are read."""

    async def read(self) -> list[T]:
        """Returns the items since the last read, at least one; none at the end. Raises the producer's failure."""
        ...

    async def close(self) -> None:
        """Cancels the producer, in sync calls only the wait for it."""
        ...


class Runtime(Protocol):
    """What differs between sync and async calls. The sync runtime never suspends, the async one never blocks."""

    def now(self) -> float:
        """Returns monotonic seconds, for durations and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Sleeps for `seconds`."""
        ...

    async def gather(self, *thunks: Callable[[], Awaitable[T]]) -> list[T]:
        """Runs the thunks concurrently; the first failure cancels the others and is raised."""
        ...

    def feed(self, produce: Callable[[Callable[[T], None]], Awaitable[None]]) -> Feed[T]:
        """Returns a feed of the items that `produce` puts, by the function that it is given, from any thread.

        It runs from the first read on, in a copy of that context: in a task, in sync calls in a thread.
        """
        ...

    async def call(self, function: Callable[..., T], *arguments: object, kind: WorkKind = "other") -> T:
        """Runs a blocking function in a thread of a bounded pool, with a copy of the context; in sync calls without a
        time limit in this thread.

        A function that has not begun when the call is cancelled or its time limit passes is not called. One that has
        begun continues: it is counted in `abandoned`, and logged as a warning.
        """
        ...

    async def wait(self, future: Future[Any]) -> None:
        """Waits until a future has ended, which another thread or task sets. Does not cancel it."""
        ...

    async def invoke(
        self, function: Callable[..., Awaitable[T] | T], *arguments: object, timeout: float | None = None
    ) -> T:
        """Runs a user's function, sync or async, for `timeout` seconds at most; in another thread it has a copy of the
        context. In sync calls a sync function runs in a thread if there is a time limit.

        Raises the builtin `TimeoutError` at the limit. An async function is cancelled then; a sync one, which cannot be
        stopped, continues: it is counted in `abandoned`, and logged as a warning. Raises `ConfigurationError` for an
        async function whose event loop is blocked until this call ends.
        """
        ...

    @property
    def abandoned(self) -> int:
        """The number of functions that still run after their caller stopped waiting."""
        ...

    def timeout(self, seconds: float | None) -> TimeLimit:
        """Returns a context that ends its body after `seconds` with the builtin `TimeoutError`. In sync calls it ends
        waits through this runtime only."""
        ...

    async def interruptible(self, interruption: Interruption, make: Callable[[], Awaitable[T]]) -> T:
        """Awaits `make()`. Raises `StreamInterruptedError` when `interruption` is set; in sync calls this ends waits
        through this runtime or a transport only.
        """
        ...

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Calls `ring` after `seconds`, in sync calls from another thread; returns a function that cancels the alarm.

        One alarm for a stream costs less than a `timeout` around each of its reads.
        """
        ...
