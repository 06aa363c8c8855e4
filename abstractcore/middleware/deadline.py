"""The middleware that ends an attempt at the call's deadline."""

from __future__ import annotations

from ..engine import InTime, remaining, time_given
from ..ports import Answer, Attempt, AttemptNext


class Deadline:
    """Ends an attempt at the call's deadline. After a stream's first deltas, its own alarm takes over."""

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Makes the attempt in the time that is left; raises `RequestTimeoutError`."""
        context = attempt.context
        async with InTime(context.runtime, remaining(context), time_given(context)):
            return await next(attempt)
