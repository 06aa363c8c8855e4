"""Charges an attempt to budgets: reserves what it may cost, and settles what it did.

The calls of a ledger that waits for a database are made in worker threads. What ends a reservation is queued, in order:
no answer waits for it, and it happens even if the call is cancelled.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from ..concurrency import off_loop
from ..errors import (
    AbstractCoreError,
    BackendError,
    BudgetExceededError,
    CallInterruptedError,
    ConnectionFailedError,
    PriceUnknownError,
    RequestTimeoutError,
    StreamInterruptedError,
)
from ..ports import (
    Answer,
    Attempt,
    AttemptNext,
    CallContext,
    CallEnd,
    DeltaStream,
    MeteredStream,
    OperationResult,
)
from ..ports.budgets import Balance, BudgetAccount
from ..schema import CallWarning, ModelReply
from ..schema.base_error import one_line
from ..telemetry.attempt_tokens import is_long
from .amounts import Amount, as_dollars, picodollars, shown_dollars
from .budget import Budget
from .estimates import AttemptEstimate, PricedModel
from .settling import Reservation, in_order, release, settle

_FIRST_PAUSE_SECONDS: Final = 0.005
_LONGEST_PAUSE_SECONDS: Final = 0.1
_EXPIRY_SECONDS: Final = 3_600.0
"""How long a call without a time limit may keep its reservation. One that takes longer is settled nevertheless."""
_LATE_SECONDS: Final = 60.0
"""How much later than the end of its call a reservation expires."""
_NO_LIMIT: Final = 2**62
_SENT_NEVERTHELESS: Final = (BackendError, CallInterruptedError, StreamInterruptedError)
_log = logging.getLogger("abstractcore")


_refusing: Final = WeakKeyDictionary[BudgetExceededError, Budget]()
"""Budgets by what they refused with: two of them may have the same name, in different ledgers."""


def refusing_budget(error: BudgetExceededError) -> Budget | None:
    """Returns the budget that raised an error in this process."""
    return _refusing.get(error)


class _Before(NamedTuple):
    """How much a context held before an attempt."""

    attempts: int
    responses: int
    lost: int
    unsent: int


class _Refusal(NamedTuple):
    budget: Budget
    account: BudgetAccount
    group: str | None
    amount: int
    balance: Balance

    @property
    def is_final(self) -> bool:
        """Whether it would not fit either if nothing were reserved for others."""
        return self.balance.spent + self.amount > self.account.limit

    def error(self) -> BudgetExceededError:
        """Returns the error to raise."""
        budget, needed = self.budget, as_dollars(self.amount)
        state = budget.state_of(self.account, self.group, self.balance)
        of = "" if self.group is None else f" of {one_line(self.group, 60)!r}"
        running = f", reserved {shown_dollars(state.reserved)} for calls that are running" if state.reserved else ""
        resets = "" if state.resets_at is None else f"It resets at {state.resets_at:%Y-%m-%d %H:%M} UTC. "
        error = BudgetExceededError(
            f"the call does not fit into the budget {budget.name!r}{of}: limit {shown_dollars(state.limit)}, "
            f"spent {shown_dollars(state.spent)}{running}; it may cost {shown_dollars(needed)}",
            hint=f"{resets}Set a lower max_output_tokens, name a cheaper model in "
            "Budget(on_exceeded='PROVIDER/MODEL'), or raise its usd.",
        )
        error.budget, error.group, error.needed = budget.name, self.group, needed
        error.limit, error.spent, error.reserved = state.limit, state.spent, state.reserved
        error.resets_at = state.resets_at
        _refusing[error] = budget
        return error


async def charged_attempt(budgets: Sequence[Budget], attempt: Attempt, next: AttemptNext, model: PricedModel) -> Answer:
    """Makes an attempt of a model that fits into all budgets; raises `BudgetExceededError` before it is sent."""
    context = attempt.context
    estimate = await off_loop(context.runtime, is_long(attempt), AttemptEstimate, attempt, model)
    charge = AttemptCharge(budgets, context, estimate)
    await charge.reserve()
    before = _Before(len(context.attempts), len(context.responses), len(context.lost), context.unsent)
    try:
        answer = await next(attempt)
    except BaseException as error:
        charge.end_failed(error, before)
        raise
    if isinstance(answer, ModelReply | OperationResult):
        charge.end(answer, before.responses)
    else:
        context.at_end.append(partial(charge.end_stream, answer))
    return answer


def count_spent(budgets: Sequence[Budget], context: CallContext, dollars: Decimal) -> None:
    """Counts what was spent for a call beside its requests, whatever is left of the budgets."""
    now, amount = context.started_at + context.runtime.now() - context.monotonic_start, picodollars(dollars)
    for budget in budgets:
        account, group = budget.account(context, now)

        def count(budget: Budget = budget, account: BudgetAccount = account, group: str | None = group) -> None:
            id = budget.ledger.reserve(account._replace(limit=_NO_LIMIT), 0, now, now + _LATE_SECONDS)
            if not isinstance(id, Balance):
                settle(Reservation(budget, account, group, id), amount)

        in_order(budget, count)


def count_beside(budgets: Sequence[Budget], context: CallContext) -> None:
    """Lets what is spent beside the requests of a call, such as the prices of tool runs, count in its budgets."""
    after_it = tuple(each for each in budgets if each.per != "call")  # tools are run when the call has ended
    context.count_cost = partial(count_spent, after_it, context)


class AttemptCharge:
    """What one attempt has reserved of budgets."""

    def __init__(self, budgets: Sequence[Budget], context: CallContext, estimate: AttemptEstimate) -> None:
        self._budgets = budgets
        self._context = context
        self._estimate = estimate
        self._expected = Amount(None)
        self._reserved: list[Reservation] = []
        self._is_abandoned = False

    async def reserve(self) -> None:
        """Reserves the estimate in all budgets, or in none. While it would fit without what is reserved for others,
        waits for them.
        """
        runtime, pause = self._context.runtime, _FIRST_PAUSE_SECONDS
        until: float | None = None
        while True:
            self._expected = self._estimate.beforehand()
            refusal = await self._reserve_each()
            if refusal is None:
                return
            if until is None:
                until = self._longest_wait(refusal.budget)
            if refusal.is_final or runtime.now() + pause > until:
                raise refusal.error()
            await runtime.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def end(self, answer: ModelReply | OperationResult[Any], before: int) -> None:
        """Settles a complete answer, whose responses are those after `before`."""
        reply = answer if isinstance(answer, ModelReply) else answer.value
        if getattr(reply, "finish_reason", None) == "paused" and not answer.usage.input:
            self._release()  # made in the background: its tokens are charged when the finished reply is read
            return
        self._settle(self._estimate.of_responses(self._context.responses[before:], self._expected))

    def end_stream(self, stream: DeltaStream, end: CallEnd) -> None:
        """Settles a stream that has ended, in whatever way."""
        responses = [stream.billed] if isinstance(stream, MeteredStream) else []
        self._settle(self._estimate.of_responses(responses, self._expected))

    def end_failed(self, error: BaseException, before: _Before) -> None:
        """Settles an attempt that a provider may charge for, releases another one."""
        context = self._context
        billed = [*context.responses[before.responses :], *context.lost[before.lost :]]
        if billed or _may_be_charged(error, context, before):
            self._settle(self._estimate.of_responses(billed, self._expected))
        else:
            self._release()

    async def _reserve_each(self) -> _Refusal | None:
        for budget, amount in [(each, self._amount_for(each)) for each in self._budgets]:
            account, group = budget.account(self._context, self._estimate.now)
            found = await self._reserve_in(budget, account, group, amount)
            if isinstance(found, Balance):
                if not amount and self._expected.picodollars == 0:
                    continue  # it costs nothing, whatever is left
                self._release()
                return _Refusal(budget, account, group, amount, found)
        return None

    async def _reserve_in(
        self, budget: Budget, account: BudgetAccount, group: str | None, amount: int
    ) -> int | Balance:
        now, ledger = self._estimate.now, budget.ledger
        expires_at = now + self._seconds_left() + _LATE_SECONDS

        def reserve() -> int | Balance:
            found = ledger.reserve(account, amount, now, expires_at)
            if not isinstance(found, Balance):
                reservation = Reservation(budget, account, group, found)
                self._reserved.append(reservation)
                if self._is_abandoned:
                    release(reservation)
            return found

        try:
            return await self._context.runtime.call(reserve) if ledger.blocks else reserve()
        except BaseException:
            self._is_abandoned = True  # the thread may be reserving still
            self._release()
            raise

    def _amount_for(self, budget: Budget) -> int:
        """Returns what to reserve."""
        expected = self._expected
        if expected.picodollars is not None:
            return expected.picodollars
        if budget.unpriced == "refuse":
            raise _unpriced(budget, self._context, expected.reason)
        if budget.unpriced != "allow":
            return picodollars(budget.unpriced)
        warning = CallWarning(
            "unpriced_call",
            "model",
            f"the budget {budget.name!r} does not limit this call: {expected.reason or 'no price is known'}",
        )
        if warning not in self._context.warnings:
            self._context.warnings.append(warning)
        return 0

    def _seconds_left(self) -> float:
        deadline, now = self._context.deadline, self._context.runtime.now()
        return _EXPIRY_SECONDS if deadline is None else max(0.0, deadline - now)

    def _longest_wait(self, budget: Budget) -> float:
        return self._context.runtime.now() + min(budget.max_wait, self._seconds_left() - _LONGEST_PAUSE_SECONDS)

    def _settle(self, amount: Amount) -> None:
        taken = self._take()
        for index, each in enumerate(taken, 1):
            spent, estimated = amount.picodollars, amount.estimated
            if spent is None:
                spent = 0 if isinstance(each.budget.unpriced, str) else picodollars(each.budget.unpriced)
                estimated = spent
            try:
                in_order(each.budget, partial(settle, each, spent, estimated))
            except BaseException:  # Ctrl-C, or SystemExit in on_warning: it ends the call, and counts in all budgets
                self._reserved = taken[index:]
                self._settle(amount)
                raise

    def _release(self) -> None:
        for each in self._take():
            release(each)

    def _take(self) -> list[Reservation]:
        taken, self._reserved = self._reserved, []
        return taken


def _may_be_charged(error: BaseException, context: CallContext, before: _Before) -> bool:
    """Whether an attempt that failed may cost something: of a backend, which notes no request that was lost."""
    records = context.attempts[before.attempts :]
    if not records or context.unsent > before.unsent:
        return False
    status = records[-1].status
    if status is not None:
        return 200 <= status < 300
    if isinstance(error, ConnectionFailedError | RequestTimeoutError):
        return error.connected
    return isinstance(error, _SENT_NEVERTHELESS) or not isinstance(error, AbstractCoreError)


def _unpriced(budget: Budget, context: CallContext, reason: str) -> PriceUnknownError:
    given = context.input
    error = PriceUnknownError(
        f"the budget {budget.name!r} cannot limit this call: {reason or 'no price is known'}",
        hint="Give the price, as in create_llm(price=Price(input=2, output=10)); or the dollars that such a call "
        "counts, as in Budget(unpriced=0.01); or let such calls pass: Budget(unpriced='allow').",
    )
    error.provider, error.model = given.provider, given.model
    return error
