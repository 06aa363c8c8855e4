"""The time that a call has left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..errors import RequestTimeoutError
from ..ports import CallContext, Runtime

T = TypeVar("T")
_GRACE_SECONDS = 0.1
"""How much later than an attempt the call around it ends, so that a middleware can answer to a time-out."""


async def in_time(runtime: Runtime, seconds: float | None, make: Callable[[], Awaitable[T]]) -> T:
    """What `make` gives within `seconds`; raises `RequestTimeoutError`. Plain code ends only waits of `runtime`."""
    if seconds is None:
        return await make()
    limit = runtime.timeout(seconds)
    try:
        async with limit:
            return await make()
    except TimeoutError:
        if not limit.expired():  # a middleware's own
            raise
    raise out_of_time()


def remaining(context: CallContext) -> float | None:
    """Seconds to the deadline; raises `RequestTimeoutError` if none are left. None without a deadline."""
    if context.deadline is None:
        return None
    left = context.deadline - context.runtime.now()
    if left <= 0:
        raise out_of_time()
    return left


def last_moment(context: CallContext) -> float | None:
    """Seconds until the call ends whatever goes on in it; raises `RequestTimeoutError` past the deadline."""
    left = remaining(context)
    return None if left is None else left + _GRACE_SECONDS


def overdue(context: CallContext) -> bool:
    """Whether the deadline has passed: what interrupts an attempt then is the deadline."""
    return context.deadline is not None and context.runtime.now() >= context.deadline


def out_of_time() -> RequestTimeoutError:
    """The error for a call that did not finish by its deadline."""
    return RequestTimeoutError("the call did not finish in the time given", hint="Give it more with timeout=SECONDS.")
