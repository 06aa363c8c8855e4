"""What differs between plain code and event loops."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from .interruptions import Interruption

T = TypeVar("T")
WorkKind: TypeAlias = Literal["files", "other"]
"""Functions that block run in a pool of threads for their kind: a flood of slow files holds up nothing else."""


class Clock(Protocol):
    """Time, and waiting for it to pass. Seconds everywhere."""

    def now(self) -> float:
        """On a clock that only goes forward, for durations and deadlines."""
        ...

    def time_of_day(self) -> float:
        """Since the epoch."""
        ...

    def sleep(self, seconds: float) -> None:
        """Block the thread."""
        ...

    async def asleep(self, seconds: float) -> None:
        """Let other tasks run meanwhile."""
        ...


@runtime_checkable
class WakeableClock(Protocol):
    """A clock whose `sleep` takes real time, and can be cut short."""

    def sleep_until(self, woken: threading.Event, seconds: float) -> None:
        """Block the thread until `woken` is set, `seconds` at most."""
        ...


class TimeLimit(Protocol):
    """What `Runtime.timeout` gives, for `async with`."""

    async def __aenter__(self) -> object: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool | None: ...

    def expired(self) -> bool:
        """Whether it ended what ran inside: a `TimeoutError` may have other reasons."""
        ...


class Runtime(Protocol):
    """What differs between sync and async calls. The sync runtime never suspends, the async one never blocks."""

    def now(self) -> float:
        """Seconds on a clock that only goes forward, for durations and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...

    async def gather(self, *thunks: Callable[[], Awaitable[T]]) -> list[T]:
        """Run several at once; the first failure ends the others and is raised."""
        ...

    async def call(self, function: Callable[..., T], *arguments: object, kind: WorkKind = "other") -> T:
        """Run a function that blocks, in a thread of a bounded pool with a copy of the context; in plain code without
        a time limit, here.

        A call that is cancelled, or whose time limit passes, before it has begun never begins. One that has begun runs
        on: it is counted in `abandoned`, and warned of in the log.
        """
        ...

    async def invoke(
        self, function: Callable[..., Awaitable[T] | T], *arguments: object, timeout: float | None = None
    ) -> T:
        """Run a user's function, plain or async, for `timeout` seconds at most; in another thread it has a copy of
        the context. In plain code a plain function has a thread if it has a time limit, its own or one around it.

        Past its time it raises the builtin `TimeoutError`. An async function is cancelled then; a plain one, which
        cannot be stopped, runs on: it is counted in `abandoned`, and warned of in the log. Raises `ConfigurationError`
        for an async function whose event loop cannot go on before this call has ended.
        """
        ...

    @property
    def abandoned(self) -> int:
        """How many functions still run though nobody waits for them any more."""
        ...

    def timeout(self, seconds: float | None) -> TimeLimit:
        """End what runs inside after `seconds` with the builtin `TimeoutError`: in plain code what waits through this
        runtime, which it cannot interrupt else."""
        ...

    async def interruptible(self, interruption: Interruption, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` gives. Raises `StreamInterruptedError` once `interruption` is set: plain code ends waits that go
        through this runtime or a transport.
        """
        ...

    def alarm(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Call `ring` after `seconds`, in plain code from another thread; gives the function that calls the alarm off.

        One alarm for a whole stream costs less than a `timeout` around each of its reads.
        """
        ...
