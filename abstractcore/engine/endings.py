"""The end of a call, told once to whoever asked to know."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

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
    if not context.at_end:
        return
    seconds = context.runtime.now() - context.began
    end = CallEnd(outcome, seconds, reply, deltas, error, seconds_to_first)
    for listener in _taken(context.at_end):
        try:
            listener(end)
        except Exception:
            _log.exception("a function told of a call's end failed")


def _taken(listeners: list[Callable[[CallEnd], None]]) -> Iterator[Callable[[CallEnd], None]]:
    """Each of them once, also where two threads end a call at once."""
    with suppress(IndexError):
        while True:
            yield listeners.pop(0)


async def let_go(context: CallContext) -> None:
    """Close the call's streams: also one that a middleware took and did not hand on."""
    for stream in context.streams:
        await stream.close()


def outcome_of(error: BaseException) -> Outcome:
    """Cancellation and Ctrl-C are no failures of the call."""
    return "failed" if isinstance(error, Exception) else "cancelled"
