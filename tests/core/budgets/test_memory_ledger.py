"""`MemoryLedger`: what it keeps is bounded, whatever becomes of calls."""

from __future__ import annotations

from abstractcore.budgets import MemoryLedger
from abstractcore.ports import Balance, BudgetAccount

DAY = 86_400.0
MANY = 5_000
FEW = 1_200
"""About twice the number from which on there is something to forget."""


def of_user(number: int, ends_at: float | None = DAY) -> BudgetAccount:
    return BudgetAccount(f"team|{ends_at}|user {number}", 100, ends_at)


def reserved(ledger: MemoryLedger, account: BudgetAccount, amount: int, now: float = 0.0) -> int:
    id = ledger.reserve(account, amount, now, now + 60)
    assert isinstance(id, int)
    return id


def test_accounts_of_past_windows_are_forgotten_also_with_reservations_that_expired():
    ledger = MemoryLedger()
    for day in range(20):
        for number in range(MANY // 20):
            account = of_user(number, (day + 1) * DAY)
            id = reserved(ledger, account, 10, day * DAY)
            if number % 2:
                ledger.settle(account, id, 10)  # the others are never settled
    assert ledger.accounts <= FEW


def test_accounts_for_which_nothing_was_spent_are_forgotten():
    ledger, spender = MemoryLedger(), of_user(-1, None)
    ledger.settle(spender, reserved(ledger, spender, 10), 7)
    for number in range(MANY):
        account = of_user(number, None)
        ledger.release(account, reserved(ledger, account, 10))
        assert isinstance(ledger.reserve(account, 1_000, 0.0, 60.0), Balance)
    assert ledger.accounts <= FEW
    assert ledger.balance(spender, 0.0) == Balance(7, 0)


def test_account_with_a_reservation_that_runs_is_kept():
    ledger, account = MemoryLedger(), of_user(-1)
    id = reserved(ledger, account, 10, DAY - 1)
    for number in range(MANY):
        reserved(ledger, of_user(number, 2 * DAY), 10, DAY)
    assert ledger.settle(account, id, 10) == Balance(10, 0)


def test_reservations_that_are_never_settled_are_forgotten():
    ledger, account = MemoryLedger(), of_user(0, None)
    for number in range(MANY):
        reserved(ledger, account, 1, number * DAY / 100)
    sums = ledger._sums[account.key]  # pyright: ignore[reportPrivateUsage]
    assert len(sums.held or ()) <= FEW
    assert ledger.balance(account, MANY * DAY) == Balance()


def test_reservation_that_has_expired_can_be_settled_for_a_day():
    ledger, account = MemoryLedger(), of_user(0, None)
    first, second = reserved(ledger, account, 60), reserved(ledger, account, 40)
    assert ledger.balance(account, 61.0) == Balance()
    assert ledger.settle(account, first, 30, 10) == Balance(30, 0, 10)
    assert ledger.balance(account, 61.0 + DAY) == Balance(30, 0, 10)
    assert ledger.settle(account, second, 40) == Balance(30, 0, 10)
