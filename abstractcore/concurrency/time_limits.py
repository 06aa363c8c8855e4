"""Time limits of calls: deadlines, how sync code keeps them, alarms, and the clock of this machine.

Deadlines of calls. Time limits of sync calls, which end waits through the runtime. Alarms: functions to call after a
delay, for code without an event loop. `SystemClock`: the clock of this machine.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType

from ..errors import RequestTimeoutError
from ..ports import CallContext, Clock, Runtime, TimeLimit
from ..schema.base_error import shown_seconds

_GRACE_SECONDS = 0.1
"""How much later than its attempts a call ends, so that middleware can handle a timeout."""


class InTime:
    """An async context manager that raises `RequestTimeoutError` if its body takes more than `seconds`.

    In sync calls it ends only waits of `runtime`. `given` is the timeout of the call, of which `seconds` are left.
    """

    __slots__ = ("_given", "_limit")

    def __init__(self, runtime: Runtime, seconds: float | None, given: float | None = None) -> None:
        self._limit: TimeLimit | None = None if seconds is None else runtime.timeout(seconds)
        self._given = seconds if given is None else given

    async def __aenter__(self) -> None:
        if self._limit is not None:
            await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._limit is None:
            return
        try:
            await self._limit.__aexit__(kind, error, traceback)
        except TimeoutError as timeout:
            error = timeout
        if isinstance(error, TimeoutError) and self._limit.expired():  # otherwise it is raised by a middleware
            raise out_of_time(self._given) from None


def remaining(context: CallContext) -> float | None:
    """Returns the seconds to the deadline, or None; raises `RequestTimeoutError` past it."""
    until = _end_of(context)
    if until is None:
        return None
    left = until - context.runtime.now()
    if left <= 0:
        raise out_of_time(time_given(context))
    return left


def _end_of(context: CallContext) -> float | None:
    """Returns the deadline of a call, or the earlier time at which the model that is asked now has to answer."""
    deadline, begin_by = context.deadline, context.begin_by
    return deadline if begin_by is None or (deadline is not None and deadline < begin_by) else begin_by


def last_moment(context: CallContext) -> float | None:
    """Returns the seconds until the call is ended; raises `RequestTimeoutError` past that time."""
    left = remaining(context)
    return None if left is None else left + _GRACE_SECONDS


def overdue(context: CallContext) -> bool:
    """Returns whether the deadline has passed, and so has interrupted an attempt."""
    until = _end_of(context)
    return until is not None and context.runtime.now() >= until


def time_given(context: CallContext) -> float | None:
    """Returns the seconds from the beginning of the call to its deadline."""
    until = _end_of(context)
    return None if until is None else until - context.monotonic_start


def out_of_time(seconds: float | None) -> RequestTimeoutError:
    """Returns the error for a call that did not finish in `seconds`; None if it had no timeout."""
    message = "the call timed out"
    if seconds is not None:
        message += f" after {shown_seconds(seconds)}"
    return RequestTimeoutError(message, hint="Allow more time with timeout=SECONDS.")


_LIMIT = "limit"


class Limit:
    """An async context manager: waits in its body, and in copies of its context, raise `TimeoutError` after `seconds`.

    Code that does not wait through the runtime continues. Of nested limits, the earliest applies.
    """

    def __init__(self, seconds: float | None, clock: Clock) -> None:
        self._due = None if seconds is None else time.monotonic() + seconds
        self._clock = clock
        self._due_on_clock = None if seconds is None else clock.now() + seconds
        self._token: Token[Limit | None] | None = None
        self._expired = False
        self._ended = False

    async def __aenter__(self) -> None:
        if self._due is None:
            return
        outer = current_limit()
        nearest = self if outer is None or self.left() < outer.left() else outer
        self._token = _limit.set(nearest)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        if self._token is not None:
            _limit.reset(self._token)
        self._ended = True
        self._expired = error is not None and vars(error).get(_LIMIT) is self

    def expired(self) -> bool:
        """Returns whether the limit ended its body."""
        return self._expired

    @property
    def ended(self) -> bool:
        """Whether the body has ended."""
        return self._ended

    def error(self) -> TimeoutError:
        """Returns the error to raise in a wait; `expired` distinguishes it from other timeouts."""
        error = TimeoutError("the time limit has passed")
        vars(error)[_LIMIT] = self
        return error

    def left(self) -> float:
        """Returns the seconds until the limit, never negative."""
        return float("inf") if self._due is None else max(0.0, self._due - time.monotonic())

    def left_on(self, clock: Clock) -> float:
        """Returns the seconds left on `clock`: sleeping on a virtual clock takes no real time."""
        if self._due_on_clock is None or clock is not self._clock:
            return self.left()
        return max(0.0, self._due_on_clock - clock.now())


_limit: ContextVar[Limit | None] = ContextVar("abstractcore_time_limit", default=None)


def current_limit() -> Limit | None:
    """Returns the earliest limit that is active here. A limit whose body has ended is ignored: threads that live longer
    may have inherited it."""
    limit = _limit.get()
    return None if limit is None or limit.ended else limit


def is_of_call(error: TimeoutError) -> bool:
    """Returns whether the time limit of a whole call was raised, not that of one function."""
    return isinstance(vars(error).get(_LIMIT), Limit)


_TICK_SECONDS = 0.05
"""The maximum delay of an alarm."""
_log = logging.getLogger("abstractcore")


class Alarm:
    """A function to call once, unless it is cancelled before."""

    __slots__ = ("due", "ring")

    def __init__(self, due: float, ring: Callable[[], object]) -> None:
        self.due = due
        self.ring = ring


class AlarmClock:
    """Runs alarms in one daemon thread, which lives only while there are any.

    Setting an alarm costs far less than a thread for each, and wakes no thread. It has no locks, which a fork could
    leave locked forever; a forked child starts without alarms.
    """

    def __init__(self) -> None:
        self._alarms: dict[int, set[Alarm]] = {}
        self._watched: set[int] = set()

    def set(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Calls `ring` after `seconds`; returns a function that cancels the alarm."""
        process = os.getpid()
        alarms = self._alarms.get(process) or self._alarms.setdefault(process, set())
        alarm = Alarm(time.monotonic() + seconds, ring)
        alarms.add(alarm)
        if process not in self._watched:
            self._begin(process, alarms)
        return lambda: alarms.discard(alarm)

    def _begin(self, process: int, alarms: set[Alarm]) -> None:
        self._watched.add(process)
        thread = threading.Thread(target=self._watch, args=(process, alarms), name="abstractcore-alarms", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the interpreter is shutting down
            self._watched.discard(process)
            _log.warning("alarms cannot run: %s", error)

    def _watch(self, process: int, alarms: set[Alarm]) -> None:
        while True:
            time.sleep(_TICK_SECONDS)
            _ring(alarms)
            if alarms:
                continue
            self._watched.discard(process)
            if not alarms or process in self._watched:
                return
            self._watched.add(process)  # an alarm was set while this thread ended


def _ring(alarms: set[Alarm]) -> None:
    now = time.monotonic()
    for alarm in [each for each in tuple(alarms) if each.due <= now]:
        alarms.discard(alarm)
        try:
            alarm.ring()
        except Exception:
            _log.exception("an alarm failed")


class SystemClock:
    """The real time, in seconds; blocks for sleeps."""

    now = staticmethod(time.monotonic)
    """Returns seconds on a monotonic clock."""

    def time_of_day(self) -> float:
        """Returns seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Blocks the thread for `seconds`."""
        time.sleep(seconds)

    def sleep_until(self, woken: threading.Event, seconds: float) -> None:
        """Blocks the thread until `woken` is set, for `seconds` at most."""
        woken.wait(seconds)

    async def asleep(self, seconds: float) -> None:
        """Sleeps for `seconds` without blocking the event loop."""
        import asyncio

        await asyncio.sleep(seconds)
