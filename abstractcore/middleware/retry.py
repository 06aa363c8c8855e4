"""`Retry`: retries transient failures with exponential backoff and jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..errors import AbstractCoreError
from ..ports import Answer, Attempt, AttemptNext

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_LONGEST_WAIT_SECONDS = 600.0


class Retry:
    """Retries a request up to `max_retries` times after errors with `retryable`.

    `x-should-retry` of an error response decides that (`engine/exchange.py`), else the error's class. `Retry-After` is
    obeyed. The error is raised at once if the pause would pass the deadline or exceed ten minutes. A
    stream is retried only before its first deltas. `random` returns numbers from 0 to 1.
    """

    def __init__(self, max_retries: int, random: Callable[[], float]) -> None:
        self._max_retries = max_retries
        self._random = random

    async def around_attempt(self, attempt: Attempt, next: AttemptNext) -> Answer:
        """Makes the attempt, and retries it after transient failures."""
        while True:
            try:
                return await next(attempt)
            except AbstractCoreError as error:
                pause = self._pause(error, attempt)
                if pause is None:
                    raise
            await attempt.context.runtime.sleep(pause)
            attempt = replace(attempt, number=attempt.number + 1)

    def _pause(self, error: AbstractCoreError, attempt: Attempt) -> float | None:
        """Returns the seconds before the next attempt; None to give up."""
        if not (error.retryable and attempt.operation.may_repeat) or attempt.number > self._max_retries:
            return None
        pause = error.retry_after
        if pause is None:
            longest = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** (attempt.number - 1))
            pause = longest * (0.5 + self._random() / 2)
        if pause > _LONGEST_WAIT_SECONDS:
            return None
        deadline = attempt.context.deadline
        if deadline is not None and attempt.context.runtime.now() + pause >= deadline:
            return None
        return pause
