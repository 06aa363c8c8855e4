"""The end of a call, told once to whoever asked to know."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Protocol

from ..ports import CallContext, CallEnd, DeltaStream, OperationResult
from ..schema import Delta, ModelReply, Outcome

_log = logging.getLogger("abstractcore")


def end_call(
    context: CallContext,
    outcome: Outcome,
    *,
    answer: ModelReply | OperationResult[Any] | None = None,
    deltas: Sequence[Delta] = (),
    error: BaseException | None = None,
    seconds_to_first: float | None = None,
) -> None:
    """Call the functions in `context.at_end`, the first time. What one raises is logged: the call has ended."""
    if not context.at_end:
        return
    seconds = context.runtime.now() - context.began
    reply = answer if isinstance(answer, ModelReply) else None
    result = answer if isinstance(answer, OperationResult) else None
    end = CallEnd(outcome, seconds, reply, deltas, error, seconds_to_first, result)
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


class Closable(Protocol):
    """A stream, a body."""

    async def close(self) -> None:
        """Let go of the connection."""
        ...


async def close_all(items: Iterable[Closable]) -> None:
    """Close each of `items`, whatever another one raises. An error is logged: it would hide how the call ended."""
    left = list(items)
    try:
        while left:
            try:
                await left.pop(0).close()
            except Exception:
                _log.exception("closing a stream failed")
    finally:
        if left:  # cancelled, or Ctrl-C
            await close_all(left)


async def let_go(context: CallContext) -> None:
    """Close the call's streams: also one that a middleware took and did not hand on."""
    await close_all(streams_of(context))


def streams_of(context: CallContext) -> list[DeltaStream]:
    """The call's streams, each once, the outermost first."""
    streams: list[DeltaStream] = []
    for stream in (*reversed(context.middleware_streams), *reversed(context.streams)):
        if not any(stream is each for each in streams):
            streams.append(stream)
    return streams


def abort_all(streams: Iterable[DeltaStream]) -> None:
    """Cut the connection of each of `streams`, whatever another one raises, which is logged."""
    for stream in streams:
        try:
            stream.abort()
        except Exception:
            _log.exception("cutting a stream's connection failed")


def outcome_of(error: BaseException) -> Outcome:
    """Cancellation and Ctrl-C are no failures of the call."""
    return "failed" if isinstance(error, Exception) else "cancelled"
