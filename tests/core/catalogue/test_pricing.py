"""The cost of one response: exact, by the row, the tier, the region and the time of its request."""

from __future__ import annotations

import decimal
import tracemalloc
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

import pytest

from abstractcore.catalogue import ModelPricing, PriceHeader, read_price_rows
from abstractcore.ports import BilledResponse, Charge, Price, Terms
from abstractcore.schema import Billing, Usage

HEADER = PriceHeader.read(
    {
        "sets": {
            "gpt": [
                {"input_over": 272_000, "times": {"in": "2", "out": "1.5"}},
                {"tier": ["flex", "batch"], "times": "0.5"},
                {"tier": ["priority", "fast"], "times": "2"},
                {"region": ["us", "eu"], "times": "1.1"},
            ],
            "peak": [{"utc": ["01:00-04:00", "06:00-10:00"], "days": "mon-fri", "not": "china", "times": "2"}],
        },
        "tool_fees": {"web_search": "10", "maps_search": "14", "code_execution": None},
        "allowances": ["maps_search"],
        "holidays": {"china": ["2026-10-01", "2026-10-02"]},
    }
)
RATES = {"input": "2", "cache_read": "0.10", "cache_write": "2.50", "cache_write_12h": "5", "output": "10"}


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


NOON = at("2026-11-22T12:00")


def pricing(*rows: object, model: str = "m") -> ModelPricing:
    read = read_price_rows(rows, HEADER, "vendor", model)
    return ModelPricing("vendor", model, lambda name: read if name == model else ())


def charge(row: object, usage: Usage, *, moment: float = NOON, **given: object) -> Charge:
    terms = Terms(**{name: given.pop(name) for name in ("tier", "region", "window") if name in given})
    return pricing(row).charge(BilledResponse(usage, requested_at=moment, terms=terms, **given))


def dollars(row: object, usage: Usage, **given: object) -> Decimal | None:
    return charge(row, usage, **given).dollars


GPT = {"rates": RATES, "when": "gpt"}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (Usage(100_000, 5_000), "0.25"),
        (Usage(100_000, 5_000, cached=60_000), "0.136"),
        (Usage(100_000, 5_000, cached=60_000, cache_written=30_000, reasoning=4_000), "0.151"),
        (
            Usage(100_000, 5_000, 60_000, 30_000, billing=Billing(counts={"cache_write_12h": 10_000})),
            "0.176",
        ),
        (Usage(0, 0), "0"),
        (Usage(1, 0), "0.000002"),
    ],
)
def test_every_token_is_charged_once_at_the_price_of_its_kind(usage, expected):
    assert charge(GPT, usage) == Charge(Decimal(expected), "computed", None, pricing(GPT).charge(one()).price_row)


def one() -> BilledResponse:
    return BilledResponse(Usage(1, 1), requested_at=NOON)


@pytest.mark.parametrize(
    ("tokens", "expected"), [(272_000, "0.554"), (272_001, "1.103004")], ids=["at the threshold", "above"]
)
def test_long_context_changes_the_price_of_the_whole_response(tokens, expected):
    assert dollars(GPT, Usage(tokens, 1_000)) == Decimal(expected)


def test_cached_tokens_count_towards_the_threshold():
    assert dollars(GPT, Usage(272_001, 0, cached=272_000)) == Decimal("0.054404")


def test_threshold_that_is_reached_counts():
    row = {"rates": {"input": "2", "output": "6"}, "when": [{"input_from": 200_000, "times": "2"}]}
    assert dollars(row, Usage(199_999, 0)) == Decimal("0.399998")
    assert dollars(row, Usage(200_000, 0)) == Decimal("0.8")


@pytest.mark.parametrize(
    ("reported", "asked", "expected", "source"),
    [
        (None, None, "0.25", "computed"),
        ("default", "priority", "0.25", "computed"),
        ("priority", "fast", "0.5", "computed"),
        ("PRIORITY", None, "0.5", "computed"),
        (None, "flex", "0.125", "estimate"),
        (None, "auto", "0.25", "estimate"),
        (None, "standard_only", "0.25", "computed"),
        ("scale", None, None, None),
        (None, "gold", None, None),
    ],
)
def test_reported_tier_counts_else_the_requested_one_and_an_unknown_one_has_no_price(reported, asked, expected, source):
    usage = Usage(100_000, 5_000, billing=Billing(tier=reported))
    charged = charge(GPT, usage, tier=asked)
    assert (charged.dollars, charged.source) == (None if expected is None else Decimal(expected), source)
    if expected is None:
        assert charged.reason == f"no price is known for the service tier '{reported or asked}' of 'm' at 'vendor'"


def test_window_of_the_request_counts_although_the_response_does_not_report_it():
    row = {"rates": RATES, "when": [{"tier": ["background_2h"], "times": "0.7"}]}
    usage = Usage(100_000, 5_000, billing=Billing(tier="default"))
    charged = charge(row, usage, window="background_2h")
    assert (charged.dollars, charged.source) == (Decimal("0.175"), "computed")


def test_what_is_not_sold_has_a_reason():
    row = {"rates": RATES, "when": [{"tier": ["priority"], "input_over": 1000, "sold": False}]}
    charged = charge(row, Usage(1_001, 1), tier="priority")
    reason = "the service tier 'priority' is not sold for 'm' at 'vendor' with 1,001 tokens of input"
    assert charged == Charge(reason=reason)


@pytest.mark.parametrize(
    ("reported", "endpoint", "expected", "source"),
    [
        ("us", None, "0.275", "computed"),
        ("us", "eu", "0.275", "computed"),
        (None, "EU", "0.275", "computed"),
        ("global", "eu", "0.25", "computed"),
        (None, "moon", "0.25", "estimate"),
    ],
)
def test_region_changes_the_price_and_an_unknown_one_is_an_estimate(reported, endpoint, expected, source):
    charged = charge(GPT, Usage(100_000, 5_000, billing=Billing(region=reported)), region=endpoint)
    assert (charged.dollars, charged.source) == (Decimal(expected), source)


def test_price_of_all_regions_but_some():
    row = {"rates": RATES, "when": [{"region_not": ["eu"], "times": "1.1"}]}
    found = [dollars(row, Usage(100_000, 5_000), region=region) for region in ("global", None, "eu", "europe-west4")]
    assert found == [Decimal("0.25"), Decimal("0.25"), Decimal("0.25"), Decimal("0.275")]


def test_conditions_apply_in_order_and_name_themselves_in_the_digest():
    row = {"rates": RATES, "when": ["gpt", {"tier": ["flex"], "rates": {"output": "7"}}]}
    charged = charge(row, Usage(300_000, 1_000), tier="flex", region="eu")
    assert charged.dollars == Decimal("0.667")
    digest, _, applied = (charged.price_row or "").partition(":")
    assert (len(digest), applied) == (16, "0,1,3,4")


def test_digest_is_that_of_the_terms_not_of_their_source():
    def digest(**changed: object) -> str | None:
        return pricing({**GPT, **changed}).charge(one()).price_row

    assert digest() == digest(source="page", checked="2026-11-22", note="as read")
    assert (
        len({digest(), digest(sure=False), digest(rates={"input": "3"}), digest(when=[]), digest(until="2027-01-01")})
        == 5
    )


def test_row_is_that_of_the_instant_of_the_request():
    cheap = {"rates": {"input": "1", "output": "1"}, "until": "2026-12-01"}
    dear = {"rates": {"input": "4", "output": "4"}, "from": "2026-12-01", "until": "2026-12-01T16:30Z"}
    later = {"rates": {"input": "5", "output": "5"}, "from": "2026-12-01T16:30Z"}
    book = pricing(later, cheap, dear)
    moments = ("2026-11-30T23:59:59", "2026-12-01T00:00", "2026-12-01T16:29:59", "2026-12-01T16:30")
    found = [book.charge(BilledResponse(Usage(1_000_000, 0), requested_at=at(each))).dollars for each in moments]
    assert found == [1, 4, 4, 5]


def test_moment_without_a_row_has_a_reason():
    charged = charge({"rates": RATES, "from": "2026-12-01"}, Usage(1, 1))
    assert charged == Charge(reason="no price is known for 'm' at 'vendor' on 2026-11-22")


@pytest.mark.parametrize("row", [{"sure": False}, {"sure_until": "2026-11-22"}, {"sure_until": "2026-11-01"}])
def test_price_that_may_have_changed_is_an_estimate(row):
    assert charge({"rates": RATES, **row}, Usage(1, 1)).source == "estimate"
    assert charge({"rates": RATES, "sure_until": "2026-11-23"}, Usage(1, 1)).source == "computed"


@pytest.mark.parametrize(
    ("moment", "factor"),
    [
        ("2026-11-23T00:59:59", 1),  # a Monday
        ("2026-11-23T01:00", 2),
        ("2026-11-23T03:59:59", 2),
        ("2026-11-23T04:00", 1),
        ("2026-11-23T06:00", 2),
        ("2026-11-22T02:30", 1),  # a Sunday
        ("2026-10-01T02:30", 1),  # a holiday
    ],
)
def test_hours_of_working_days_have_a_price(moment, factor):
    row = {"rates": {"input": "1", "output": "0"}, "when": "peak"}
    charged = charge(row, Usage(1_000_000, 0), moment=at(moment))
    assert (charged.dollars, charged.source) == (factor, "computed")


def test_year_without_known_holidays_is_an_estimate():
    assert charge({"rates": RATES, "when": "peak"}, Usage(1, 1), moment=at("2027-03-01T02:30")).source == "estimate"


def counted(**counts: int) -> Usage:
    return Usage(1_000, 0, billing=Billing(counts=counts))


def test_fees_of_tools_are_added_and_have_no_factors():
    charged = charge(GPT, counted(web_search=3), tier="flex")
    assert charged.dollars == Decimal("0.031")


def test_fee_with_a_monthly_allowance_is_an_estimate():
    charged = charge(GPT, counted(maps_search=1))
    assert (charged.dollars, charged.source) == (Decimal("0.016"), "estimate")


@pytest.mark.parametrize("meter", ["code_execution", "x_post"], ids=["unknown price", "no price"])
def test_tool_without_a_price_makes_the_cost_unknown(meter):
    charged = charge(GPT, counted(**{meter: 1}))
    assert charged == Charge(reason=f"no price is known for {meter} of 'm' at 'vendor'")
    assert charge(GPT, counted(**{meter: 0})).dollars == Decimal("0.002")


def test_fee_of_a_response_that_searched_is_charged_once():
    row = {"rates": {"input": "0", "output": "0", "web_search_prompt": "35"}}
    assert dollars(row, counted(web_search=3)) == Decimal("0.035")


def test_seconds_have_a_least_count_and_are_rounded_to_twelve_places():
    row = {"rates": {"audio_second": "0.04"}, "least": {"audio_second": "10"}}
    found = [dollars(row, Usage(billing=Billing(counts={"audio_second": count}))) for count in (45, 4)]
    assert found == [Decimal("0.0005"), Decimal("0.000111111111")]


def test_billed_units_replace_tokens():
    usage = Usage(5_000, 900, billing=Billing(counts={"billed_input": 1_000, "billed_output": 200}))
    assert dollars({"rates": {"input": "2.5", "output": "10"}}, usage) == Decimal("0.0045")


AUDIO = {"input": "1", "input_audio": "10", "cache_read": "0.1", "cache_read_audio": "2", "output": "1"}


def test_cached_audio_is_part_of_cached_and_of_audio_tokens():
    usage = Usage(1_000, 0, cached=500, input_audio=400, billing=Billing(counts={"cache_read_audio": 300}))
    expected = 400 * Decimal(1) + 200 * Decimal("0.1") + 100 * 10 + 300 * 2
    assert dollars({"rates": AUDIO}, usage) == expected.scaleb(-6)


def test_cached_audio_without_a_price_has_that_of_cached_tokens():
    usage = Usage(1_000, 0, cached=500, input_audio=400, billing=Billing(counts={"cache_read_audio": 300}))
    rates = {meter: rate for meter, rate in AUDIO.items() if meter != "cache_read_audio"}
    assert dollars({"rates": rates}, usage) == (400 * 1 + 500 * Decimal("0.1") + 100 * 10).scaleb(-6)


@pytest.mark.parametrize(
    ("usage", "source"),
    [
        (Usage(1_000, 0, cached=500, input_audio=400), "estimate"),
        (Usage(1_000, 0, cached=500, input_audio=400, billing=Billing(counts={"cache_read_audio": 0})), "computed"),
        (Usage(1_000, 0, cached=500), "computed"),
        (Usage(1_000, 0, input_audio=400), "computed"),
        (Usage(1_000, 0, cached=500, billing=Billing(counts={"input_image": 400})), "computed"),
    ],
)
def test_cached_audio_that_is_not_reported_is_an_estimate(usage, source):
    assert charge({"rates": AUDIO}, usage).source == source


def test_counts_that_contradict_each_other_have_no_cost():
    charged = charge(GPT, Usage(10, 1, cached=11))
    assert charged.reason == "the counts contradict each other: input has fewer tokens than its parts"
    assert dollars({"rates": {"input": "2", "output": "1"}}, Usage(10, 0, cached=11)) == Decimal("0.00002")


def test_reported_zero_contradicts_parts_of_it():
    assert charge(GPT, Usage(0, 1, cached=11)).reason == charge(GPT, Usage(10, 1, cached=11)).reason
    fees = {"rates": {"input": "2", "output": "1"}}
    assert dollars(fees, Usage(0, 0, billing=Billing(counts={"attachment_search": 0}))) == 0


@pytest.mark.parametrize(
    ("usage", "reason"),
    [
        (Usage(), "input tokens were not reported"),
        (Usage(output=1), "input tokens were not reported"),
        (Usage(input=1), "output tokens were not reported"),
    ],
)
def test_counts_that_were_not_reported_have_no_cost(usage, reason):
    assert charge(GPT, usage) == Charge(reason=reason)


def test_free_model_costs_nothing_whatever_was_reported():
    assert charge({"rates": Price(0, 0).rates()}, Usage()).dollars == 0


def test_input_has_a_cost_where_output_has_no_price():
    assert dollars({"rates": {"input": "0.13"}}, Usage(input=250_000)) == Decimal("0.0325")


def test_interrupted_response_is_an_estimate():
    assert charge(GPT, Usage(1, 1), complete=False).source == "estimate"


@pytest.mark.parametrize("cost", [Decimal("0.0037756"), Decimal(0)])
def test_reported_cost_counts_also_if_it_is_zero(cost):
    usage = Usage(1_000, 1_000, billing=Billing(cost=cost, tier="unknown"))
    assert charge(GPT, usage) == Charge(cost, "vendor")


def test_model_of_the_response_has_its_own_price_if_there_is_one():
    rows = {name: read_price_rows([{"rates": {"input": rate}}], HEADER) for name, rate in (("a", "1"), ("b", "2"))}
    book = ModelPricing("vendor", "a", lambda name: rows.get(name, ()))
    found = [book.charge(BilledResponse(Usage(1_000_000), name)).dollars for name in ("", "a", "b", "c")]
    assert found == [1, 1, 2, 1]


def test_names_of_servers_are_not_kept_without_end():
    book = pricing({"rates": RATES})
    tracemalloc.start()
    try:
        for number in range(1_000):
            assert book.charge(BilledResponse(Usage(1, 1), f"{number}" * 10_000, NOON)).source == "estimate"
        assert tracemalloc.get_traced_memory()[0] < 5_000_000
    finally:
        tracemalloc.stop()


def test_model_without_prices_has_a_reason():
    book = ModelPricing("vendor", "m", lambda name: ())
    assert book.charge(one()) == Charge(reason="no price is known for 'm' at 'vendor'")


def test_costs_are_exact_whatever_the_decimal_context_of_the_program():
    row = {"rates": {"input": "0.123456789", "output": "0"}, "when": [{"region": ["us"], "times": "1.1"}]}
    with decimal.localcontext() as context:
        context.prec = 3
        context.traps[decimal.Inexact] = True
        found = dollars(row, Usage(987_654_321, 0), region="us")
    assert Fraction(found) == Fraction("0.123456789") * Fraction("1.1") * 987_654_321 / 1_000_000


@pytest.mark.parametrize("moment", [-1.0, 0.0, 1e18, float("inf"), float("nan")])
def test_any_clock_is_accepted(moment):
    assert charge({"rates": RATES, "when": "peak"}, Usage(0, 0), moment=moment).dollars == 0
