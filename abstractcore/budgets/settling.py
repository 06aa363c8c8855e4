"""Ends reservations: here, or in a worker thread where that waits for a database, in order.

No answer waits for it, and it happens even if the call is cancelled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from ..concurrency.background import ProcessWorker
from ..ports.budgets import BudgetAccount
from .budget import Budget

_LAST_SECONDS: Final = 5.0
_log = logging.getLogger("abstractcore")
_worker: Final = ProcessWorker("abstractcore-budgets", last_seconds=_LAST_SECONDS)


def flush(timeout: float | None = None) -> bool:
    """Waits up to `timeout` seconds until what ended is written to databases; returns whether it is."""
    return _worker.flush(timeout)


class Reservation(NamedTuple):
    """What is reserved of one account."""

    budget: Budget
    account: BudgetAccount
    group: str | None
    id: int


def in_order(budget: Budget, end: Callable[[], object]) -> None:
    """Ends a reservation here, or in the worker where that waits for a database."""
    if budget.ledger.blocks:
        with suppress(RuntimeError):  # the interpreter shuts down
            _worker.begun().put(end)
            return
    try:
        end()
    except Exception:
        _log.exception("the end of a reservation of the budget %r was not counted", budget.name)


def release(reservation: Reservation) -> None:
    """Ends a reservation for which nothing was spent."""
    budget = reservation.budget
    in_order(budget, partial(budget.ledger.release, reservation.account, reservation.id))


def settle(reservation: Reservation, amount: int, estimated: int = 0) -> None:
    """Ends a reservation: `amount` was spent, `estimated` of which nobody has reported."""
    budget, account = reservation.budget, reservation.account
    balance = budget.ledger.settle(account, reservation.id, amount, estimated)
    budget.warn(account, reservation.group, balance)
