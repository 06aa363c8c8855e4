"""`Router`: asks the members of a group of models, one after the other, until one answers."""

from __future__ import annotations

import itertools
import os
import threading
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

from ..errors import (
    AbstractCoreError,
    ContextOverflowError,
    FallbackExhaustedError,
    MemberFailure,
    ProviderError,
    StreamInterruptedError,
)
from ..ports import Interruption, Runtime, current_interruption
from ..schema.base_error import one_line
from .causes import NOT_SENT, cause_of
from .health import MemberHealth
from .options import Routing
from .orders import RoutedCall, RoutedModel, in_order

M = TypeVar("M", bound=RoutedModel)
T = TypeVar("T")
_MOST_SESSIONS: Final = 10_000
_LONGEST_CAUSE: Final = 400
_NO_CALL: Final = RoutedCall()


@dataclass(frozen=True, slots=True)
class RoutedAnswer(Generic[M, T]):
    """An answer, the member that gave it, with its `name` in the group, and why others did not that came before it;
    `first` is the one whose turn it was.
    """

    value: T
    member: M
    name: str
    first: M
    failures: tuple[MemberFailure, ...] = ()


def _never() -> bool:
    return False


class Router(Generic[M]):
    """Shares the calls of a group of models among its `members`. Threads and event loops may share it."""

    def __init__(self, members: Sequence[M], routing: Routing | None = None) -> None:
        self.routing = routing or Routing()
        names = member_names(members)
        self._members = [
            MemberHealth(each, name, index) for index, (each, name) in enumerate(zip(members, names, strict=True))
        ]
        self._by_id = {id(each.member): each for each in self._members}
        self._turn = itertools.count()
        self._last: OrderedDict[str, MemberHealth[M]] = OrderedDict()
        self._locks: dict[int, threading.RLock] = {}

    @property
    def lock(self) -> threading.RLock:
        """The lock of this process: a forked one has a copy of a lock, but not of the thread that may hold it, nor of
        those that make the calls.
        """
        process = os.getpid()
        return self._locks.get(process) or self._new_lock(process)

    def _new_lock(self, process: int) -> threading.RLock:
        new = threading.RLock()
        with new:
            lock = self._locks.setdefault(process, new)
            if lock is new:
                for each in self._members:
                    each.without_calls()
        return lock

    async def answer(
        self,
        call: Callable[[M, bool], Awaitable[T]],
        runtime: Runtime,
        given: RoutedCall = _NO_CALL,
        *,
        has_begun: Callable[[], bool] = _never,
    ) -> RoutedAnswer[M, T]:
        """Returns the answer of the first member whose `call` succeeds. It is given the member, and whether no other
        one is left. No other member is asked once `has_begun`.

        Raises the error of a member after which no other one may be asked, and `FallbackExhaustedError`.
        """
        order = await self._order(given, runtime)
        asking = _Turns(self, order, call, runtime, given, has_begun)
        delay = self._hedge_seconds(order, given)
        return await (asking.run() if delay is None else asking.run_hedged(delay))

    async def _order(self, given: RoutedCall, runtime: Runtime) -> list[MemberHealth[M]]:
        with self.lock:
            turn = next(self._turn)
        order = await in_order(self.routing.order, self._members, given, turn, runtime)
        last = self._last.get(given.session_id) if given.session_id and self.routing.sticky else None
        if last is not None and last in order and not last.seconds_left(runtime.now()):
            rest = [each for each in order if each is not last]
            return [*rest, last] if given.avoids_last else [last, *rest]
        return order

    def _hedge_seconds(self, order: Sequence[MemberHealth[M]], given: RoutedCall) -> float | None:
        """Returns after how many seconds another member is asked too; None for never."""
        after = self.routing.hedge_after
        if after is None or len(order) < 2 or not given.may_repeat:
            return None
        return order[0].p95_seconds(streamed=given.streamed) if after == "p95" else after

    def note_last(self, given: RoutedCall, health: MemberHealth[M]) -> None:
        """Notes who has answered a call of a session. Its caller holds the lock."""
        if not given.session_id or not self.routing.sticky:
            return
        self._last[given.session_id] = health
        self._last.move_to_end(given.session_id)
        if len(self._last) > _MOST_SESSIONS:
            self._last.popitem(last=False)

    def hold(self, member: M, runtime: Runtime) -> Callable[[AbstractCoreError | None], None]:
        """Counts a stream of a member that has begun as a running call; returns the function that ends it, with the
        error of the member that it was cut off by, if any.
        """
        health, began = self._by_id[id(member)], runtime.now()
        with self.lock:
            health.begin()

        def end(error: AbstractCoreError | None) -> None:
            with self.lock:
                health.end()
                if error is not None:
                    cause = cause_of(error, self.routing)
                    health.failed(error, cause, began, runtime.now(), self.routing.cooldown)

        return end


def member_names(members: Sequence[RoutedModel]) -> list[str]:
    """Returns the names of members, as in "openai/gpt-5.4"; "openai/gpt-5.4#2" for a second one of the same model."""
    seen: dict[str, int] = {}
    names: list[str] = []
    for each in members:
        name = f"{each.provider}/{each.model}"
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names


class _Turns(Generic[M, T]):
    """One call on its way through the members."""

    def __init__(
        self,
        router: Router[M],
        order: Sequence[MemberHealth[M]],
        call: Callable[[M, bool], Awaitable[T]],
        runtime: Runtime,
        given: RoutedCall,
        has_begun: Callable[[], bool],
    ) -> None:
        self._router = router
        self._order = order
        self._left = deque(order)
        self._call = call
        self._runtime = runtime
        self._given = given
        self._has_begun = has_begun
        self._failures: list[MemberFailure] = []
        self._overflow: tuple[int, ContextOverflowError] | None = None
        self._was_asked = False
        self._answer: RoutedAnswer[M, T] | None = None

    async def run(self) -> RoutedAnswer[M, T]:
        """Asks one member after the other."""
        answer = await self._take_turns()
        if answer is None and not self._was_asked:
            answer = await self._probe_early()
        if answer is None:
            raise self._exhausted()
        return answer

    async def run_hedged(self, delay: float) -> RoutedAnswer[M, T]:
        """Asks another member too if the first has not answered after `delay` seconds; cancels the one that is late."""
        woken, lanes = Interruption(), (Interruption(), Interruption())

        async def first() -> None:
            try:
                await self._run_lane(lanes[0], lanes[1])
            finally:
                woken.set()

        async def second() -> None:
            try:
                await self._runtime.interruptible(woken, partial(self._runtime.sleep, delay))
            except StreamInterruptedError:
                if not woken.is_set:
                    raise
            if self._answer is None:
                await self._run_lane(lanes[1], lanes[0])

        await self._runtime.gather(first, second)
        return self._answer or await self.run()

    async def _run_lane(self, own: Interruption, other: Interruption) -> None:
        try:
            answer = await self._runtime.interruptible(own, self._take_turns)
        except AbstractCoreError:
            if self._answer is None:
                raise
            return
        with self._router.lock:
            if answer is None or self._answer is not None:
                return
            self._answer = answer
        other.set()

    async def _take_turns(self) -> RoutedAnswer[M, T] | None:
        """Asks members until one answers; returns None if none is left."""
        while (health := self._next()) is not None:
            answer = await self._ask(health)
            if answer is not None:
                return answer
        return None

    async def _probe_early(self) -> RoutedAnswer[M, T] | None:
        """Asks the member that will be tried again first, if its time was guessed: all are left alone."""
        now = self._runtime.now()
        with self._router.lock:
            waiting = sorted(self._order, key=lambda each: each.seconds_left(now))
            health = next((each for each in waiting if each.admits(now, early=True)), None)
            if health is not None:
                self._failures = [each for each in self._failures if each.member != health.name]
        return None if health is None else await self._ask(health)

    def _next(self) -> MemberHealth[M] | None:
        """Returns the next member that may be asked, and notes why others may not."""
        now = self._runtime.now()
        with self._router.lock:
            while self._left:
                health = self._left.popleft()
                if (overflow := self._too_small(health)) is not None:
                    self._failures.append(MemberFailure(health.name, overflow, is_sent=False))
                elif health.admits(now):
                    return health
                else:
                    error = health.failure
                    assert error is not None
                    self._failures.append(MemberFailure(health.name, error, is_sent=False))
        return None

    def _too_small(self, health: MemberHealth[M]) -> ContextOverflowError | None:
        """Returns the error of a member whose context was too small, if that of this one is not larger."""
        if self._overflow is None:
            return None
        size, error = self._overflow
        own = health.member.profile.context_tokens
        return error if own is not None and own <= size else None

    async def _ask(self, health: MemberHealth[M]) -> RoutedAnswer[M, T] | None:
        """Returns the answer of a member; None if it failed in a way that lets another one answer."""
        router, runtime = self._router, self._runtime
        began = runtime.now()
        with router.lock:
            health.begin()
            self._was_asked = True
            is_last = not any(not each.seconds_left(began) for each in self._left)
        try:
            value = await self._call(health.member, is_last)
        except AbstractCoreError as error:
            if not self._falls_back(health, error, began):
                raise
            return None
        except BaseException:
            self._leave(health, began)
            raise
        finally:
            with router.lock:
                health.end()
        now = runtime.now()
        with router.lock:
            health.succeeded(now, now - began, streamed=self._given.streamed)
            router.note_last(self._given, health)
            return RoutedAnswer(value, health.member, health.name, self._order[0].member, tuple(self._failures))

    def _leave(self, health: MemberHealth[M], began: float) -> None:
        """Notes a call that was ended from outside. One that another member was faster than took so long at least."""
        now = self._runtime.now()
        with self._router.lock:
            health.released()
            if self._answer is not None:
                health.measured(now, now - began, streamed=self._given.streamed)

    def _falls_back(self, health: MemberHealth[M], error: AbstractCoreError, began: float) -> bool:
        """Notes the failure of a member; returns whether another one may be asked."""
        interruption = current_interruption()
        if interruption is not None and interruption.is_set:
            self._leave(health, began)
            return False
        router, now = self._router, self._runtime.now()
        cause = cause_of(error, router.routing)
        is_sent = not isinstance(error, NOT_SENT)
        with router.lock:
            health.failed(error, cause, began, now, router.routing.cooldown)
            if cause.rest == "none" and isinstance(error, ProviderError):
                health.answered()
            self._failures.append(MemberFailure(health.name, error, is_sent, now - began))
            if isinstance(error, ContextOverflowError):
                self._note_overflow(health, error)
        loop = error.loop
        return cause.falls_back and not self._has_begun() and (loop is None or not loop.steps)

    def _note_overflow(self, health: MemberHealth[M], error: ContextOverflowError) -> None:
        size = error.context_tokens or health.member.profile.context_tokens
        if size is not None and (self._overflow is None or size > self._overflow[0]):
            self._overflow = size, error

    def _exhausted(self) -> FallbackExhaustedError:
        """Returns the error with every cause."""
        failures, now = self._failures, self._runtime.now()
        shown = "; ".join(one_line(str(each), _LONGEST_CAUSE) for each in failures)
        count = len(failures)
        error = FallbackExhaustedError(f"none of the {count} models answered: {shown}", causes=failures)
        waits = [each.seconds_left(now) for each in self._order if each.failure is not None]
        finite = [each for each in waits if each != float("inf")]
        error.retryable = bool(finite) or any(each.error.retryable for each in failures)
        error.retry_after = min(finite) if finite and len(waits) == len(self._order) else None
        last = failures[-1].error if failures else None
        if last is not None:
            error.attempts, error.__cause__ = last.attempts, last
        return error
