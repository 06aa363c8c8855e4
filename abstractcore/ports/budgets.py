"""`BudgetLedger`: where the sums of budgets are kept: in this process, or in a database that several processes share.

Amounts are whole picodollars (millionths of a millionth of a US dollar): sums of them are exact. Times are in seconds
since the epoch.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol


class BudgetAccount(NamedTuple):
    """What one budget counts in one window for one group. After `ends_at`, if it is not None, it may be forgotten."""

    key: str
    limit: int
    ends_at: float | None = None


class Balance(NamedTuple):
    """What was spent of an account, and what is reserved for calls that are running. `estimated` is the part of what
    was spent that nobody has reported.
    """

    spent: int = 0
    reserved: int = 0
    estimated: int = 0


class BudgetLedger(Protocol):
    """Keeps accounts. All methods may be called from any thread, and in a forked process.

    `blocks` says whether methods wait for something, such as a database: they are never called in an event loop then.
    """

    @property
    def blocks(self) -> bool:
        """Whether methods wait."""
        ...

    def reserve(self, account: BudgetAccount, amount: int, now: float, expires_at: float) -> int | Balance:
        """Reserves `amount` and returns the id of the reservation; or returns the balance beside which it does not fit.
        It is one step: two callers never reserve the same rest.

        A reservation that is neither settled nor released by `expires_at` no longer counts: its process was killed.
        """
        ...

    def settle(self, account: BudgetAccount, id: int, amount: int, estimated: int = 0) -> Balance:
        """Ends a reservation, also one that has expired, and adds `amount` to what is spent, whatever the limit;
        `estimated` of it is not reported. Has no effect on one that has ended.
        """
        ...

    def release(self, account: BudgetAccount, id: int) -> None:
        """Ends a reservation for which nothing was spent. Has no effect on one that has ended."""
        ...

    def balance(self, account: BudgetAccount, now: float) -> Balance:
        """Returns the balance, without reservations that have expired."""
        ...

    def mark_warned(self, account: BudgetAccount) -> bool:
        """Returns True once for an account, in one of all processes."""
        ...
