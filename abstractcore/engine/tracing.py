"""The middleware that reports every call's end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from ..ports import Answer, CallContext, CallEnd, CallNext


class Tracing:
    """Hands every call and its end to `report`, unless `wanted` says at its beginning that nobody listens.

    Nothing is done for a streamed chunk, and no frame stands between the rings.
    """

    def __init__(self, report: Callable[[CallContext, CallEnd], None], wanted: Callable[[], bool]) -> None:
        self._report = report
        self._wanted = wanted

    def around_call(self, context: CallContext, next: CallNext) -> Awaitable[Answer]:
        """The call, its end to be reported."""
        if self._wanted():
            context.at_end.append(partial(self._report, context))
        return next(context)
