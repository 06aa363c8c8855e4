"""Stored costs beside the lines of a report: models, days, differences and their likely causes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from abstractcore import InvalidInputError
from abstractcore.ports import CostReportLine
from abstractcore.traces import CostRow, CostSums, ReconciledCost, ReportDays, reconcile

TODAY = date(2026, 11, 29)
DAY = date(2026, 11, 27)
DAYS = ReportDays(date(2026, 10, 1), TODAY + timedelta(days=1), TODAY)
NOW = 1_795_953_600.0 + 3_600


@dataclass(frozen=True)
class Report:
    """The facts of a report that comparing needs."""

    account: str = "openai"
    days_kept: int | None = None
    has_today: bool = True


def stored(
    known: str = "0", *, model: str | None = "small", day: date = DAY, estimated: str = "0", unknown: int = 0
) -> CostRow:
    group = {"provider": None if model is None else "openai", "model": model, "day": day.isoformat()}
    return CostRow(group, CostSums(Decimal(known), Decimal(estimated), unknown), 2, 0, 10, 5, 0)


def billed(
    amount: str, model: str | None = "small", item: str = "an item", day: date | None = DAY, currency: str = "USD"
) -> CostReportLine:
    return CostReportLine(day, item, Decimal(amount), currency, model)


def compare(*given: Any, report: Any = Report()) -> list[ReconciledCost]:
    rows = [each for each in given if isinstance(each, CostRow)]
    return reconcile(rows, [each for each in given if isinstance(each, CostReportLine)], report, DAYS)


def test_lines_of_a_model_and_day_are_summed_beside_its_calls():
    (row,) = compare(stored("1.25"), billed("1", item="small, input"), billed("0.25", item="small, output"))
    assert (row.ours.known, row.billed, row.difference, row.calls) == (Decimal("1.25"), Decimal("1.25"), 0, 2)
    assert (row.items, row.causes, row.is_equal) == (["small, input", "small, output"], [], True)


def test_rows_are_in_the_order_of_days_models_and_other_items():
    rows = compare(
        billed("1", None, "web search"), stored(model="b"), stored(model="a"), stored(day=date(2026, 11, 1)),
        billed("2", None, "storage"), billed("1", day=None),
    )  # fmt: skip
    assert [(row.day, row.model, row.items[:1]) for row in rows] == [
        (None, "small", ["an item"]),
        (date(2026, 11, 1), "small", []),
        (DAY, "a", []),
        (DAY, "b", []),
        (DAY, None, ["storage"]),
        (DAY, None, ["web search"]),
    ]


@pytest.mark.parametrize("dated", ["small-2026-03-05", "small-20260305", "small@20260305"])
def test_dated_name_is_that_of_stored_calls_without_a_date(dated):
    (row,) = compare(stored("1"), billed("1", dated))
    assert (row.model, row.difference) == ("small", 0)
    (row,) = compare(stored("1", model=dated), billed("1", dated))
    assert (row.model, row.difference) == (dated, 0)
    assert [row.model for row in compare(stored("1", model="other"), billed("1", dated))] == ["other", dated]


def test_costs_under_both_names_of_a_model_are_one_row():
    (row,) = compare(stored("1"), stored("2", model="small-2026-03-05"), billed("3", "small-2026-03-05"))
    assert (row.model, row.calls, row.difference) == ("small", 4, 0)


def test_runs_of_tools_and_lines_of_other_days_are_left_out():
    assert compare(stored("1", model=None), billed("1", day=TODAY + timedelta(days=1))) == []


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ((stored("1", unknown=3), billed("2")), "3 calls of unknown cost: a price or the usage is missing"),
        ((stored("1", estimated="1"), billed("2")), "about $1.0000 estimated, of calls that ended without their usage"),
        ((stored("1"), billed("2")), "other programs with keys of this account, calls that were not kept, or prices "
         "that have changed"),
        ((stored("2"), billed("1")), "prices that have changed (abstractcore catalogue update), discounts, credits, or "
         "another account's key"),
        ((billed("1"),), "other programs with keys of this account, or calls that were not kept"),
        ((billed("-1"),), "a credit"),
        ((billed("-1", None),), "a credit"),
        ((billed("1", None),), "not of one model: it may be of calls that are in other rows"),
        ((stored("1"),), "not in the report: calls by another account's key, or to another address"),
        ((stored("1"), billed("9", currency="EUR")), "billed in EUR: not compared"),
        ((stored("1", day=TODAY), billed("1", day=TODAY)), "the day is not over"),
        ((billed("1", day=None),), "the report has no day that can be read"),
    ],
)  # fmt: skip
def test_likely_cause_of_a_difference(given, cause):
    (row,) = compare(*given)
    assert row.causes[0] == cause


@pytest.mark.parametrize(("known", "amount"), [("1", "1.004"), ("0.00001", "0.00010"), ("0", "0")])
def test_rounding_has_no_cause(known, amount):
    (row,) = compare(stored(known), billed(amount))
    assert (row.is_equal, row.causes) == (True, [])


def test_estimate_that_is_the_difference_is_the_only_cause():
    (row,) = compare(stored("1", estimated="0.5"), billed("1.5"))
    assert len(row.causes) == 1
    (row,) = compare(stored("1", estimated="0.5"), billed("9"))
    assert len(row.causes) == 2


def test_report_of_thirty_past_days_explains_what_it_does_not_have():
    report = Report("openrouter", days_kept=30, has_today=False)
    old, today = compare(stored("1", day=date(2026, 10, 2)), stored("1", day=TODAY), report=report)
    assert old.causes == ["the report goes back 30 days"]
    assert today.causes[0] == "the report has a day when it is over"


def test_totals_are_exact_and_tell_currencies_apart():
    rows = compare(stored("0.1"), billed("0.1"), billed("0.2", "other"), billed("7", None, currency="EUR"))
    total = ReconciledCost.total("openai", rows)
    assert (total.ours.known, total.billed, total.difference) == (Decimal("0.1"), Decimal("0.3"), Decimal("0.2"))
    assert (total.other_currencies, total.calls) == ({"EUR": Decimal(7)}, 2)


def test_days_are_whole_and_end_today():
    assert ReportDays.of("2d", now=NOW) == (date(2026, 11, 27), TODAY + timedelta(days=1), TODAY)
    assert ReportDays.of("2026-11-01", "2026-11-03", NOW) == (date(2026, 11, 1), date(2026, 11, 3), TODAY)
    assert ReportDays.of(None, "2026-12-24", NOW)[:2] == (TODAY, TODAY + timedelta(days=1))


@pytest.mark.parametrize(("since", "until"), [("2026-11-03", "2026-11-03"), ("2026-12-01", None), (1e17, None)])
def test_no_day_is_an_error(since, until):
    with pytest.raises(InvalidInputError):
        ReportDays.of(since, until, NOW)
