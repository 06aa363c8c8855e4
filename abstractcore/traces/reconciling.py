"""Stored costs beside those that a provider has billed: by day and model, with the difference and its likely causes.

Nothing is requested here: lines of reports are data.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Final, NamedTuple

from ..errors import InvalidInputError
from ..ports import CostReport, CostReportLine
from ..schema import CostSums
from .costs import CostRow
from .times import When, seconds_of

RECONCILED_BY: Final = ("provider", "model", "day")
"""How `TraceStore.costs` groups what `reconcile` compares."""
_DOLLARS: Final = "USD"
_EXACT: Final = Context(prec=100)
_DATED: Final = re.compile(r"(.+?)[-@]20\d\d-?\d\d-?\d\d")
_LEAST_SHARE: Final = Decimal("0.005")
_LEAST_DOLLARS: Final = Decimal("0.0001")
"""A difference below both is that of rounding."""
_OTHERS: Final = "other programs with keys of this account"


class ReportDays(NamedTuple):
    """The days that are compared, in UTC: from `since` to before `until`. `today` is not over."""

    since: date
    until: date
    today: date

    @classmethod
    def of(cls, since: When, until: When = None, now: float | None = None) -> ReportDays:
        """Returns whole days; raises `InvalidInputError` for times in no known form, and for no day."""
        now = time.time() if now is None else now
        begin, end = seconds_of(since, "since", now), seconds_of(until, "until", now)
        try:
            today = datetime.fromtimestamp(now, UTC).date()
            first = today if begin is None else datetime.fromtimestamp(begin, UTC).date()
            last = today if end is None else datetime.fromtimestamp(end - 1e-6, UTC).date()
        except (ValueError, OverflowError, OSError):
            raise InvalidInputError("the year is out of range", path="since") from None
        last = min(last, today)
        if first > last:
            raise InvalidInputError(f"there is no day from {first} to {last}", path="since")
        return cls(first, last + timedelta(days=1), today)


@dataclass(slots=True)
class ReconciledCost:
    """The costs of a model on a day: `ours` are stored, `billed` is what the provider reports, in US dollars.

    `billed` is None if the report has nothing of it. `model` is None for amounts that are not of one model: `items` are
    then what the provider calls them. `other_currencies` are amounts that are not compared.
    """

    account: str
    """Whose report it is: the name of a provider's account."""
    day: date | None
    model: str | None
    ours: CostSums = field(default_factory=CostSums)
    calls: int = 0
    billed: Decimal | None = None
    items: list[str] = field(default_factory=list[str])
    other_currencies: dict[str, Decimal] = field(default_factory=dict[str, Decimal])
    causes: list[str] = field(default_factory=list[str])
    """Why the two may differ."""

    @property
    def difference(self) -> Decimal | None:
        """What was billed above what is known; None if the report has nothing of it."""
        return None if self.billed is None else _EXACT.subtract(self.billed, self.ours.known)

    @property
    def is_equal(self) -> bool:
        """Whether both are the same, but for rounding."""
        return self.difference is not None and self._is_rounding(self.difference)

    @property
    def is_estimated(self) -> bool:
        """Whether the difference is what is estimated, but for rounding."""
        return self.difference is not None and self._is_rounding(_EXACT.subtract(self.difference, self.ours.estimated))

    def _is_rounding(self, difference: Decimal) -> bool:
        size = abs(difference)
        return size <= _LEAST_DOLLARS or size <= _LEAST_SHARE * max(abs(self.billed or Decimal(0)), self.ours.known)

    @classmethod
    def total(cls, account: str, costs: Iterable[ReconciledCost]) -> ReconciledCost:
        """Returns the sums over days and models."""
        result = cls(account, None, None)
        for each in costs:
            result.ours += each.ours
            result.calls += each.calls
            if each.billed is not None:
                result._bill(_DOLLARS, each.billed)
            for currency, amount in each.other_currencies.items():
                result._bill(currency, amount)
        return result

    def add(self, line: CostReportLine) -> None:
        """Adds a line of the report."""
        if line.item not in self.items:
            self.items.append(line.item)
        self._bill(line.currency, line.amount)

    def _bill(self, currency: str, amount: Decimal) -> None:
        if currency == _DOLLARS:
            self.billed = amount if self.billed is None else _EXACT.add(self.billed, amount)
        else:
            self.other_currencies[currency] = _EXACT.add(self.other_currencies.get(currency, Decimal(0)), amount)


def reconcile(
    rows: Iterable[CostRow], lines: Iterable[CostReportLine], report: CostReport, days: ReportDays
) -> list[ReconciledCost]:
    """Returns stored costs of the providers of one account beside its report, by day and model.

    `rows` are those of `store.costs(by=RECONCILED_BY)` within these days. A model that the report names with a date, as
    in "NAME-2026-03-05", is the stored "NAME", if there are calls of that name. A line of another day is left out; one
    without a model is a row of its own. `lines` are those of the report.
    """
    stored = [row for row in rows if row.group["model"] is not None]
    aliases = {row.group["model"] for row in stored}
    found: dict[tuple[date | None, str, str], ReconciledCost] = {}

    def row_of(day: date | None, model: str | None, item: str = "") -> ReconciledCost:
        name = None if model is None else _undated(model, aliases)
        key = (day, name or "", "" if name is not None else item)
        return found.setdefault(key, ReconciledCost(report.account, day, name))

    for row in stored:
        ours = row_of(date.fromisoformat(row.group["day"] or ""), row.group["model"])
        ours.ours += row.costs
        ours.calls += row.calls
    for line in lines:
        if line.day is None or days.since <= line.day < days.until:
            row_of(line.day, line.model, line.item).add(line)
    result = sorted(
        found.values(), key=lambda each: (each.day or date.min, each.model is None, each.model or "", each.items)
    )
    for each in result:
        each.causes = _causes(each, report, days)
    return result


def _undated(model: str, aliases: set[str | None]) -> str:
    """Returns a model's name without its date, if there are calls of the model under that name."""
    dated = _DATED.fullmatch(model)
    return dated[1] if dated is not None and dated[1] in aliases else model


def _causes(each: ReconciledCost, report: CostReport, days: ReportDays) -> list[str]:
    """Returns likely causes of a difference, the surest first; none if there is no difference."""
    causes = [f"billed in {currency}: not compared" for currency in each.other_currencies]
    if each.day is None:
        return [*causes, "the report has no day that can be read"]
    if report.days_kept is not None and each.day < days.today - timedelta(days=report.days_kept):
        return [*causes, f"the report goes back {report.days_kept} days"]
    if each.day == days.today:
        causes.append("the day is not over" if report.has_today else "the report has a day when it is over")
    if each.is_equal and not each.ours.unknown:
        return causes
    if each.ours.unknown:
        causes.append(f"{_calls(each.ours.unknown)} of unknown cost: a price or the usage is missing")
    if each.ours.estimated:
        causes.append(f"about ${each.ours.estimated:.4f} estimated, of calls that ended without their usage")
        if each.is_estimated:
            return causes
    return [*causes, *_causes_of_rest(each)]


def _causes_of_rest(each: ReconciledCost) -> list[str]:
    """Returns causes that stored costs say nothing of."""
    difference = each.difference
    if difference is None:
        is_billed = not each.ours.known or each.other_currencies
        return [] if is_billed else ["not in the report: calls by another account's key, or to another address"]
    if not difference:
        return []
    if each.model is None:
        return ["a credit" if difference < 0 else "not of one model: it may be of calls that are in other rows"]
    if not each.calls:
        return ["a credit" if difference < 0 else f"{_OTHERS}, or calls that were not kept"]
    if difference > 0:
        return [f"{_OTHERS}, calls that were not kept, or prices that have changed"]
    return ["prices that have changed (abstractcore catalogue update), discounts, credits, or another account's key"]


def _calls(number: int) -> str:
    return "1 call" if number == 1 else f"{number:,} calls"
