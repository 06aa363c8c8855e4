"""Billing data by a vendor's paths: what was written is read, and the rest of the response is kept."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import Billing
from abstractcore.testing import strategies
from abstractcore_providers.common.response_bodies import BillingTable, dollars_of, merge, tree_of
from tests.properties import examples

TABLE = BillingTable(
    tier="tier",
    region="usage.region",
    cost="usage.cost.total",
    counts={"web_search": "tools.search.calls", "input_image": "usage.details.image"},
    others=("usage.in", "usage.details", "extra.padding"),
)
TICKS = BillingTable(ticks="usage.ticks")


@examples(100)
@given(strategies.billings())
def test_what_was_written_is_read(billing: Billing):
    written = TABLE.write(billing)
    counts = {name: count for name, count in billing.counts.items() if name in ("web_search", "input_image")}
    kept = Billing(billing.cost, billing.tier, billing.region, counts)
    assert TABLE.read(written) == (None if kept == Billing() else kept)
    assert TABLE.rest(written) == {}


def test_nothing_is_written_of_nothing():
    assert TABLE.write(None) == TABLE.write(Billing()) == TABLE.write(Billing(counts={"citation": 1})) == {}
    assert TABLE.read({}) is None


@examples(100)
@given(st.integers(0, 2**63 - 1))
def test_ticks_are_read_exactly_and_written_back(ticks: int):
    billing = TICKS.read({"usage": {"ticks": ticks}})
    assert billing is not None
    assert billing.cost is not None
    assert billing.cost * 10**10 == ticks
    assert TICKS.write(billing) == {"usage": {"ticks": ticks}}


@pytest.mark.parametrize("cost", ["0.00000000001", "922337203.6854775808", "99999999999"])
def test_cost_that_is_no_number_of_ticks_is_not_written(cost: str):
    assert TICKS.write(Billing(Decimal(cost))) == {}


@pytest.mark.parametrize(
    ("value", "dollars"),
    [
        (0, "0"),
        (0.0, "0"),
        (3, "3"),
        (0.1, "0.1"),
        (0.00014, "0.00014"),
        (1e-07, "0.0000001"),
        (0.1 + 0.2, "0.30000000000000004"),
        (-0.1, None),
        (1e30, None),
        (1e-31, None),
        (10**400, None),
        (float("nan"), None),
        (True, None),
        ("0.1", None),
        ([0.1], None),
    ],
)
def test_dollars_keep_the_digits_of_the_number(value: Any, dollars: str | None):
    assert dollars_of(value) == (None if dollars is None else Decimal(dollars))


@pytest.mark.parametrize("junk", [None, True, -1, 1.5, 2**63, 1e300, "1", [1], {"calls": 1}, float("nan")])
def test_what_is_no_count_is_not_reported(junk: Any):
    assert TABLE.read({"tools": {"search": {"calls": junk}}}) is None
    if not isinstance(junk, dict):
        assert TABLE.read({"tools": {"search": junk}, "usage": junk}) is None


def test_count_may_be_a_float_without_a_fraction():
    assert TABLE.read({"tools": {"search": {"calls": 3.0}}}) == Billing(counts={"web_search": 3})


def test_rest_is_what_the_table_does_not_have():
    data = {
        "id": "r",
        "tier": 5,
        "tools": {"search": {"calls": 1, "kind": "web"}, "fetch": {}},
        "usage": {"cost": {"total": 1, "in": 2}, "details": {"text": 3}, "in": 4, "new": [None], "none": None},
        "extra": {"padding": "x"},
        "nothing": None,
    }
    rest = {
        "id": "r",
        "tools": {"search": {"kind": "web"}, "fetch": {}},
        "usage": {"cost": {"in": 2}, "new": [None]},
    }
    assert TABLE.rest(data) == rest
    assert list(TABLE.rest(data)) == list(rest)
    assert TABLE.rest(rest) == rest


@pytest.mark.parametrize(
    ("name", "value", "is_rest"),
    [
        ("usage", {"new": 1}, True),
        ("usage", {"cost": {"in": 2}}, True),
        ("usage", {"cost": {"total": "junk"}}, False),
        ("usage", {"cost": 5}, False),
        ("usage", {"in": 1, "new": 1}, False),
        ("usage", {"none": None}, False),
        ("usage", {}, False),
        ("usage", 5, False),
        ("tier", "flex", False),
    ],
)
def test_metadata_beside_billing_data_has_none_of_its_fields(name: str, value: Any, is_rest: bool):
    assert TABLE.is_rest(name, value) == is_rest


def test_objects_are_merged():
    left = {"a": 1, "usage": {"cost": {"in": 1}, "x": [1]}}
    right = {"b": 2, "usage": {"cost": {"total": 2}, "x": {}}}
    assert merge(left, right) == {"a": 1, "usage": {"cost": {"in": 1, "total": 2}, "x": {}}, "b": 2}
    assert left == {"a": 1, "usage": {"cost": {"in": 1}, "x": [1]}}


def test_path_within_another_is_part_of_it():
    assert tree_of(["a.b.c", "a.b", "d", "a.e"]) == {"a": {"b": {}, "e": {}}, "d": {}}


def test_unknown_meter_is_refused():
    with pytest.raises(TypeError, match="not a meter: \\['web_serch'\\]"):
        BillingTable(counts={"web_serch": "a"})
