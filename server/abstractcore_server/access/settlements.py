"""A call that was let in, from its begin to its settlement: what it has used, however it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce
from operator import add
from typing import Any, Final, TypeAlias, TypeVar

import abstractcore
from abstractcore.errors import AbstractCoreError, ConnectionFailedError, RequestTimeoutError, StreamInterruptedError
from abstractcore.ports import OperationResult
from abstractcore.schema import (
    AttemptRecord,
    BackendFacts,
    CostSums,
    GenerateResponse,
    Message,
    ModelCall,
    ModelReply,
    Outcome,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolLoop,
    ToolStep,
    Usage,
    added_messages,
    text_tokens,
)

from ..requests import ClientGone
from .admission import CallLease, Settlement

Result: TypeAlias = GenerateResponse[Any] | OperationResult[Any] | BackendFacts

_NOTHING: Final = Usage(0, 0)
_EMPTY: Final = ModelReply()
_CUT_SHORT = (RequestTimeoutError, StreamInterruptedError)
_NOT_FINISHED = ("interrupted", "not_run")
"""How calls of tools end that are stopped with their loop."""


def outcome_of(error: BaseException | None) -> Outcome:
    """Returns how a call has ended, without an error or with one. A client that leaves cancels it."""
    if error is None:
        return "done"
    return "failed" if isinstance(error, Exception) and not isinstance(error, ClientGone) else "cancelled"


def not_sent(error: BaseException | None) -> Settlement:
    """Returns the settlement of a call that was let in, and for which nothing was sent that a vendor charges for."""
    return Settlement(outcome_of(error), _NOTHING, Decimal(0), "computed")


@dataclass(slots=True)
class Spending:
    """What `call` uses, from when on it may be sent. `llm` has its prices; None if only its backend knows them.

    A loop of tools begins with `earlier` replies, which other requests have asked for. `partial` returns the reply so
    far, `result` is set when the call has ended well.
    """

    call: ModelCall
    llm: abstractcore.LLM | None = None
    earlier: int = 0
    partial: Callable[[], ModelReply | None] | None = None
    result: Result | None = None

    def settlement(self, error: BaseException | None) -> Settlement:
        """Returns the settlement of the call, which ended with an error, if it did.

        What its provider has not reported is estimated. A request that a vendor has refused, or has not got, costs its
        key nothing; what a refused one costs is unknown in the sums.
        """
        if self.result is None:
            return self._settlement_of_failure(error)
        return self._settlement_of_result(self.result)

    def _settlement_of_result(self, result: Result) -> Settlement:
        missing = self._missing_of_result(result)
        if missing:
            return replace(self._estimate("done", result.usage, missing), costs=result.costs)
        source = "computed" if isinstance(result, BackendFacts) else result.cost_source
        source = source if result.cost is not None else None
        return Settlement("done", result.usage, result.cost, source, costs=result.costs)

    def _missing_of_result(self, result: Result) -> list[Usage]:
        """Returns estimates of what was not reported; none of the answer of a cache, which took no tokens."""
        if not isinstance(result, GenerateResponse):
            return [Usage(self._tokens_of(self.call), 0)] if result.usage.input is None else []
        if result.cached_at is not None:
            return []
        missing = self._estimates_of_rounds(self.call, result.steps, result.tool_steps)
        return missing + self._estimates_of_lost(self.call, result.attempts)

    def _settlement_of_failure(self, error: BaseException | None) -> Settlement:
        loop = getattr(error, "loop", None)
        if not isinstance(loop, ToolLoop):
            loop = None
        partial = self._partial_reply(error, loop)
        attempts = error.attempts if isinstance(error, AbstractCoreError) else ()
        usage, call = partial.usage, self.call
        missing: list[Usage] = []
        if loop is not None:
            usage, call = loop.usage, _later_round(loop.call, loop.messages)
            missing += self._estimates_of_rounds(loop.call, loop.replies, loop.steps)
        if _is_in_flight(error, partial, loop):
            attempts = attempts[:-1]
            missing.append(self._rest_of(call, partial))
        missing += self._estimates_of_lost(call, attempts)
        if not missing and not usage.input and not usage.output:
            was_refused = any(each.status is not None for each in attempts)
            return replace(not_sent(error), costs=CostSums(unknown=1) if was_refused else None)
        settlement = self._estimate(outcome_of(error), usage, missing)
        return settlement if loop is None else replace(settlement, costs=loop.costs)

    def _partial_reply(self, error: BaseException | None, loop: ToolLoop | None) -> ModelReply:
        """Returns the beginning of the reply that was cut off, as far as it has arrived."""
        partial = None if self.partial is None else self.partial()
        if loop is not None and any(partial is each for each in loop.replies):
            partial = None
        if (partial is None or not _has_content(partial)) and isinstance(error, AbstractCoreError):
            partial = error.partial
        return partial or _EMPTY

    def _estimates_of_rounds(
        self, call: ModelCall, replies: Sequence[ModelReply], steps: Sequence[ToolStep]
    ) -> list[Usage]:
        """Returns estimates of what was not reported of whole replies, one for each round."""
        missing: list[Usage] = []
        for number, reply in enumerate(replies):
            if number >= self.earlier and (reply.usage.input is None or reply.usage.output is None):
                missing.append(self._rest_of(_later_round(call, added_messages(replies[:number], steps)), reply))
        return missing

    def _estimates_of_lost(self, call: ModelCall, attempts: Sequence[AttemptRecord]) -> list[Usage]:
        """Returns estimates of attempts that were sent, and not answered."""
        return [Usage(self._tokens_of(call), 0) for each in attempts if _is_lost(each)]

    def _rest_of(self, call: ModelCall, reply: ModelReply) -> Usage:
        """Returns an estimate of what the provider has not reported of a reply, or of its beginning."""
        reported, written = reply.usage, _tokens_of_reply(reply)
        return Usage(0 if reported.input else self._tokens_of(call), max(0, written - (reported.output or 0)))

    def _tokens_of(self, call: ModelCall) -> int:
        return int(abstractcore.Services.estimate_tokens(call) if self.llm is None else self.llm.estimate_tokens(call))

    def _estimate(self, outcome: Outcome, reported: Usage, missing: Sequence[Usage]) -> Settlement:
        usage = reduce(add, missing, reported)
        cost = self._cost(usage)
        return Settlement(outcome, usage, cost, "estimate" if cost is not None else None, True)

    def _cost(self, usage: Usage) -> Decimal | None:
        """Returns the cost of an estimated usage, which only a chat model's depends on; None if it is not known."""
        if isinstance(self.result, OperationResult | BackendFacts):
            return self.result.cost
        return None if self.llm is None else self.llm.charge(usage).dollars


def _later_round(call: ModelCall, messages: Sequence[Message]) -> ModelCall:
    """Returns the call of a later round."""
    return call.with_(messages=(*call.messages, *messages)) if messages else call


def _has_content(reply: ModelReply) -> bool:
    return bool(reply.parts or reply.usage.input or reply.usage.output)


def _is_in_flight(error: BaseException | None, partial: ModelReply, loop: ToolLoop | None) -> bool:
    """Whether a request was being answered when the call ended."""
    if _has_content(partial):
        return True
    if loop is not None and loop.replies:
        latest = [step.outcome for step in loop.steps if step.round == len(loop.replies) - 1]
        if any(outcome in _NOT_FINISHED for outcome in latest):
            return False
    if not isinstance(error, AbstractCoreError):
        return True
    if isinstance(error, ConnectionFailedError):
        return error.connected
    return bool(error.attempts) and (isinstance(error, _CUT_SHORT) or _is_lost(error.attempts[-1]))


def _is_lost(attempt: AttemptRecord) -> bool:
    """Whether a model may have read a request, which has no answer."""
    if attempt.error is None:
        return False
    is_begun = attempt.status is not None and 200 <= attempt.status < 300
    return is_begun or attempt.error == RequestTimeoutError.__name__


def _tokens_of_reply(reply: ModelReply) -> int:
    texts = (
        part.arguments_text if isinstance(part, ToolCall) else part.text
        for part in reply.parts
        if isinstance(part, TextPart | ReasoningPart | ToolCall)
    )
    return sum(map(text_tokens, texts))


T = TypeVar("T")
_log = logging.getLogger("abstractcore.server")
Worker = Callable[..., Awaitable[Settlement]]
"""Returns the result of a function on its arguments, for a large call from a worker thread."""


@dataclass(slots=True, eq=False)
class CallAccount:
    """A call that was let in. Without `spending`, it has sent nothing that a vendor charges for."""

    spending: Spending | None = None

    def settlement(self, error: BaseException | None) -> Settlement:
        """Returns the settlement of the call, which ended with an error, if it did."""
        return not_sent(error) if self.spending is None else self.spending.settlement(error)


class CallAccounts:
    """The accounts of all requests that are open."""

    def __init__(self) -> None:
        self._open: set[object] = set()
        self._none_open = asyncio.Event()
        self._none_open.set()

    @asynccontextmanager
    async def account(
        self, begin: Callable[[], Coroutine[Any, Any, CallLease]], work: Worker
    ) -> AsyncGenerator[CallAccount]:
        """Lets a call in by `begin`, and settles it at the end of `async with`. A task that is cancelled while one of
        them runs does not end it: what was reserved would never be released.
        """
        account = CallAccount()
        self._enter(account)
        try:
            lease = await self._lease(begin)
            error: BaseException | None = None
            try:
                yield account
            except BaseException as raised:
                error = raised
                raise
            finally:
                await asyncio.shield(self._start_task(_settle(lease, account, error, work)))
        finally:
            self._leave(account)

    async def wait_until_settled(self, seconds: float) -> None:
        """Returns when no account is open, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._none_open.wait()

    async def _lease(self, begin: Callable[[], Coroutine[Any, Any, CallLease]]) -> CallLease:
        lease = self._start_task(begin())
        try:
            return await asyncio.shield(lease)
        except asyncio.CancelledError as error:
            self._start_task(_give_back(lease, error))
            raise

    def _start_task(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._enter(task)
        task.add_done_callback(self._leave)
        return task

    def _enter(self, item: object) -> None:
        self._open.add(item)
        self._none_open.clear()

    def _leave(self, item: object) -> None:
        self._open.discard(item)
        if not self._open:
            self._none_open.set()


async def _settle(lease: CallLease, account: CallAccount, error: BaseException | None, work: Worker) -> None:
    try:
        settlement = await work(account.settlement, error)
    except Exception:  # the lease would hold a place of its key
        _log.exception("what a call has used cannot be computed")
        settlement = Settlement(outcome_of(error), Usage(), estimated=True)
    await lease.settle(settlement)


async def _give_back(begun: asyncio.Task[CallLease], error: BaseException) -> None:
    """Settles the lease of a call that was cancelled before it was let in, unless it was refused."""
    await asyncio.wait([begun])
    if not begun.cancelled() and begun.exception() is None:
        await begun.result().settle(not_sent(error))
