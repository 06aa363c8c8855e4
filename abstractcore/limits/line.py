"""`WaitingLine`: the calls of one name that wait in this process, in order. It knows no limits.

The first of them asks for its place; the others are woken when it has left. One that does not look when it is woken, as
in an event loop that is blocked or closed, lets the others pass meanwhile.
"""

from __future__ import annotations

import heapq
import itertools
import math
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from ..concurrency import AlarmClock
from .counting import CountedCall, LimitReached

LOCK: Final = threading.RLock()
"""Held for the few instructions that read and change a queue; by a fork too, so that no child begins with one that is
half changed. Reentrant: a fork, or a finalizer that ends a stream, may happen in the thread that holds it."""
ALARMS: Final = AlarmClock()
_SLOW_SECONDS: Final = 1.0
"""A call that has not looked for one to two times this is passed."""


class WaitingCall:
    """A call that waits. `turn` ends when it has a `place`, or is to look whether it is the first now. `ask` returns
    its place at a time of the clock `now`, if there is one.
    """

    __slots__ = ("ask", "asks_at", "has_left", "id", "is_kept", "is_passed", "lease", "now", "place", "rank", "turn")

    def __init__(
        self, rank: float, ask: Callable[[float], CountedCall | LimitReached], now: Callable[[], float]
    ) -> None:
        self.rank = rank
        self.ask = ask
        self.now = now
        self.asks_at = math.inf
        self.place: CountedCall | None = None
        self.turn: Future[None] = Future()
        self.has_left = False
        self.is_passed = False
        self.id = uuid.uuid4().hex
        self.is_kept = False
        self.lease: str | None = None

    def wake(self) -> None:
        """Has the call look."""
        if not self.turn.done():
            self.turn.set_result(None)

    @property
    def is_slow(self) -> bool:
        """Whether the call was to look, and has not."""
        return self.turn.done() or self.now() > self.asks_at + _SLOW_SECONDS


class WaitingLine:
    """The calls that wait, the lowest rank first; of equal ranks, the one that came first."""

    def __init__(self) -> None:
        self.waiting = 0
        self._line: list[tuple[float, int, WaitingCall]] = []
        self._numbers = itertools.count()
        self._is_watched = False
        self._suspect: Future[None] | None = None

    def join(self, call: WaitingCall) -> None:
        """Puts a call into the line."""
        with LOCK:
            self._push(call)
            self.waiting += 1
            self._watch()

    def renewed_turn(self, call: WaitingCall) -> Future[None]:
        """Returns what ends when the call is to look again: also what happens while it looks."""
        with LOCK:
            if call.is_passed:
                call.is_passed = False
                self._push(call)
            call.asks_at = math.inf
            if call.turn.done():
                call.turn = Future()
            return call.turn

    def is_first(self, call: WaitingCall) -> bool:
        """Returns whether the call is the next."""
        with LOCK:
            return self.first() is call

    def first(self) -> WaitingCall | None:
        """Returns the call that is the next."""
        line = self._line
        while line and line[0][2].has_left:
            heapq.heappop(line)
        return line[0][2] if line else None

    def remove(self, call: WaitingCall) -> None:
        """Takes a call out of the line."""
        with LOCK:
            if not call.has_left:
                call.has_left = True
                self.waiting -= 1

    def wake_first(self) -> None:
        """Has the first call look whether it has room now."""
        if not self.waiting:
            return
        with LOCK:
            first = self.first()
            if first is not None:
                first.wake()

    def begin_in_child(self) -> None:
        """Forgets the calls of the process that this one was forked from."""
        self._line.clear()
        self.waiting = 0
        self._is_watched = False

    def _push(self, call: WaitingCall) -> None:
        heapq.heappush(self._line, (call.rank, next(self._numbers), call))

    def _watch(self) -> None:
        if self.waiting > 1 and not self._is_watched:
            self._is_watched = True
            ALARMS.set(_SLOW_SECONDS, self._look)

    def _look(self) -> None:
        """Lets the others pass the first call, if it is as slow as it was a moment ago."""
        with LOCK:
            self._is_watched = False
            first = self.first()
            slow = first.turn if first is not None and first.is_slow else None
            if first is not None and slow is not None and slow is self._suspect:
                heapq.heappop(self._line)
                first.is_passed, slow = True, None
                self.wake_first()
            self._suspect = slow
            self._watch()
