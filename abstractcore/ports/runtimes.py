"""`Runtime`: what differs between sync and async calls.

`Interruption`: ends the waits of a call from another thread or task. `Isolation`: runs functions where a crash, an
endless loop or too much memory does no harm.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from ..copying import NotCopied
from ..errors import StreamInterruptedError

_log = logging.getLogger("abstractcore")


class Interruption(NotCopied):
    """A flag that is set once, from any thread, and ends every call that was given it: `generate(interruption=...)`.

    Code that blocks by itself is not ended, and goes on in its thread. Waits of the call register functions that end
    them.
    """

    _holds = "functions that end the waits of calls"
    _instead = "Share it with the threads of this process, and send another process a message of your own."

    def __init__(self) -> None:
        self.is_set = False
        self._ends: list[Callable[[], object]] = []
        # Reentrant: a thread that ends a wait may garbage-collect another stream.
        self._lock = threading.RLock()

    def set(self) -> None:
        """Ends current waits, and prevents further ones."""
        with self._lock:
            if self.is_set:
                return
            self.is_set = True
            for end in tuple(self._ends):
                try:
                    end()
                except Exception:
                    _log.exception("ending a wait failed")

    def check(self) -> None:
        """Raises `StreamInterruptedError` if it is set."""
        if self.is_set:
            raise StreamInterruptedError("this stream was closed while it was read")

    @contextmanager
    def ending(self, end: Callable[[], object]) -> Generator[None]:
        """Wraps a wait. `end` ends the wait; it may be called from any thread, and is not called after the wait."""
        with self._lock:
            self._ends.append(end)
            if self.is_set:
                end()
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)

    @contextmanager
    def of_this_call(self) -> Generator[None]:
        """Makes `current_interruption` return this one in its body, and in copies of its context. The interruption of
        a call around this one sets it too."""
        with interruptible(self.set):
            token = _current.set(self)
            try:
                yield
            finally:
                _current.reset(token)


_current: ContextVar[Interruption | None] = ContextVar("abstractcore_interruption", default=None)


_NOTHING = nullcontext()


def interruptible(end: Callable[[], object]) -> AbstractContextManager[None]:
    """Wraps a wait. `end`, which may be called from any thread, ends it if the current call is interrupted."""
    interruption = _current.get()
    return _NOTHING if interruption is None else interruption.ending(end)


def current_interruption() -> Interruption | None:
    """Returns the interruption of the current call, or None."""
    return _current.get()


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

    async def gather(self, *thunks: Callable[[], Awaitable[T]], threads: int = 16) -> list[T]:
        """Runs the thunks concurrently, in sync calls up to `threads` at a time; the first failure cancels the others
        and is raised.
        """
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

    async def wait(self, future: Future[Any], seconds: float | None = None) -> bool:
        """Waits until a future has ended, which another thread or task sets, for `seconds` of the runtime's clock at
        most; returns whether it has. Does not cancel it.
        """
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


class Isolation(Protocol):
    """Runs generator functions in processes that are killed if they take too long, or nobody waits for them."""

    def run(
        self,
        function: Callable[..., Generator[Any, Any, None]],
        arguments: Sequence[object],
        *,
        source: str,
        seconds: float,
        timeout: float | None,
    ) -> Generator[Any, Any, None]:
        """Yields the values of `function`, a generator function of an importable module; blocks.

        Arguments are pickled. Values, and those that are sent to the generator, are of None, booleans, numbers, texts,
        bytes and lists: nothing that the process sends is unpickled. Close the generator if it is not read to its end.

        Raises the `MediaError` or `MissingExtraError` that the function raises; `CorruptFileError` if it raises another
        exception, its process dies or sends anything else, or one value takes longer than `seconds`; `MediaError` if
        all take longer than `timeout`; `StreamInterruptedError` if the call is interrupted. `source` is the name of the
        file, for these errors.
        """
        ...
