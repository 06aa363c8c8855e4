"""`RequestBudgets`: the budgets that hold for the calls of a request, of the configuration and of its key."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Final

from abstractcore.budgets import Budget, BudgetState
from abstractcore.ports import BudgetLedger

from ..configuration.settings import BY_KEY, BudgetSettings
from .admission import Grant

_MOST_KEYS: Final = 4096
_WITHOUT_KEY: Final = "(no key)"


class RequestBudgets:
    """Finds the budgets of requests. `ledger` has the sums of those of the configuration, which a reload keeps."""

    def __init__(self, settings: Mapping[str, BudgetSettings], ledger: BudgetLedger | None) -> None:
        self._settings = settings
        self._ledger = ledger
        self._shared = {name: budget_of(name, each, ledger) for name, each in settings.items() if each.by != BY_KEY}
        self._of_key = lru_cache(_MOST_KEYS)(self._budget_of_key)

    @contextmanager
    def hold(self, grant: Grant) -> Generator[None]:
        """In its body, and in the tasks that begin there, the budgets hold for all calls of models."""
        with ExitStack() as stack:
            for budget in self.of(grant):
                stack.enter_context(budget)
            yield

    def of(self, grant: Grant) -> list[Budget]:
        """Returns the budgets of the requests with a grant."""
        key = grant.key_id
        names = [name for name, each in self._settings.items() if each.is_for(key)]
        return [*(self._shared.get(name) or self._of_key(name, key) for name in names), *grant.budgets]

    def states(self) -> list[BudgetState]:
        """Returns how much of the budgets of the configuration is used, without those that have a sum for each key, tag
        or model: there may be any number of these. Waits for the ledger.
        """
        return [budget.state() for budget in self._shared.values() if budget.by is None and budget.per != "call"]

    def _budget_of_key(self, name: str, key: str | None) -> Budget:
        whose = _WITHOUT_KEY if key is None else key
        return budget_of(f"{name} of key {whose}", self._settings[name], self._ledger)


def budget_of(name: str, settings: BudgetSettings, ledger: BudgetLedger | None) -> Budget:
    """Returns the budget of a table of the configuration; raises `InvalidInputError` for an invalid value."""
    return Budget(
        settings.usd,
        settings.per,
        None if settings.by == BY_KEY else settings.by,
        name=name,
        unpriced=settings.unpriced,
        warn_at=settings.warn_at,
        max_wait=settings.max_wait,
        ledger=ledger,
    )
