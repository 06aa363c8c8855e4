"""Budgets: what a check before a request takes, and its settlement, in memory and in SQLite."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rounds import Row, Setup, best, cpu_seconds, repeated

from abstractcore import Budget, Price, create_llm
from abstractcore.budgets import DatabaseLedger, MemoryLedger, flush
from abstractcore.budgets.charging import AttemptCharge
from abstractcore.budgets.estimates import AttemptEstimate, PricedModel
from abstractcore.concurrency import drive
from abstractcore.ports import Attempt, BudgetAccount, BudgetLedger

_COUNT = 300
_MOST_IN_MEMORY, _MOST_IN_SQLITE = 20e-6, 300e-6
_NEVER = 1e12
_PROMPT = "What is the capital of France? Answer in one word."


def budgets(setup: Setup) -> list[Row]:
    """A check with its estimate, a reservation with its settlement, and a call with a budget beside one without."""
    with tempfile.TemporaryDirectory() as folder:
        database = DatabaseLedger(Path(folder) / "budgets.db")
        check = _check(Budget(1_000_000))
        shared = _check(Budget(1_000_000, ledger=database))
        plain, limited = _llm([]), _llm([Budget(1_000_000, per="day")])
        times = best(
            {
                "memory": cpu_seconds(repeated(_reserved(MemoryLedger()), _COUNT), _COUNT),
                "sqlite": cpu_seconds(repeated(_reserved(database), _COUNT), _COUNT),
                "check": cpu_seconds(repeated(check, _COUNT), _COUNT),
                "check in sqlite": cpu_seconds(repeated(shared, _COUNT), _COUNT),
                "plain": cpu_seconds(repeated(lambda: plain.generate(_PROMPT), _COUNT), _COUNT),
                "limited": cpu_seconds(repeated(lambda: limited.generate(_PROMPT), _COUNT), _COUNT),
            },
            setup.rounds,
        )
        flush()
        database.close()
    return [
        Row("a budget's check, in memory", times["check"], goal=_MOST_IN_MEMORY),
        Row("a budget's check, in SQLite", times["check in sqlite"], goal=_MOST_IN_SQLITE),
        Row("reserved and settled, in memory", times["memory"]),
        Row("reserved and settled, in SQLite", times["sqlite"]),
        Row("what a budget adds to a call", times["limited"] - times["plain"]),
        Row("call with a budget / call", times["limited"], times["plain"]),
    ]


def _llm(limits: list[Budget]) -> Any:
    price = Price(input=2, output=10)
    return create_llm("scripted", replies=lambda call: "Paris.", price=price, budgets=limits, max_output_tokens=100)


def _reserved(ledger: BudgetLedger) -> Any:
    """Returns a function that reserves and settles once."""
    account = BudgetAccount("benchmark", 10**18)

    def reserve() -> None:
        found = ledger.reserve(account, 1_000, 0.0, _NEVER)
        assert isinstance(found, int)
        ledger.settle(account, found, 900)

    return reserve


def _check(budget: Budget) -> Any:
    """Returns a function that estimates an attempt and reserves it, as before each request."""
    seen: list[tuple[Attempt, PricedModel]] = []

    class Watching:
        async def around_attempt(self, attempt: Attempt, next: Any) -> Any:
            seen.append((attempt, PricedModel(llm._pipelines.pricing, llm.profile, {}, {})))  # pyright: ignore[reportPrivateUsage]
            return await next(attempt)

    llm = create_llm(
        "scripted",
        replies=lambda call: "Paris.",
        price=Price(input=2, output=10),
        max_output_tokens=100,
        middleware=[Watching()],
    )
    llm.generate(_PROMPT)
    attempt, model = seen[0]

    def check() -> None:
        drive(AttemptCharge([budget], attempt.context, AttemptEstimate(attempt, model)).reserve())

    return check
