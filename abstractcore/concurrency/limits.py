"""Time limits of sync calls, which end waits through the runtime."""

from __future__ import annotations

import time
from contextvars import ContextVar, Token
from types import TracebackType

from ..ports import Clock

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
