"""One budget for many tasks, threads and processes: no false refusal, and nothing above the limit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import Budget, BudgetExceededError, Price, Services, create_llm
from abstractcore.budgets import MemoryLedger
from abstractcore.ports import Balance, BudgetAccount
from abstractcore.testing import ScriptedReply
from tests.chaos_server import PATIENCE_SECONDS
from tests.forks import in_fork
from tests.leftovers import wait_until

PRICE = Price(input=1_000_000, output=1_000_000)
ACCOUNT = BudgetAccount("a", 100)


@pytest.fixture
def services() -> Iterator[Services]:
    services = Services(environment={})
    yield services
    services.close()


def at_once(llm: Any, tasks: int, threads: int, each: int) -> tuple[list[Decimal], list[BudgetExceededError]]:
    """Makes `each` calls in each of so many tasks and threads; returns costs and refusals."""
    costs: list[Decimal] = []
    refused: list[BudgetExceededError] = []

    def call() -> None:
        for _ in range(each):
            try:
                costs.append(llm.generate("hi").cost)
            except BudgetExceededError as error:
                refused.append(error)

    async def acall() -> None:
        for _ in range(each):
            try:
                costs.append((await llm.agenerate("hi")).cost)
            except BudgetExceededError as error:
                refused.append(error)

    async def run() -> None:
        await asyncio.gather(*(acall() for _ in range(tasks)))

    with ThreadPoolExecutor(threads + 1) as pool:
        futures = [pool.submit(call) for _ in range(threads)]
        asyncio.run(run())
        for future in futures:
            future.result()
    return costs, refused


def test_nobody_is_refused_whose_cost_fits(services: Services):
    """Each reserves about ten times of what it costs."""
    llm = create_llm(
        "scripted",
        replies=lambda call: ScriptedReply.text("one", delay=0.001),
        services=services,
        price=PRICE,
        max_output_tokens=20,
        budgets=[Budget(2 * 3 * 72 + 30)],
    )
    costs, refused = at_once(llm, 64, 8, 3)
    assert not refused
    assert sum(costs) == 2 * 3 * 72


@pytest.mark.parametrize("ledger", ["memory", "sqlite"])
def test_nothing_is_spent_above_the_limit(services: Services, ledger: str, tmp_path: Any):
    budget = Budget(100, ledger=f"sqlite:///{tmp_path}/budgets.db" if ledger == "sqlite" else None)
    llm = create_llm(
        "scripted",
        replies=lambda call: "one",
        services=services,
        price=PRICE,
        max_output_tokens=1,
        budgets=[budget],
    )
    costs, refused = at_once(llm, 64, 8, 2)
    state = budget.state()
    assert (state.spent, state.reserved) == (sum(costs), 0)
    assert refused
    assert 100 - max(error.needed or 0 for error in refused) < state.spent <= 100


def test_ledger_counts_exactly_in_many_threads():
    ledger = MemoryLedger()
    won: list[int] = []
    begin = threading.Barrier(8)

    def reserve() -> None:
        begin.wait(PATIENCE_SECONDS)
        for _ in range(50):
            found = ledger.reserve(ACCOUNT, 1, 0.0, 10.0)
            if not isinstance(found, Balance):
                won.append(found)

    threads = [threading.Thread(target=reserve) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == len(set(won)) == 100
    assert ledger.balance(ACCOUNT, 0.0) == Balance(0, 100)


@pytest.mark.process
def test_fork_while_threads_use_the_ledger_leaves_nothing_locked_or_reserved():
    ledger = MemoryLedger()
    kept = ledger.reserve(BudgetAccount("kept", 100), 40, 0.0, 1e12)
    assert isinstance(kept, int)
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            found = ledger.reserve(ACCOUNT, 1, 0.0, 1e12)
            if isinstance(found, int):
                ledger.release(ACCOUNT, found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()

    def child() -> None:
        ledger.settle(BudgetAccount("kept", 100), kept, 30)  # which the parent settles
        assert isinstance(ledger.reserve(BudgetAccount("kept", 100), 100, 0.0, 1e12), int)
        assert ledger.balance(ACCOUNT, 0.0) == Balance(0, 0)

    try:
        for _ in range(5):
            in_fork(child)
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert ledger.settle(BudgetAccount("kept", 100), kept, 30) == Balance(30, 0)


def test_reservation_of_a_call_that_never_ends_expires():
    ledger = MemoryLedger()
    first = ledger.reserve(ACCOUNT, 80, 0.0, 10.0)
    assert isinstance(first, int)
    assert ledger.reserve(ACCOUNT, 30, 9.0, 20.0) == Balance(0, 80)
    assert isinstance(ledger.reserve(ACCOUNT, 30, 10.0, 20.0), int)
    assert ledger.settle(ACCOUNT, first, 60) == Balance(60, 30)
    assert ledger.settle(ACCOUNT, first, 60) == Balance(60, 30)


def test_accounts_of_past_windows_are_forgotten():
    ledger = MemoryLedger()
    for number in range(2000):
        ledger.reserve(BudgetAccount(str(number), 100, ends_at=number), 0, number, number + 1.0)
    assert len(ledger._sums) < 600  # pyright: ignore[reportPrivateUsage]


def test_cancelled_task_leaves_nothing_reserved(services: Services, tmp_path: Any):
    budget = Budget(100, ledger=f"sqlite:///{tmp_path}/budgets.db")
    llm = create_llm(
        "scripted",
        replies=lambda call: ScriptedReply.text("one", delay=30),
        services=services,
        price=PRICE,
        max_output_tokens=1,
        budgets=[budget],
    )

    async def run(turns: int) -> None:
        task = asyncio.create_task(llm.agenerate("hi"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for turns in (1, 2, 5, 20, 100, 1000):
        asyncio.run(run(turns))
    # A reservation that a worker thread was making when its call was cancelled is released when that thread is done.
    assert wait_until(lambda: budget.state().reserved == 0)
