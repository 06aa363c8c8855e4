"""The middleware that reports every call's end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from ..ports import Answer, CallContext, CallNext
from ..telemetry import Listener


class Tracing:
    """Hands every call and its end to what `listener` returns at the call's beginning: None if nobody listens.

    Nothing is done for a streamed chunk, and no frame stands between the rings.
    """

    def __init__(self, listener: Callable[[], Listener | None]) -> None:
        self._listener = listener

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """The call, its end to be reported."""
        listener = self._listener()
        if listener is not None:
            context.at_end.append(partial(listener, context))
        return next(context)
