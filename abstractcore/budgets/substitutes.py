"""Calls that do not fit into a budget, made by a cheaper model instead."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import BudgetExceededError, FallbackExhaustedError
from ..ports import Answer, CallContext, CallEnd, CallNext
from ..ports.middleware import current_budgets
from ..schema import CallWarning
from ..telemetry.costs import conversion_costs
from .budget import Budget
from .charging import count_beside, count_spent, refusing_budget


async def call_with_budgets(
    budgets: tuple[Budget, ...],
    context: CallContext,
    next: CallNext,
    substitute: Callable[[CallContext, object], Awaitable[Answer]],
) -> Answer:
    """Makes a call whose budgets hold for other calls that are made for it. If it does not fit, `substitute` makes it
    by the model that the budget names, which is reported in its warnings and has to fit into all budgets too.
    """
    count_beside(budgets, context)
    token, warnings, given = current_budgets.set(budgets), len(context.warnings), context.input
    try:
        try:
            return await next(context)
        except (BudgetExceededError, FallbackExhaustedError) as error:
            refused = error if isinstance(error, BudgetExceededError) else _refusal_of_group(error)
            budget = None if refused is None else _refusing(budgets, refused, context)
            model = None if budget is None or refused is None else await _substitute(budget, refused, context)
            if budget is None or model is None:
                raise
        del context.warnings[warnings:]  # those of the model that does not answer
        context.input = given
        return await _made_by(model, budget, context, substitute)
    finally:
        current_budgets.reset(token)
        converted = conversion_costs(context.decisions)
        if converted:
            count_spent(budgets, context, converted)
        for budget in budgets:
            if budget.per == "call":  # at the end, after what a stream has cost is settled
                context.at_end.append(partial(_forget, budget, context))


def _forget(budget: Budget, context: CallContext, end: CallEnd) -> None:
    budget.forget_call(context)


def _refusal_of_group(error: FallbackExhaustedError) -> BudgetExceededError | None:
    """Returns the first error of a budget that kept a group of models from asking a member."""
    return next((each.error for each in error.causes if isinstance(each.error, BudgetExceededError)), None)


def _refusing(budgets: Sequence[Budget], error: BudgetExceededError, context: CallContext) -> Budget | None:
    """Returns the budget that refused a call which another model can make."""
    if not context.operation.is_chat or context.pricing is not None:
        return None
    budget = refusing_budget(error)
    return budget if budget is not None and budget in budgets and budget.on_exceeded != "raise" else None


async def _substitute(budget: Budget, error: BudgetExceededError, context: CallContext) -> object:
    """Returns the model that a budget names; None if its function names none."""
    named: Any = budget.on_exceeded
    if isinstance(named, str) or hasattr(named, "generate"):
        return named
    return await context.runtime.invoke(named, error)


async def _made_by(
    model: object,
    budget: Budget,
    context: CallContext,
    substitute: Callable[[CallContext, object], Awaitable[Answer]],
) -> Answer:
    provider, name = context.input.provider, context.input.model
    requested = f"{provider}/{name}"
    context.attempts[:] = [
        replace(each, provider=provider, model=name) if each.model is None else each for each in context.attempts
    ]
    answer = await substitute(context, model)
    sent = f"{context.input.provider}/{context.input.model}"
    message = f"the call did not fit into the budget {budget.name!r}: {sent} answered instead of {requested}"
    context.warnings.append(CallWarning("model_substituted", "model", message, requested, sent))
    return answer
