"""`Budget`: a limit in US dollars on what calls cost in a window of time; `BudgetState`: how much of it is left."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Self, cast

from ..copying import NotCopied
from ..errors import InvalidInputError
from ..lazy_modules import LazyModule
from ..ports import CallContext
from ..ports.budgets import Balance, BudgetAccount, BudgetLedger
from ..ports.middleware import current_budgets
from ..schema.base_error import one_line
from .amounts import as_dollars, picodollars, shown_dollars
from .arguments import (
    LONGEST_GROUP,
    TAG,
    Substitute,
    Unpriced,
    checked_by,
    checked_function,
    checked_ledger,
    checked_limit,
    checked_name,
    checked_seconds,
    checked_share,
    checked_substitute,
    checked_unpriced,
    usual_name,
)
from .memory import MemoryLedger
from .windows import Period, Window, check_period, window_at

if TYPE_CHECKING:
    from .. import database
else:
    database = LazyModule("abstractcore.database")

_log = logging.getLogger("abstractcore")
_MOST_WARNED: Final = 10_000
"""The accounts of which this process knows that a warning was given. The ledger knows it of all."""
_WITHOUT_TAG: Final = "(no tag)"
_NO_DOLLARS: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class BudgetState:
    """How much of a budget is used, of one `group` if it counts by something, in US dollars.

    `spent` is what calls have cost: what is `known`, and what is `estimated` of calls that ended without reporting it.
    `reserved` are the estimates of those that are running. `resets_at` is when the next window begins, in UTC; None
    without windows.
    """

    budget: str
    group: str | None
    limit: Decimal
    spent: Decimal
    reserved: Decimal
    resets_at: datetime | None
    estimated: Decimal = _NO_DOLLARS

    @property
    def known(self) -> Decimal:
        """The part of `spent` that providers reported, or that follows from their prices."""
        return self.spent - self.estimated

    def __str__(self) -> str:
        of = "" if self.group is None else f" of {one_line(self.group, 60)!r}"
        share = 100 * self.spent / self.limit
        until = "" if self.resets_at is None else f"; it resets at {self.resets_at:%Y-%m-%d %H:%M} UTC"
        return f"the budget {self.budget!r}{of}: {shown_dollars(self.spent)} of {shown_dollars(self.limit)} spent" + (
            f" ({share:.0f} %){until}"
        )


class Budget(NotCopied):
    """A limit of `usd` US dollars on what calls cost, for `create_llm(budgets=[...])`, or for all calls of a block:
    `with budget:`, with those in its tasks.

    `per` is a window in UTC: "hour", "day", "week" (from Monday) or "month"; "call" for each call with its retries;
    None for all time. `by` gives each value of a tag ("tag:user"), each "model" or each "provider" a budget of its own;
    calls without the tag share one.

    Before each request its cost is reserved: the estimated input, with `max_output_tokens` or the usual output of the
    model. It is refused with `BudgetExceededError` if that does not fit, or goes to the model `on_exceeded`: its name,
    an LLM, or a function of the error that returns one of these, or None. That model has to fit too. A request that
    would fit without the reservations of others waits for their end, for `max_wait` seconds at most.

    The cost of a call whose price is unknown cannot be limited: `unpriced` is "refuse" (the default), "allow" for calls
    that are not counted, each with a warning, or the dollars that each of them counts.

    `on_warning` gets a `BudgetState` once for each window and group, when `warn_at` (0.8 is 80 %) of the limit is
    spent; without a function, a warning is logged. `ledger` is where the sums are kept: in this process, or a database
    that processes share, as in "sqlite:///budgets.db", in which a budget has its `name`. What a single call costs is
    kept in its process.

    Raises `InvalidInputError` for an invalid argument.
    """

    _holds = "what was spent in this process"
    _instead = "Give both processes a Budget with the same name and ledger='sqlite:///budgets.db'."

    def __init__(
        self,
        usd: Decimal | float,
        per: Period | None = None,
        by: str | None = None,
        *,
        name: str | None = None,
        on_exceeded: Substitute = "raise",
        unpriced: Decimal | float | str | Literal["refuse", "allow"] = "refuse",
        warn_at: float | None = None,
        on_warning: Callable[[BudgetState], object] | None = None,
        max_wait: float = 60.0,
        ledger: BudgetLedger | database.Database | str | Path | None = None,
    ) -> None:
        self.usd = checked_limit(usd)
        self.per: Period | None = check_period(per)
        self.by = checked_by(by)
        self.name = checked_name(name) or usual_name(self.usd, self.per, self.by)
        self.on_exceeded = checked_substitute(on_exceeded)
        self.unpriced: Unpriced = checked_unpriced(unpriced)
        self.warn_at = None if warn_at is None else checked_share(warn_at)
        self.on_warning = checked_function(on_warning, warn_at)
        self.max_wait = checked_seconds(max_wait)
        self.ledger: BudgetLedger = checked_ledger(ledger, self.per)
        self.limit = picodollars(self.usd)
        """In picodollars."""
        self._warning_at = None if self.warn_at is None else int(self.limit * self.warn_at)
        self._window: Window | None = None
        self._warned: set[str] = set()

    def account(self, context: CallContext, now: float) -> tuple[BudgetAccount, str | None]:
        """Returns the account of a call, and its group."""
        given = context.input
        group = None
        if self.by == "model":
            group = f"{given.provider}/{given.model}"
        elif self.by == "provider":
            group = given.provider
        elif self.by is not None:
            group = given.tags.get(self.by[len(TAG) :], _WITHOUT_TAG)
        return self._account(group, now, context.trace_id), group

    def state(self, group: str | None = None, *, at: float | None = None) -> BudgetState:
        """Returns the state in the window of now, or of `at` in seconds since the epoch; of `group`, which is the value
        of the tag, "provider/model" or the provider, if it counts by one. Waits for a database.

        Raises `InvalidInputError` without the group of a budget that has some, and for one of each call.
        """
        if self.per == "call":
            raise InvalidInputError("a budget of each call has no state of its own", path="per")
        if (group is None) != (self.by is None):
            problem = "expected None: the budget counts by nothing" if self.by is None else f"expected a {self.by}"
            raise InvalidInputError(problem, path="group")
        from .settling import flush

        flush()
        now = time.time() if at is None else at
        account = self._account(group, now, "")
        return self.state_of(account, group, self.ledger.balance(account, now))

    def state_of(self, account: BudgetAccount, group: str | None, balance: Balance) -> BudgetState:
        """Returns the state of an account with a balance."""
        spent, reserved, estimated = map(as_dollars, balance)
        return BudgetState(self.name, group, self.usd, spent, reserved, self.resets_at(account), estimated)

    def warn(self, account: BudgetAccount, group: str | None, balance: Balance) -> None:
        """Warns if so much is spent, unless this or another process has: calls `on_warning`, whose exceptions are
        logged, or logs a warning.
        """
        if self._warning_at is None or balance.spent < self._warning_at or account.key in self._warned:
            return
        if len(self._warned) >= _MOST_WARNED:
            self._warned.clear()
        self._warned.add(account.key)
        if not self.ledger.mark_warned(account):
            return
        state = self.state_of(account, group, balance)
        if self.on_warning is None:
            _log.warning("%s", state)
            return
        try:
            self.on_warning(state)
        except Exception:
            _log.exception("on_warning of the budget %r failed", self.name)

    def forget_call(self, context: CallContext) -> None:
        """Drops the account of a call that has ended, of a budget of each call."""
        if isinstance(self.ledger, MemoryLedger):
            account, _ = self.account(context, context.started_at)
            self.ledger.forget(account)

    def resets_at(self, account: BudgetAccount) -> datetime | None:
        """Returns when the window of an account ends; None for one that is not of a window."""
        if account.ends_at is None or self.per == "call":
            return None
        return datetime.fromtimestamp(account.ends_at, UTC)

    def __enter__(self) -> Self:
        current_budgets.set((*current_budgets.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        budgets = [*reversed(current_budgets.get())]
        if self in budgets:  # unless the block of a generator ends in another task than it began in
            budgets.remove(self)
            current_budgets.set(tuple(reversed(budgets)))

    def __repr__(self) -> str:
        details = "".join(f", {key}={value!r}" for key, value in (("per", self.per), ("by", self.by)) if value)
        return f"Budget({self.usd:f}{details}, name={self.name!r})"

    def _account(self, group: str | None, now: float, trace_id: str) -> BudgetAccount:
        window = self._window
        if window is None or not window.has(now) or self.per == "call":
            window = self._window = window_at(self.per, now)
        if group is not None and (len(group) > LONGEST_GROUP or not group.isprintable()):
            group = hashlib.sha256(group.encode("utf-8", "surrogatepass")).hexdigest()
        part = trace_id if self.per == "call" else window.name
        return BudgetAccount(f"{self.name}|{part}|{group or ''}", self.limit, window.ends_at)


def checked_budgets(given: object) -> tuple[Budget, ...]:
    """Returns the value of the option `budgets`; raises `InvalidInputError` unless it is a list of budgets."""
    hint = "For example: budgets=[Budget(usd=5, per='day')]."
    if not isinstance(given, list | tuple):
        raise InvalidInputError(f"expected a list, got {type(given).__name__}", path="budgets", hint=hint)
    for index, each in enumerate(cast("list[object]", given)):
        if not isinstance(each, Budget):
            problem = f"expected a Budget, got {type(each).__name__}"
            raise InvalidInputError(problem, path=f"budgets[{index}]", hint=hint)
    return tuple(dict.fromkeys(cast("list[Budget]", given)))
