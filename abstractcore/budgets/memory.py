"""`MemoryLedger`: the accounts of budgets of one process."""

from __future__ import annotations

import itertools
import os
import threading
from typing import Final

from ..ports.budgets import Balance, BudgetAccount

_FIRST_SWEEP: Final = 256
"""The number of accounts from which on those of past windows are forgotten."""
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

    __slots__ = ("ends_at", "held", "reserved", "spent", "warned")

    def __init__(self, ends_at: float | None) -> None:
        self.ends_at = ends_at
        self.held: dict[int, tuple[int, float]] = {}
        self.reserved = self.spent = 0
        self.warned = False

    def expire(self, now: float) -> None:
        """Lets reservations that have expired reserve nothing. They can still be settled."""
        for id, (amount, expires_at) in self.held.items():
            if amount and expires_at <= now:
                self.held[id] = (0, expires_at)
                self.reserved -= amount

    def balance(self) -> Balance:
        return Balance(self.spent, self.reserved)


class MemoryLedger:
    """Accounts in the memory of this process. A forked process goes on with a copy, in which nothing is reserved."""

    blocks = False

    def __init__(self) -> None:
        self._sums: dict[str, _Sums] = {}
        self._ids = itertools.count(1)
        self._process = _process
        self._sweep_at = _FIRST_SWEEP

    def reserve(self, account: BudgetAccount, amount: int, now: float, expires_at: float) -> int | Balance:
        """As `BudgetLedger.reserve`."""
        with _lock:
            sums = self._found(account) or self._opened(account, now)
            if sums.spent + sums.reserved + amount > account.limit:
                sums.expire(now)
                if sums.spent + sums.reserved + amount > account.limit:
                    return sums.balance()
            id = next(self._ids)
            sums.held[id] = (amount, expires_at)
            sums.reserved += amount
            return id

    def settle(self, account: BudgetAccount, id: int, amount: int) -> Balance:
        """As `BudgetLedger.settle`."""
        with _lock:
            sums = self._found(account)
            held = None if sums is None else sums.held.pop(id, None)
            if sums is None or held is None:
                return Balance() if sums is None else sums.balance()
            sums.reserved -= held[0]
            sums.spent += amount
            return sums.balance()

    def release(self, account: BudgetAccount, id: int) -> None:
        """As `BudgetLedger.release`."""
        with _lock:
            sums = self._found(account)
            held = None if sums is None else sums.held.pop(id, None)
            if sums is not None and held is not None:
                sums.reserved -= held[0]

    def balance(self, account: BudgetAccount, now: float) -> Balance:
        """As `BudgetLedger.balance`."""
        with _lock:
            sums = self._found(account)
            if sums is None:
                return Balance()
            late = sum(amount for amount, expires_at in sums.held.values() if expires_at <= now)
            return Balance(sums.spent, sums.reserved - late)

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
            ended = [key for key, sums in self._sums.items() if _is_over(sums, now)]
            for key in ended:
                del self._sums[key]
            self._sweep_at = max(_FIRST_SWEEP, 2 * len(self._sums))
        return self._sums.setdefault(account.key, _Sums(account.ends_at))

    def _begin_in_child(self) -> None:
        """Drops the reservations of the process that this one was forked from, which settles them itself."""
        self._process = _process
        for sums in self._sums.values():
            sums.held.clear()
            sums.reserved = 0


def _is_over(sums: _Sums, now: float) -> bool:
    return sums.ends_at is not None and sums.ends_at <= now and not sums.reserved
