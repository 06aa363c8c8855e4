"""`CallQueue`: where the calls of one name wait in this process, in the order in which they began.

The first of them asks for its place when there may be one; those behind it wait for its end, and ask nothing. Of limits
that processes share, the first of each process asks the database.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..concurrency import ProcessWorker
from ..errors import LimitExceededError
from ..ports import CallContext
from ..schema.base_error import shown_seconds
from .counting import CallCounts, CountedCall, LimitReached, Numbers
from .learning import LearntRate
from .limits import Limits, LimitsState
from .line import ALARMS, LOCK, WaitingCall, WaitingLine

if TYPE_CHECKING:
    from .leases import CallLeases, Turn

PRIORITY_SECONDS: Final = 60.0
"""How much longer a call must have waited to be as far in front as one whose priority is higher by 1."""
_MOST_PAUSE_SECONDS: Final = 60.0
_FIRST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 0.5
_MOST_QUEUES: Final = 4096
_LAST_SECONDS: Final = 5.0
_LEASE_SECONDS: Final = 15.0
"""How long a call of a process that was killed counts as running."""
_RENEWAL_SECONDS: Final = 5.0
_EXACT: Final = frozenset({"requests", "pause"})
"""What is not free earlier than it is said to be: a call whose time is over before does not wait for it."""
_log = logging.getLogger("abstractcore")
_worker: Final = ProcessWorker("abstractcore-limits", last_seconds=_LAST_SECONDS)
_opening = threading.Lock()
"""Held while a database is opened: once for all calls that begin together. A child of a fork has another one."""
_process = 0
"""How many forks lie between this process and the first one."""


def _in_child() -> None:
    global _process, _opening
    _process += 1
    _opening = threading.Lock()
    LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=_in_child)


def flush(timeout: float | None = None) -> bool:
    """Waits up to `timeout` seconds until what ended is written to databases; returns whether it is."""
    return _worker.flush(timeout)


class CallQueue:
    """The calls of one name that wait, and those that count. Calls in any threads and event loops may use it."""

    def __init__(
        self, name: str | None = None, leases: CallLeases | None = None, learnt: LearntRate | None = None
    ) -> None:
        self.learnt = learnt
        self._name = name
        self._leases = leases
        self._counts = CallCounts()
        self._line = WaitingLine()
        self._paused_until = -math.inf
        self._running: dict[str, Callable[[], float]] = {}
        """The calls of this process in the database that run, each with the time of day by its clock."""
        self._renewal: Callable[[], object] | None = None
        self._process = _process

    def begin_at_once(self, numbers: Numbers, tokens: int, now: float, expires: float) -> CountedCall | None:
        """Lets a call in if nobody waits and it has room, without a wait for a database."""
        if self._line.waiting or self._leases is not None or self._paused_until > now:
            return None
        with LOCK:
            if self._process != _process:
                self._begin_in_child()
            found = self._counts.begin(numbers, tokens, now, expires)
        return found if isinstance(found, CountedCall) else None

    async def begin(
        self, limits: Limits, tokens: int, seconds: float, priority: int, context: CallContext
    ) -> CountedCall | str:
        """Waits until a call has room that takes at most `seconds`; returns what to end it with.

        Raises `LimitExceededError` if that takes longer than the call may take, and the errors of
        `abstractcore.database`.
        """
        runtime, start = context.runtime, context.runtime.now()

        def ask(now: float) -> CountedCall | LimitReached:
            return self._counts.begin(self.numbers(limits, now), tokens, now, now + seconds)

        rank = _began_at(context, shared=self._leases is not None) - PRIORITY_SECONDS * priority
        call = self._join(WaitingCall(rank, ask, runtime.now))
        pause, reached, found = _FIRST_PAUSE, None, None
        try:
            while True:
                wait: float | None = None
                left = math.inf if context.deadline is None else context.deadline - runtime.now()
                turn = self._line.renewed_turn(call)
                if call.place is not None:
                    found = call.place
                    return found
                if left > 0 and self._line.is_first(call):
                    answer = await self._ask(call, limits, tokens, seconds, context)
                    if not isinstance(answer, LimitReached):
                        found = answer
                        return answer
                    reached, wait = answer, answer.retry_after
                    if self._leases is not None and answer.limit not in _EXACT:
                        wait, pause = min(wait, pause), min(2 * pause, _LONGEST_PAUSE)
                if left <= 0 or (wait is not None and reached is not None and reached.limit in _EXACT and wait >= left):
                    raise _out_of_time(limits, reached, wait, runtime.now() - start)
                wait = left if wait is None else min(wait, left)
                call.asks_at = runtime.now() + wait
                await runtime.wait(turn, None if wait == math.inf else max(wait, 0.001))
        finally:
            self._leave(call, is_in=found is not None)

    def settle(self, call: CountedCall | str, tokens: int, now: float) -> None:
        """Ends a call that used so many tokens; `now` is in seconds since the epoch."""
        if isinstance(call, CountedCall):
            with LOCK:
                self._counts.settle(call, tokens)
            self._line.wake_first()
        elif (leases := self._leases) is not None:
            self._running.pop(call, None)
            self._in_order(lambda: leases.settle(call, tokens, now))

    def drop(self, call: CountedCall | str) -> None:
        """Ends a call that was not sent."""
        if isinstance(call, CountedCall):
            with LOCK:
                self._counts.drop(call)
            self._line.wake_first()
        elif (leases := self._leases) is not None:
            self._running.pop(call, None)
            self._in_order(lambda: leases.drop(call))

    def pause(self, seconds: float, now: float) -> None:
        """Lets no call in for so long, a minute at most, as the provider asks for."""
        self._paused_until = max(self._paused_until, now + min(seconds, _MOST_PAUSE_SECONDS))

    def refused(self, begun: float, now: float) -> None:
        """Learns from a refusal of a request that left at `begun`."""
        if self.learnt is not None:
            self.learnt.refused(begun, now, self._counts.requests)

    def numbers(self, limits: Limits, now: float) -> Numbers:
        """Returns the limits of now."""
        return limits if self.learnt is None else self.learnt.numbers(now)

    def state(self, limits: Limits) -> LimitsState:
        """Returns what counts in this process."""
        counts = self._counts
        numbers = limits if self.learnt is None else self.learnt.known
        return LimitsState(
            counts.requests,
            counts.tokens,
            counts.running,
            self._line.waiting,
            numbers.requests_per_minute,
            numbers.tokens_per_minute,
            numbers.parallel,
        )

    @property
    def is_idle(self) -> bool:
        """Whether no call waits or runs."""
        return not self._line.waiting and not self._counts.running

    def _join(self, call: WaitingCall) -> WaitingCall:
        with LOCK:
            if self._process != _process:
                self._begin_in_child()
            self._line.join(call)
        return call

    async def _ask(
        self, call: WaitingCall, limits: Limits, tokens: int, seconds: float, context: CallContext
    ) -> CountedCall | str | LimitReached:
        """Returns what the call is ended with, or why it has to wait."""
        now = context.runtime.now()
        paused = self._paused_until - now
        if paused > _MOST_PAUSE_SECONDS:  # the clock went back
            self._paused_until, paused = now + _MOST_PAUSE_SECONDS, _MOST_PAUSE_SECONDS
        if paused > 0:
            return LimitReached("pause", 0, paused)
        if self._leases is not None:
            return await self._ask_database(self._leases, call, limits, tokens, seconds, context)
        return self._let_in(call, now)

    def _let_in(self, call: WaitingCall, now: float) -> CountedCall | LimitReached:
        """Lets in the first call, and those behind it that have room too: each by itself would take as many turns of an
        event loop. Returns the place of the first one, or why it has none.
        """
        with LOCK:
            if call.place is not None:  # another thread has let it in
                return call.place
            answer = call.ask(now)
            if isinstance(answer, LimitReached):
                return answer
            self._line.remove(call)
            while (following := self._line.first()) is not None:
                found = following.ask(now)
                if isinstance(found, LimitReached):
                    break
                following.place = found
                self._line.remove(following)
                following.wake()
            return answer

    async def _ask_database(
        self,
        leases: CallLeases,
        call: WaitingCall,
        limits: Limits,
        tokens: int,
        seconds: float,
        context: CallContext,
    ) -> str | LimitReached:
        turn = self._turn_of(call)
        name, now = f"limits:{self._name}", time_of_day(context)

        def begin() -> str | LimitReached:
            if call.has_left:  # it was cancelled before this thread began
                return LimitReached("turn", 0, 0.0)
            found = leases.begin(name, limits, tokens, min(seconds, _LEASE_SECONDS), turn, now)
            if isinstance(found, str):
                call.lease = found
                self._running[found] = partial(time_of_day, context)
                self._renew_later(leases)
                if call.has_left:
                    self.drop(found)
            elif call.has_left:
                leases.give_up(turn)
            return found

        call.is_kept = True
        return await context.runtime.call(begin)

    def _renew_later(self, leases: CallLeases) -> None:
        """Has the leases of calls that run renewed, in a thread: those of a process that was killed end soon."""
        if self._renewal is not None:
            return

        def renew() -> None:
            self._renewal = None
            running = [*self._running]
            times = [time() for time in [*self._running.values()]]
            if running and times and self._process == _process:
                now = max(times)
                self._in_order(lambda: leases.renew(running, _LEASE_SECONDS, now))
                self._renew_later(leases)

        self._renewal = ALARMS.set(_RENEWAL_SECONDS, renew)

    def _turn_of(self, call: WaitingCall) -> Turn:
        from .leases import Turn

        return Turn(call.id, call.rank, call.is_kept)

    def _leave(self, call: WaitingCall, *, is_in: bool) -> None:
        self._line.remove(call)
        self._line.wake_first()
        if is_in:
            return
        if call.place is not None:  # it was let in while it was cancelled
            self.drop(call.place)
        if self._leases is None:
            return
        if call.lease is not None:
            self.drop(call.lease)
        elif call.is_kept:
            leases, turn = self._leases, self._turn_of(call)
            self._in_order(lambda: leases.give_up(turn))

    def _in_order(self, end: Callable[[], object]) -> None:
        """Has something ended in the database, in a thread: no answer waits for it."""

        def end_and_wake() -> None:
            try:
                end()
            finally:
                self._line.wake_first()

        try:
            _worker.begun().put(end_and_wake)
        except RuntimeError:  # the interpreter shuts down
            try:
                end()
            except Exception:
                _log.exception("the end of a call was not counted in the limits %r", self._name)

    def _begin_in_child(self) -> None:
        """Drops the calls of the process that this one was forked from, which ends them itself: they count here too."""
        self._process = _process
        self._line.begin_in_child()
        self._counts.end_running()
        self._running.clear()
        self._renewal = None


def _began_at(context: CallContext, *, shared: bool) -> float:
    """Returns when a call began: of one that processes share, in seconds since the epoch."""
    return context.started_at if shared else context.monotonic_start


def time_of_day(context: CallContext) -> float:
    """Returns the time by the clock of a call, in seconds since the epoch."""
    return context.started_at + context.runtime.now() - context.monotonic_start


def _out_of_time(
    limits: Limits, reached: LimitReached | None, retry_after: float | None, waited: float
) -> LimitExceededError:
    name = "" if limits.name is None else f" {limits.name!r}"
    cause = "calls that began earlier" if reached is None else str(reached)
    needs = "" if retry_after is None else f", {shown_seconds(retry_after)} more are needed"
    error = LimitExceededError(
        f"the limits{name} leave no room within the time of the call: it waited {shown_seconds(waited)} "
        f"for {cause}{needs}",
        retry_after=retry_after,
        hint="Allow more time with timeout=SECONDS, raise the limit, or give the call a higher priority=.",
    )
    error.limit, error.waited = ("turn" if reached is None else reached.limit), waited
    return error


_queues: OrderedDict[tuple[str, str], CallQueue] = OrderedDict()


def queue_of(limits: Limits, account: str) -> CallQueue:
    """Returns the queue of limits; of those with a name, the same one as for all others of that name."""
    if limits.learns:
        return _shared("", f"{limits.name or ''}|{account}", lambda: CallQueue(limits.name, learnt=LearntRate()))
    if limits.name is None:
        return CallQueue()
    name, store = limits.name, limits.store
    if store is None:
        return _shared("process", name, lambda: CallQueue(name))
    place = str(store) if isinstance(store, str | Path) else str(id(store))
    with _opening:
        return _shared(place, name, lambda: CallQueue(name, _leases_in(limits)))


def _shared(place: str, name: str, make: Callable[[], CallQueue]) -> CallQueue:
    found = _queues.get((place, name)) or _queues.setdefault((place, name), make())
    if len(_queues) > _MOST_QUEUES:
        idle = next((key for key, queue in [*_queues.items()] if queue.is_idle and queue is not found), None)
        if idle is not None:
            _queues.pop(idle, None)
    return found


def _leases_in(limits: Limits) -> CallLeases:
    from .leases import SCHEMA, CallLeases, Database

    store = limits.store
    if isinstance(store, str):
        store = Database(store if "://" in store else Path(store), schema=SCHEMA)
    elif isinstance(store, Path):
        store = Database(store, schema=SCHEMA)
    assert store is not None
    return CallLeases(store, process=uuid.uuid4().hex[:12], tokens_count="from begin")
