"""`MemoryLedger`: the accounts of budgets of one process."""

from __future__ import annotations

import itertools
import os
import threading
from typing import Final

from ..ports.budgets import Balance, BudgetAccount

_FIRST_SWEEP: Final = 256
"""The number of accounts, and of reservations of one, from which on those that are over are forgotten."""
_SETTLED_SECONDS: Final = 86_400.0
"""How long a reservation that has expired can be settled."""
_lock = threading.RLock()
"""Held for the few instructions that read and change an account; by a fork too, so that no child begins with one that
is half changed. Reentrant: a fork, or a finalizer that ends a stream, may happen in the thread that holds it."""
_process = 0
"""How many forks lie between this process and the first one."""


def _in_child() -> None:
    global _process
    _process += 1
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_in_child)


class _Sums:
    """The sums of one account. `held` has its reservations: amount and expiry by id."""

    __slots__ = ("ends_at", "estimated", "held", "reserved", "spent", "sweep_at", "warned")

    def __init__(self, ends_at: float | None) -> None:
        self.ends_at = ends_at
        self.held: dict[int, tuple[int, float]] | None = None
        self.reserved = self.spent = self.estimated = 0
        self.sweep_at = _FIRST_SWEEP
        self.warned = False

    def hold(self, id: int, amount: int, now: float, expires_at: float) -> None:
        """Reserves an amount."""
        if self.held is None:
            self.held = {}
        elif len(self.held) >= self.sweep_at:
            self.expire(now)
            self.sweep_at = max(_FIRST_SWEEP, 2 * len(self.held or ()))
        held = self.held = self.held or {}
        held[id] = (amount, expires_at)
        self.reserved += amount

    def take(self, id: int) -> int | None:
        """Ends a reservation; returns its amount, None if it has ended."""
        if self.held is None or id not in self.held:
            return None
        amount, _ = self.held.pop(id)
        self.reserved -= amount
        self.held = self.held or None
        return amount

    def expire(self, now: float) -> None:
        """Lets reservations that have expired reserve nothing. They can still be settled, for a day."""
        for id, (amount, expires_at) in [*(self.held or {}).items()]:
            if expires_at <= now - _SETTLED_SECONDS:
                self.take(id)
            elif amount and expires_at <= now and self.held is not None:
                self.held[id] = (0, expires_at)
                self.reserved -= amount

    def balance(self) -> Balance:
        return Balance(self.spent, self.reserved, self.estimated)

    def is_over(self, now: float) -> bool:
        """Whether it can be forgotten: nothing is reserved, and its window is past or nothing was spent."""
        self.expire(now)
        is_past = self.ends_at is not None and self.ends_at <= now
        return not self.reserved if is_past else not (self.spent or self.held)


class MemoryLedger:
    """Accounts in the memory of this process. A forked process goes on with a copy, in which nothing is reserved.

    Accounts of past windows are forgotten, and those for which nothing was spent. One without a window is kept as long
    as the ledger: a budget that counts by a tag of many values needs a window.
    """

    blocks = False

    def __init__(self) -> None:
        self._sums: dict[str, _Sums] = {}
        self._ids = itertools.count(1)
        self._process = _process
        self._sweep_at = _FIRST_SWEEP

    @property
    def accounts(self) -> int:
        """The number of accounts that are kept."""
        return len(self._sums)

    def reserve(self, account: BudgetAccount, amount: int, now: float, expires_at: float) -> int | Balance:
        """As `BudgetLedger.reserve`."""
        with _lock:
            sums = self._found(account) or self._opened(account, now)
            if sums.spent + sums.reserved + amount > account.limit:
                sums.expire(now)
                if sums.spent + sums.reserved + amount > account.limit:
                    return sums.balance()
            id = next(self._ids)
            sums.hold(id, amount, now, expires_at)
            return id

    def settle(self, account: BudgetAccount, id: int, amount: int, estimated: int = 0) -> Balance:
        """As `BudgetLedger.settle`."""
        with _lock:
            sums = self._found(account)
            if sums is None:
                return Balance()
            if sums.take(id) is not None:
                sums.spent += amount
                sums.estimated += estimated
            return sums.balance()

    def release(self, account: BudgetAccount, id: int) -> None:
        """As `BudgetLedger.release`."""
        with _lock:
            sums = self._found(account)
            if sums is not None:
                sums.take(id)

    def forget(self, account: BudgetAccount) -> None:
        """Drops an account: that of a single call which has ended."""
        with _lock:
            self._sums.pop(account.key, None)

    def balance(self, account: BudgetAccount, now: float) -> Balance:
        """As `BudgetLedger.balance`."""
        with _lock:
            sums = self._found(account)
            if sums is None:
                return Balance()
            sums.expire(now)
            return sums.balance()

    def mark_warned(self, account: BudgetAccount) -> bool:
        """As `BudgetLedger.mark_warned`."""
        with _lock:
            sums = self._found(account)
            if sums is None or sums.warned:
                return False
            sums.warned = True
            return True

    def _found(self, account: BudgetAccount) -> _Sums | None:
        if self._process != _process:
            self._begin_in_child()
        return self._sums.get(account.key)

    def _opened(self, account: BudgetAccount, now: float) -> _Sums:
        if len(self._sums) >= self._sweep_at:
            ended = [key for key, sums in self._sums.items() if sums.is_over(now)]
            for key in ended:
                del self._sums[key]
            self._sweep_at = max(_FIRST_SWEEP, 2 * len(self._sums))
        return self._sums.setdefault(account.key, _Sums(account.ends_at))

    def _begin_in_child(self) -> None:
        """Drops the reservations of the process that this one was forked from, which settles them itself."""
        self._process = _process
        for sums in self._sums.values():
            sums.held, sums.reserved = None, 0
