"""The time a call has: how much is left, and a middleware that ends an attempt when none is."""

from __future__ import annotations

from collections.abc import Awaitable

from ..errors import RequestTimeoutError
from ..ports import Answer, Attempt, AttemptNext, CallContext


class Deadline:
    """Ends an attempt at the call's deadline, where the colour can interrupt.

    Plain code cannot be interrupted: there the clock is looked at between reads. After a stream's first deltas, its
    own alarm takes over.
    """

    def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Awaitable[Answer]:
        """The attempt, in the time that is left; raises `RequestTimeoutError`."""
        seconds = remaining(attempt.context)
        if seconds is None or not attempt.context.runtime.interrupts:
            return next(attempt)
        return _interrupted(attempt, next, seconds)


async def _interrupted(attempt: Attempt, next: AttemptNext, seconds: float) -> Answer:
    limit = attempt.context.runtime.timeout(seconds)
    try:
        async with limit:
            return await next(attempt)
    except TimeoutError:
        if not limit.expired():  # a middleware's own
            raise
        raise out_of_time() from None


def remaining(context: CallContext) -> float | None:
    """Seconds to the deadline; raises `RequestTimeoutError` if none are left. None without a deadline."""
    if context.deadline is None:
        return None
    left = context.deadline - context.runtime.now()
    if left <= 0:
        raise out_of_time()
    return left


def overdue(context: CallContext) -> bool:
    """Whether the deadline has passed: what interrupts an attempt then is the deadline."""
    return context.deadline is not None and context.runtime.now() >= context.deadline


def out_of_time() -> RequestTimeoutError:
    """The error for a call that did not finish by its deadline."""
    return RequestTimeoutError("the call did not finish in the time given", hint="Give it more with timeout=SECONDS.")
