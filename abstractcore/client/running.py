"""Runs a prepared call: in one round, or in as many as its tools and its answer need."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from ..engine import Pipeline
from ..schema import GenerateResponse
from .preparing import PendingCall

if TYPE_CHECKING:
    from ..engine import CallStream
    from ..engine.answer_checks import CheckedStream
    from ..engine.round_stream import RoundStream
    from .streams import AsyncStream, Stream


def read_response(pipeline: Pipeline, pending: PendingCall) -> Coroutine[Any, Any, GenerateResponse[Any]]:
    """Returns a coroutine of the response."""
    response = _response(pipeline, pending)
    if pending.check is not None:
        from ..engine.answer_checks import check_response

        response = check_response(response, pending.check, pipeline)
    return response if pending.maker is None else pending.maker.completed(response, pipeline)


def _response(pipeline: Pipeline, pending: PendingCall) -> Coroutine[Any, Any, GenerateResponse[Any]]:
    plan = pending.rounds
    if plan is None:
        return pipeline.generate(pending.prepare, pending.timeout, pending.read_output)
    from ..engine.tool_rounds import Rounds, generate_in_rounds

    rounds = Rounds(pipeline, pending.prepare, pending.timeout, pending.read_output, plan)
    return generate_in_rounds(rounds, pipeline)


def sync_stream(pipeline: Pipeline, pending: PendingCall) -> Stream[Any]:
    """Returns the stream of a call in sync code."""
    from .streams import Stream

    return Stream(open_stream(pipeline, pending))


def async_stream(pipeline: Pipeline, pending: PendingCall) -> AsyncStream[Any]:
    """Returns the stream of a call in async code."""
    from .streams import AsyncStream

    return AsyncStream(open_stream(pipeline, pending))


def open_stream(pipeline: Pipeline, pending: PendingCall) -> CallStream | RoundStream | CheckedStream:
    """Returns the stream of a call, which is sent at its first read."""
    stream = _unchecked_stream(pipeline, pending)
    if pending.check is None:
        return stream
    from ..engine.answer_checks import CheckedStream

    return CheckedStream(stream, pending.check, pipeline)


def _unchecked_stream(pipeline: Pipeline, pending: PendingCall) -> CallStream | RoundStream:
    plan = pending.rounds
    if plan is None:
        from ..engine import CallStream

        return CallStream(pipeline, pending.prepare, pending.timeout, pending.read_output)
    from ..engine.round_stream import RoundStream
    from ..engine.tool_rounds import Rounds

    return RoundStream(pipeline, Rounds(pipeline, pending.prepare, pending.timeout, pending.read_output, plan))
