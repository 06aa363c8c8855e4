"""Token counts and billing data: what a response reported, exact, and never made up."""

import copy
import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore.schema import (
    EMPTY,
    METERS,
    TOKEN_COUNTS,
    Billing,
    ModelReply,
    Usage,
    UsageDelta,
    accumulate,
    canonical_json,
    digest,
    from_data,
    from_json,
    redacted_reply,
    to_data,
    to_json,
)
from abstractcore.testing import strategies
from tests.properties import examples

BILLING = Billing(Decimal("0.0125"), "priority", "us", {"cache_write_1h": 4, "web_search": 0})
PLACES = st.decimals(0, 10**20, allow_nan=False, allow_infinity=False, places=30)


def test_usage_is_written_with_its_billing_and_an_exact_cost():
    assert to_data(Usage(1, billing=BILLING)) == {
        "input": 1,
        "billing": {
            "cost": "0.0125",
            "tier": "priority",
            "region": "us",
            "counts": {"cache_write_1h": 4, "web_search": 0},
        },
    }


@examples(100)
@given(strategies.usages())
def test_usage_is_read_back_equal(usage: Usage):
    delta = UsageDelta(0, usage)
    assert from_data(Usage, to_data(usage)) == usage
    assert from_json(to_json(delta)) == delta
    assert accumulate([delta]).usage == usage
    for again in (copy.copy(usage), copy.deepcopy(usage), pickle.loads(pickle.dumps(usage))):
        assert again == usage
        assert canonical_json(again) == canonical_json(usage)


@examples(200)
@given(PLACES)
def test_cost_keeps_every_digit_and_equal_costs_have_equal_digests(cost: Decimal):
    billing = Billing(cost)
    assert billing.cost == cost
    assert from_data(Billing, to_data(billing)).cost == cost
    assert digest(billing) == digest(Billing(Decimal(f"{cost:f}00")))


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        ("0", "0"),
        ("-0.00", "0"),
        ("0.10", "0.1"),
        ("1E+2", "100"),
        ("1E-10", "0.0000000001"),
        (f"1.{'0' * 200}", "1"),
        ("9" * 50 + "." + "9" * 50, "9" * 50 + "." + "9" * 50),
    ],
)
def test_cost_has_one_canonical_form(cost: str, text: str):
    billing = Billing(Decimal(cost))
    assert str(to_data(billing)) == str({"cost": text})
    assert f"{billing.cost:f}" == text


def test_reported_zero_is_not_the_same_as_nothing():
    assert Billing(Decimal(0)) != Billing()
    assert Usage(billing=Billing(Decimal(0))).billing is not None
    assert Usage(billing=Billing(counts={"web_search": 0})).billing is not None


def test_empty_billing_is_none():
    assert Usage(1, billing=Billing()) == Usage(1)
    assert Usage(1, billing=Billing(tier="", region="")) == Usage(1)
    assert from_data(Usage, {"billing": {}}) == Usage()
    assert Billing().counts is EMPTY


def test_sum_has_no_billing():
    total = Usage(1, 2, cached=3, billing=BILLING) + Usage(4, reasoning=5, billing=BILLING)
    assert total == Usage(5, 2, cached=3, reasoning=5)
    assert (Usage(1, billing=BILLING) + Usage()).billing is None


def test_billing_is_kept_in_redacted_replies_and_shown_in_reprs():
    reply = ModelReply(usage=Usage(1, billing=BILLING), provider_metadata={"private": 1})
    assert redacted_reply(reply).usage.billing == BILLING
    assert "billing=Billing(cost=Decimal('0.0125'), tier='priority', region='us', counts={'cache_wr" in repr(reply)
    assert repr(Usage(1)) == "Usage(input=1)"


def test_billing_is_immutable_and_hashable():
    counts = {"web_search": 1}
    billing = Billing(counts=counts)
    counts["web_search"] = 2
    assert billing.counts == {"web_search": 1}
    with pytest.raises(TypeError):
        billing.counts["web_search"] = 2  # type: ignore[index]
    assert len({Usage(billing=billing), Usage(billing=Billing(counts={"web_search": 1}))}) == 1


def test_meters_are_documented_with_their_units():
    assert set(METERS.values()) == {"tokens", "calls", "seconds", "units"}
    assert not METERS.keys() & {*TOKEN_COUNTS, "total"}
    with pytest.raises(TypeError):
        METERS["another"] = "tokens"  # type: ignore[index]
