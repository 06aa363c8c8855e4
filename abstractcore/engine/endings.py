"""The end of a call, told once to whoever asked to know."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ..ports import CallContext, CallEnd
from ..schema import Delta, ModelReply, Outcome

_log = logging.getLogger("abstractcore")


def end_call(
    context: CallContext,
    outcome: Outcome,
    *,
    reply: ModelReply | None = None,
    deltas: Sequence[Delta] = (),
    error: BaseException | None = None,
    seconds_to_first: float | None = None,
) -> None:
    """Call the functions in `context.at_end`, the first time. What one raises is logged: the call has ended."""
    listeners, context.at_end = context.at_end, []
    if not listeners:
        return
    seconds = context.runtime.now() - context.began
    end = CallEnd(outcome, seconds, reply, deltas, error, seconds_to_first)
    for listener in listeners:
        try:
            listener(end)
        except Exception:
            _log.exception("a function told of a call's end failed")


def outcome_of(error: BaseException) -> Outcome:
    """Cancellation and Ctrl-C are no failures of the call."""
    return "failed" if isinstance(error, Exception) else "cancelled"
