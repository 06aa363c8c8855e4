"""Makes an attempt within limits: waits for room, reserves its tokens, and settles what it used."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from ..concurrency import off_loop
from ..errors import LimitExceededError, OverloadedError, RateLimitError, ServerError
from ..ports import (
    Answer,
    Attempt,
    AttemptNext,
    BilledResponse,
    Body,
    CallContext,
    CallEnd,
    DeltaStream,
    MeteredStream,
    ModelProfile,
    OperationResult,
)
from ..schema import ModelReply, Usage
from ..telemetry.attempt_tokens import AttemptTokens, UsualSizes, is_long
from .counting import CountedCall
from .limits import Limits
from .queues import CallQueue, flush, time_of_day

__all__ = ["flush", "paced_attempt"]
_EXPIRY_SECONDS: Final = 3_600.0
"""How long a call without a time limit may count as running."""
_LATE_SECONDS: Final = 60.0
"""How much later than the end of its call it counts as running no more."""


class _HeldBefore(NamedTuple):
    """How much a context held before an attempt."""

    attempts: int
    responses: int
    lost: int
    unsent: int


async def paced_attempt(
    limits: Limits, account: str, attempt: Attempt, next: AttemptNext, profile: ModelProfile, usual: UsualSizes
) -> Answer:
    """Makes an attempt of an account as soon as the limits leave room; raises `LimitExceededError` if they do not
    within the time of the call.
    """
    context = attempt.context
    runtime = context.runtime
    queue = limits.known_queue(account)
    if queue is None:
        queue = await off_loop(runtime, limits.store is not None, limits.queue, account)
    start = runtime.now()
    numbers = queue.numbers(limits, start)
    tokens: AttemptTokens | None = None
    reserved = 0
    if numbers.tokens_per_minute is not None:
        tokens = await off_loop(runtime, is_long(attempt), AttemptTokens, attempt, profile, usual)
        reserved = tokens.expected_input() + tokens.expected_output()
    left = _EXPIRY_SECONDS if context.deadline is None else max(0.0, context.deadline - start)
    seconds = left + _LATE_SECONDS
    call: CountedCall | str | None = queue.begin_at_once(numbers, reserved, start, start + seconds)
    if call is None:
        try:
            call = await queue.begin(limits, reserved, seconds, context.priority, context)
        finally:
            context.seconds_waited += runtime.now() - start
    if queue.learnt is not None:
        attempt = replace(attempt, listen=partial(_listened, queue, attempt.listen))
    before = _HeldBefore(len(context.attempts), len(context.responses), len(context.lost), context.unsent)
    begun = runtime.now()
    try:
        answer = await next(attempt)
    except BaseException as error:
        if isinstance(error, RateLimitError) and not isinstance(error, LimitExceededError):
            _note_refusal(queue, error, begun, runtime.now())
        if len(context.attempts) == before.attempts or (context.unsent > before.unsent and not _is_answer(error)):
            queue.drop(call)
        else:
            lost = [*context.responses[before.responses :], *context.lost[before.lost :]]
            queue.settle(call, _used(lost, 0, tokens), time_of_day(context))
        raise
    if not isinstance(answer, ModelReply | OperationResult):
        context.at_end.append(partial(_end_stream, queue, call, answer, reserved, tokens, context))
    elif len(context.attempts) == before.attempts:
        queue.drop(call)  # a middleware has answered
    else:
        queue.settle(call, _used(context.responses[before.responses :], reserved, tokens), time_of_day(context))
    return answer


def _is_answer(error: BaseException) -> bool:
    """Whether a provider has answered with an error: of one that is scripted, no response is noted."""
    return isinstance(error, RateLimitError | OverloadedError | ServerError)


def _listened(queue: CallQueue, listen: Any, body: Body) -> Body:
    if queue.learnt is not None:
        queue.learnt.read(body.headers)
    return body if listen is None else listen(body)


def _note_refusal(queue: CallQueue, error: RateLimitError, begun: float, now: float) -> None:
    queue.refused(begun, now)
    if error.retry_after is not None:
        queue.pause(error.retry_after, now)


def _end_stream(
    queue: CallQueue,
    call: CountedCall | str,
    stream: DeltaStream,
    reserved: int,
    tokens: AttemptTokens | None,
    context: CallContext,
    end: CallEnd,
) -> None:
    responses = [stream.billed] if isinstance(stream, MeteredStream) else []
    queue.settle(call, _used(responses, reserved, tokens), time_of_day(context))


def _used(responses: list[BilledResponse], otherwise: int, tokens: AttemptTokens | None) -> int:
    """Returns the tokens of responses, estimated where they are not reported; `otherwise` if there are none. Later
    estimates are made of them. Without a limit of tokens, nothing is counted.
    """
    if tokens is None:
        return 0
    total = 0
    for response in responses:
        usage = response.usage
        if usage.input is None and response.estimate is not None:
            usage = response.estimate()
        total += _sum(usage, otherwise)
        tokens.learn(response)
    return total if responses else otherwise


def _sum(usage: Usage, otherwise: int) -> int:
    return otherwise if usage.input is None and usage.output is None else (usage.input or 0) + (usage.output or 0)
