"""`MemberHealth`: what a group knows of a member: its running calls, its speed, and until when it is left alone.

All times are on the runtime's clock, in seconds. One that goes back makes no cooldown longer than it was.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from copy import copy
from statistics import median
from typing import Final, Generic, TypeVar

from ..errors import AbstractCoreError
from .causes import Cause
from .options import LONGEST_COOLDOWN

M = TypeVar("M")
_log = logging.getLogger("abstractcore")
_MOST_DURATIONS: Final = 64
_LEAST_FOR_P95: Final = 20
_FRESH_SECONDS: Final = 300.0
"""How long a measurement of a member counts: after that it is measured again."""


class MemberHealth(Generic[M]):
    """The state of one member. Its caller keeps threads from changing it at once."""

    def __init__(self, member: M, name: str, index: int) -> None:
        self.member = member
        self.name = name
        self.index = index
        self.running = 0
        self.failure: AbstractCoreError | None = None
        """Why it is left alone."""
        self._failures = 0
        self._rests_since = -math.inf
        self._rests_until = -math.inf
        self._is_exact = False
        self._probing = False
        self._durations: dict[bool, deque[float]] = {}
        self._measured_at = -math.inf

    def begin(self) -> None:
        """Counts a call that begins."""
        self.running += 1

    def end(self) -> None:
        """Counts a call that has ended; not one that another process has begun."""
        self.running = max(0, self.running - 1)

    def without_calls(self) -> None:
        """Forgets the running calls: those of a process are not those of one that was forked from it."""
        self.running, self._probing = 0, False

    def admits(self, now: float, *, early: bool = False) -> bool:
        """Returns whether it may be asked now. After its cooldown one call at a time is let through, until one
        succeeds; with `early` before its end too, if it was not the member that asked for it.
        """
        if self.failure is None:
            return True
        if self._probing or (self.seconds_left(now) and not (early and not self._is_exact)):
            return False
        self._probing = True
        return True

    def seconds_left(self, now: float) -> float:
        """Returns the seconds until it may be asked again; infinite for one that is not asked any more."""
        if self.failure is None:
            return 0.0
        if now < self._rests_since:  # the clock went back: nobody is left alone for longer than was decided
            self._rests_until -= self._rests_since - now
            self._rests_since = now
        return max(0.0, self._rests_until - now)

    def succeeded(self, now: float, seconds: float, *, streamed: bool) -> None:
        """Notes an answer that took so long, of a stream its beginning."""
        self.answered()
        self.measured(now, seconds, streamed=streamed)

    def measured(self, now: float, seconds: float, *, streamed: bool) -> None:
        """Notes how long an answer took, or has taken at least."""
        known = self._durations.get(streamed) or self._durations.setdefault(streamed, deque(maxlen=_MOST_DURATIONS))
        known.append(seconds)
        self._measured_at = now

    def answered(self) -> None:
        """Notes an answer that refuses the call itself: the member is well."""
        self.failure, self._failures, self._probing = None, 0, False

    def released(self) -> None:
        """Notes the end of a call that says nothing about the member: it was cancelled, or could not be made."""
        self._probing = False

    def failed(self, error: AbstractCoreError, cause: Cause, began: float, now: float, cooldown: float) -> None:
        """Notes a failure of a call that began at `began`. Of calls that ran at once, the first one counts."""
        self._probing = False
        if cause.rest == "none" or (self.failure is not None and self._rests_until == math.inf):
            return
        exact = error.retry_after if cause.rest in ("asked", "final") else None
        if self.failure is not None and began < self._rests_since and exact is None:
            return
        if cause.rest == "final" and exact is None:
            self._rest(error, now, math.inf, exact=True)
            # The text of a provider may quote the key: the error was scrubbed where it was raised.
            _log.warning("%s is not asked any more in this process: %s", self.name, error.message)
            return
        if exact is None:
            self._failures += 1
            exact_seconds = min(cooldown * 2.0 ** min(self._failures - 1, 16), max(LONGEST_COOLDOWN, cooldown))
            self._rest(error, now, now + exact_seconds, exact=False)
        else:
            self._rest(error, now, now + exact, exact=True)

    def _rest(self, error: AbstractCoreError, now: float, until: float, *, exact: bool) -> None:
        self.failure, self._rests_since, self._rests_until, self._is_exact = _without_call(error), now, until, exact

    def usual_seconds(self, now: float, *, streamed: bool) -> float | None:
        """Returns the median of its latest answers; None if it was not measured of late."""
        known = self._durations.get(streamed)
        return None if not known or now - self._measured_at > _FRESH_SECONDS else median(known)

    def p95_seconds(self, *, streamed: bool) -> float | None:
        """Returns what 95 % of its latest answers did not exceed; None if there are too few of them."""
        known = sorted(self._durations.get(streamed, ()))
        return known[math.ceil(len(known) * 0.95) - 1] if len(known) >= _LEAST_FOR_P95 else None


def _without_call(error: AbstractCoreError) -> AbstractCoreError:
    """Returns a copy of an error that is kept, without what it holds of the call: frames, contents, attempts."""
    kept = copy(error)
    kept.partial, kept.attempts, kept.loop, kept.output_attempts = None, (), None, ()
    return kept
