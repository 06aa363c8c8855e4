"""`Tracing`: the middleware that reports the end of every call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from ..ports import Answer, CallContext, CallNext
from ..telemetry import Listener


class Tracing:
    """Passes every call and its end to the function that `listener` returns when the call begins, if not None.

    It adds no work for a streamed chunk, and no stack frame.
    """

    def __init__(self, listener: Callable[[], Listener | None]) -> None:
        self._listener = listener

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """Makes the call, whose end is reported."""
        listener = self._listener()
        if listener is not None:
            context.at_end.append(partial(listener, context))
        return next(context)
