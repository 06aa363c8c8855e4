"""Budgets: what they allow, by window and by group, and what the error says."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import (
    Budget,
    BudgetExceededError,
    InvalidInputError,
    Price,
    Services,
    context,
    create_llm,
)
from abstractcore.budgets import BudgetState, MemoryLedger
from abstractcore.budgets.amounts import as_dollars
from abstractcore.budgets.windows import window_at
from abstractcore.testing import CallStyle, VirtualClock

NOON = datetime(2026, 11, 26, 12, 30, tzinfo=UTC).timestamp()
PRICE = Price(input=1_000_000, output=1_000_000)
"""A dollar for each token: "hi" is one of input, and "one" one of output."""


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(time_of_day=NOON)


@pytest.fixture
def services(clock: VirtualClock) -> Iterator[Services]:
    services = Services(environment={}, clock=clock)
    yield services
    services.close()


@pytest.fixture
def connect(services: Services):
    """Makes an LLM that answers with one token, and whose calls cost 2 dollars beside the overhead of a message."""

    def connect(model: str = "m", **options: Any):
        options = {"price": PRICE, "max_output_tokens": 1, **options}
        return create_llm("scripted", model=model, replies=lambda call: "one", services=services, **options)

    return connect


def exhaust(llm: Any, **request: Any) -> BudgetExceededError:
    """Makes calls until one does not fit."""
    with pytest.raises(BudgetExceededError) as caught:
        for _ in range(30):
            llm.generate("hi", **request)
    return caught.value


@pytest.mark.parametrize("usd", [0, -1, math.nan, math.inf, Decimal("NaN"), True, "5", "five", None, [], 5_000_000])
def test_limit_is_a_number_above_0(usd: Any):
    with pytest.raises(InvalidInputError) as caught:
        Budget(usd)
    assert caught.value.path == "usd"


class IncompleteLedger:
    """Reserves, and cannot say what is left."""

    blocks = False

    def reserve(self) -> None: ...
    def settle(self) -> None: ...
    def release(self) -> None: ...


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("per", "year"),
        ("per", 1),
        ("by", "tag:"),
        ("by", "user"),
        ("name", ""),
        ("name", "a\nb"),
        ("name", "a|b"),
        ("on_exceeded", "gpt-5.4-mini"),
        ("on_exceeded", None),
        ("on_exceeded", 3),
        ("unpriced", "ignore"),
        ("unpriced", -1),
        ("warn_at", 0),
        ("warn_at", 80),
        ("warn_at", True),
        ("on_warning", "mail"),
        ("on_warning", print),
        ("max_wait", -1),
        ("max_wait", math.nan),
        ("ledger", 3),
        ("ledger", IncompleteLedger()),
        ("ledger", ""),
        ("ledger", "memory"),
        ("ledger", "sqlite:budgets.db"),
    ],
)
def test_argument_is_checked_and_named(argument: str, value: Any):
    with pytest.raises(InvalidInputError) as caught:
        Budget(5, **{argument: value})
    assert caught.value.path == argument


@pytest.mark.parametrize("ledger", [MemoryLedger(), "budgets.db"])
def test_ledger_of_a_budget_of_each_call_is_refused(ledger: Any):
    with pytest.raises(InvalidInputError, match="has no effect with per='call'") as caught:
        Budget(5, per="call", ledger=ledger)
    assert (caught.value.path, caught.value.hint is not None) == ("ledger", True)


@pytest.mark.parametrize(("budgets", "path"), [("5", "budgets"), ([5], "budgets[0]"), (Budget(5), "budgets")])
def test_option_is_a_list_of_budgets(connect, budgets: Any, path: str):
    with pytest.raises(InvalidInputError, match="expected a") as caught:
        connect(budgets=budgets)
    assert caught.value.path == path


def test_float_is_taken_as_it_is_printed():
    assert Budget(0.1).usd == Decimal("0.1")
    assert Budget(Decimal("0.000000000001")).limit == 1
    with pytest.raises(InvalidInputError, match="12 decimal places"):
        Budget(Decimal("0.0000000000001"))


@pytest.mark.parametrize(
    ("per", "at", "name", "end"),
    [
        ("hour", datetime(2026, 11, 29, 23, 59, 59, tzinfo=UTC), "2026-11-29T23", datetime(2026, 11, 30, tzinfo=UTC)),
        ("day", datetime(2024, 2, 29, 12, tzinfo=UTC), "2024-02-29", datetime(2024, 3, 1, tzinfo=UTC)),
        ("week", datetime(2026, 11, 29, tzinfo=UTC), "2026-W48", datetime(2026, 11, 30, tzinfo=UTC)),
        ("week", datetime(2027, 1, 1, tzinfo=UTC), "2026-W53", datetime(2027, 1, 4, tzinfo=UTC)),
        ("month", datetime(2026, 12, 31, 23, tzinfo=UTC), "2026-12", datetime(2027, 1, 1, tzinfo=UTC)),
        ("month", datetime(2026, 2, 1, tzinfo=UTC), "2026-02", datetime(2026, 3, 1, tzinfo=UTC)),
    ],
)
def test_windows_are_those_of_utc(per: Any, at: datetime, name: str, end: datetime):
    window = window_at(per, at.timestamp())
    assert (window.name, window.ends_at) == (name, end.timestamp())
    assert window.has(at.timestamp())
    assert window_at(per, window.begins_at) == window
    assert window_at(per, end.timestamp()) != window


def test_call_beyond_the_limit_is_not_sent(call_style: CallStyle, connect):
    budget = Budget(20, per="day", name="team")
    llm = connect(budgets=[budget])
    with pytest.raises(BudgetExceededError) as caught:
        for calls in range(30):  # noqa: B007
            cost = call_style.generate(llm, "hi").cost
    assert len(llm.calls) == calls > 5
    error = caught.value
    assert (error.budget, error.group, error.limit, error.spent, error.reserved) == ("team", None, 20, calls * cost, 0)
    assert error.needed is not None
    assert error.spent + error.needed > 20
    assert error.resets_at == datetime(2026, 11, 27, tzinfo=UTC)
    assert not error.retryable
    assert str(error) == (
        f"scripted/m: the call does not fit into the budget 'team': limit $20.00, spent ${calls * cost:.2f}; "
        f"it may cost ${error.needed:.2f}. It resets at 2026-11-27 00:00 UTC. Set a lower max_output_tokens, name a "
        "cheaper model in Budget(on_exceeded='PROVIDER/MODEL'), or raise its usd."
    )


def test_budget_begins_anew_with_each_window(connect, clock: VirtualClock):
    budget = Budget(10, per="hour")
    llm = connect(budgets=[budget])
    llm.generate("hi")
    before = budget.state(at=NOON)
    exhaust(llm)
    clock.sleep(1800)
    assert budget.state(at=NOON + 1800) == BudgetState(
        budget.name, None, Decimal(10), Decimal(0), Decimal(0), datetime(2026, 11, 26, 14, tzinfo=UTC)
    )
    llm.generate("hi")
    assert budget.state(at=NOON + 1800).spent == before.spent


def test_clock_that_goes_back_returns_to_the_earlier_window(connect, services: Services):
    budget = Budget(10, per="hour")
    exhaust(connect(budgets=[budget]))
    spent = budget.state(at=NOON).spent
    assert budget.state(at=NOON + 3600).spent == 0
    assert budget.state(at=NOON).spent == spent


def test_each_value_of_a_tag_has_a_budget(connect):
    llm = connect(budgets=[Budget(10, per="day", by="tag:user")])
    error = exhaust(llm, tags={"user": "ann"})
    assert error.group == "ann"
    assert "of 'ann'" in str(error)
    with context(tags={"user": "bob"}):
        llm.generate("hi")
    assert "of '(no tag)'" in str(exhaust(llm))
    with pytest.raises(BudgetExceededError):
        llm.generate("hi", tags={"team": "office"})


def test_each_model_has_a_budget(connect):
    with Budget(10, by="model"):
        assert exhaust(connect()).group == "scripted/m"
        connect("other").generate("hi")


def test_each_provider_has_a_budget(connect):
    with Budget(10, by="provider"):
        assert exhaust(connect()).group == "scripted"
        with pytest.raises(BudgetExceededError):
            connect("other").generate("hi")


def test_budget_of_each_call_limits_one_call(connect):
    llm = connect(budgets=[Budget(12, per="call")])
    for _ in range(5):
        llm.generate("hi")
    with pytest.raises(BudgetExceededError) as caught:
        llm.generate("hi " * 20)
    assert caught.value.resets_at is None
    assert caught.value.spent == 0


def test_accounts_of_calls_are_dropped_with_them(call_style: CallStyle, connect):
    budget = Budget(12, per="call")
    llm = connect(budgets=[budget])
    for _ in range(3):
        call_style.generate(llm, "hi")
        with call_style.stream(llm, "hi") as stream:
            list(stream)
    with pytest.raises(BudgetExceededError):
        call_style.generate(llm, "hi " * 20)
    ledger: Any = budget.ledger
    assert ledger.accounts == 0


def test_state_needs_the_group_of_a_budget_that_has_some():
    with pytest.raises(InvalidInputError, match="expected a tag:user"):
        Budget(5, by="tag:user").state()
    with pytest.raises(InvalidInputError, match="counts by nothing"):
        Budget(5).state("ann")
    with pytest.raises(InvalidInputError, match="each call"):
        Budget(5, per="call").state()


def test_all_budgets_must_allow_and_none_is_reserved_otherwise(call_style: CallStyle, connect):
    outer, inner = Budget(100, name="outer"), Budget(10, name="inner")
    llm = connect(budgets=[inner])
    with outer, pytest.raises(BudgetExceededError) as caught:
        for _ in range(10):
            call_style.generate(llm, "hi")
    assert caught.value.budget == "inner"
    assert (outer.state().spent, outer.state().reserved) == (inner.state().spent, 0)


def test_budget_that_is_given_twice_counts_once(connect):
    budget = Budget(100)
    llm = connect(budgets=[budget, budget])
    with budget, budget:
        cost = llm.generate("hi").cost
    assert budget.state().spent == cost


def test_block_holds_for_all_models_and_ends(connect):
    budget = Budget(100)
    small, large = connect("small"), connect("large")
    with pytest.raises(ZeroDivisionError), budget:
        costs = [small.generate("hi").cost, large.generate("hi").cost]
        raise ZeroDivisionError
    large.generate("hi")
    assert budget.state().spent == sum(costs)


def test_block_holds_for_its_tasks(services: Services, connect):
    import asyncio

    budget = Budget(100)
    llm = connect()

    async def many() -> Decimal:
        with budget:
            tasks = [asyncio.create_task(llm.agenerate("hi")) for _ in range(5)]
        await llm.agenerate("hi")
        return sum((each.cost for each in await asyncio.gather(*tasks)), Decimal(0))

    assert asyncio.run(many()) == budget.state().spent


def test_copied_llm_has_the_same_budget(connect):
    import copy

    budget = Budget(100)
    llm = connect(budgets=[budget])
    cost = llm.generate("hi").cost + copy.copy(llm).generate("hi").cost
    assert budget.state().spent == cost
    with pytest.raises(InvalidInputError, match="neither copied nor pickled"):
        copy.copy(budget)


def test_warning_is_given_once_for_each_window(connect, clock: VirtualClock):
    warnings: list[BudgetState] = []
    budget = Budget(24, per="hour", warn_at=0.5, on_warning=warnings.append)
    llm = connect(budgets=[budget])
    for _ in range(2):
        exhaust(llm)
        clock.sleep(3600)
    assert [each.resets_at.hour for each in warnings if each.resets_at] == [13, 14]
    assert all(12 <= each.spent < 24 for each in warnings)
    assert str(warnings[0]).startswith(f"the budget '$24.00 per hour': ${warnings[0].spent:.2f} of $24.00 spent (")


def test_warning_is_logged_and_a_function_that_fails_does_no_harm(connect, caplog: pytest.LogCaptureFixture):
    def fail(state: BudgetState) -> None:
        raise ZeroDivisionError

    logged, failing = Budget(100, warn_at=0.01), Budget(100, warn_at=0.01, on_warning=fail)
    connect(budgets=[logged, failing]).generate("hi")
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "the budget '$100.00'",
        "on_warning of the budget '$100.00' failed",
    ]


def test_repr_names_the_limit():
    assert repr(Budget(5, "day", "tag:user")) == "Budget(5, per='day', by='tag:user', name='$5.00 per day by tag:user')"


def test_round_amounts_are_printed_plainly():
    assert [str(as_dollars(amount * 10**12)) for amount in (0, 10, 100)] == ["0", "10", "100"]
    assert str(as_dollars(1_500_000)) == "0.0000015"
