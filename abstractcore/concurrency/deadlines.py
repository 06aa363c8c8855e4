"""Deadlines of calls."""

from __future__ import annotations

from types import TracebackType

from ..errors import RequestTimeoutError
from ..ports import CallContext, Runtime, TimeLimit
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
    if context.deadline is None:
        return None
    left = context.deadline - context.runtime.now()
    if left <= 0:
        raise out_of_time(time_given(context))
    return left


def last_moment(context: CallContext) -> float | None:
    """Returns the seconds until the call is ended; raises `RequestTimeoutError` past that time."""
    left = remaining(context)
    return None if left is None else left + _GRACE_SECONDS


def overdue(context: CallContext) -> bool:
    """Returns whether the deadline has passed, and so has interrupted an attempt."""
    return context.deadline is not None and context.runtime.now() >= context.deadline


def time_given(context: CallContext) -> float | None:
    """Returns the seconds from the beginning of the call to its deadline."""
    return None if context.deadline is None else context.deadline - context.monotonic_start


def out_of_time(seconds: float | None) -> RequestTimeoutError:
    """Returns the error for a call that did not finish in `seconds`; None if it had no timeout."""
    message = "the call timed out"
    if seconds is not None:
        message += f" after {shown_seconds(seconds)}"
    return RequestTimeoutError(message, hint="Allow more time with timeout=SECONDS.")
