"""Dated snapshots of models: each has the prices and limits that a source gives to that date."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "catalogue"))
from rows import ProviderRows
from snapshots import snapshot_rows, snapshots

from abstractcore import Services, Usage
from abstractcore.catalogue.rows import NameRules
from abstractcore.ports import BilledResponse

MILLION = BilledResponse(Usage(1_000_000, 1_000_000), requested_at=1_795_348_800.0)


@pytest.fixture(scope="module")
def catalogue():
    services = Services(environment={})
    yield services.catalogue
    services.close()


@pytest.mark.parametrize(
    ("provider", "model", "cost", "source"),
    [
        ("openai", "gpt-4o", "12.5", "computed"),
        ("openai", "gpt-4o-2024-05-13", "20", "computed"),
        ("openai-responses", "gpt-4o-2024-05-13", "20", "computed"),
        ("azure", "gpt-4o-2024-05-13", "20", "estimate"),
        ("openai", "gpt-4o-2024-08-06", "12.5", "computed"),
        ("openai", "gpt-4o-2024-11-20", "12.5", "computed"),
        ("openai", "gpt-4o-2025-12-24", "12.5", "estimate"),
        ("openai", "gpt-3.5-turbo-0125", "2", "computed"),
        ("openai", "gpt-3.5-turbo-1106", "3", "computed"),
        ("openai", "gpt-3.5-turbo-0613", "3.5", "computed"),
        ("openai", "gpt-4.1-2025-04-14", "10", "computed"),
    ],
)
def test_each_snapshot_has_the_price_of_its_date(catalogue, provider, model, cost, source):
    charge = catalogue.pricing(provider, model).charge(MILLION)
    assert (charge.dollars, charge.source) == (Decimal(cost), source)


@pytest.mark.parametrize(("provider", "retires"), [("openai", "2026-10-23"), ("azure", "2026-12-09")])
def test_a_snapshot_has_the_limits_and_the_retirement_of_its_date(catalogue, provider, retires):
    profile = catalogue.profile(provider, "gpt-4o-2024-05-13")
    assert (profile.max_output_tokens, str(profile.retires)) == (4096, retires)
    assert catalogue.profile(provider, "gpt-4o").max_output_tokens == 16384


def rows_of(listed: dict[str, dict[str, int]], *prices: dict[str, object]) -> dict[str, dict[str, object]]:
    rows = ProviderRows(models={"m": {"context_tokens": 9, "refused": ["top_k"]}, "m-2026-03-01": {}})
    return snapshot_rows(list(snapshots("acme", rows, listed, list(prices), NameRules())), rows.models)


def test_a_source_is_compared_with_itself():
    fact = {"context_tokens": 5}
    assert rows_of({"m": fact, "m-2026-01-01": fact}, {"m": 1}, {"m-2026-01-01": 2}) == {}


def test_siblings_of_a_snapshot_with_a_row_are_aliases():
    prices: dict[str, object] = {"m": 1, "m-2026-01-01": 1, "m-2026-03-01": 2}
    assert rows_of({}, prices) == {"m-2026-01-01": {"alias_of": "m"}}


@pytest.mark.parametrize(
    ("listed", "prices"),
    [({"m": {"context_tokens": 5}, "m-2026-01-01": {"context_tokens": 4}}, {}), ({}, {"m": 1, "m-2026-01-01": 2})],
)
def test_a_snapshot_that_differs_has_a_row_and_its_siblings_are_aliases(listed, prices):
    found = rows_of({**listed, "m-2026-02-01": {}, "m-2026-03-01": {"context_tokens": 1}, "m-5": {}}, prices)
    assert found["m-2026-01-01"]["refused"] == ["top_k"]
    assert found["m-2026-01-01"]["context_tokens"] == (4 if listed else 9)
    assert found["m-2026-02-01"] == {"alias_of": "m"}
    assert found.keys() == {"m-2026-01-01", "m-2026-02-01"}
