"""Invalid price rows: errors with the path of the value."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from abstractcore.catalogue import PriceHeader, read_price_rows
from abstractcore.catalogue.price_values import METERS, with_text_for_dates
from abstractcore.schema import METERS as REPORTED
from abstractcore.schema import SchemaError

HEADER = PriceHeader.read({"sets": {"half": [{"tier": ["batch"], "times": "0.5"}]}})
RATES = {"input": "1", "output": "2"}


def failure(*rows: object) -> str:
    with pytest.raises(SchemaError) as caught:
        read_price_rows(rows, HEADER)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changed", "path", "message"),
    [
        ({"rates": {"input": "-1"}}, "rates.input", "'-1' is not a decimal number of at least 0"),
        ({"rates": {"input": 1}}, "rates.input", "expected a decimal number as text, got int"),
        ({"rates": {"input": 0.1}}, "rates.input", "expected a decimal number as text, got float"),
        ({"rates": {"input": "NaN"}}, "rates.input", "'NaN' is not a decimal number"),
        ({"rates": {"input": "Infinity"}}, "rates.input", "'Infinity' is not a decimal number"),
        ({"rates": {"input": "1e999999999"}}, "rates.input", "'1e999999999' is not a decimal number"),
        ({"rates": {"input": "1_0"}}, "rates.input", "'1_0' is not a decimal number"),
        ({"rates": {"input": "٣"}}, "rates.input", "is not a decimal number"),
        ({"rates": {"input": "9" * 21}}, "rates.input", "is not a decimal number"),
        ({"rates": {"inputs": "1"}}, "rates", "'inputs' is not a meter"),
        ({"rates": {"cache_read": "1"}}, "rates.cache_read", "has no price for input"),
        ({"rates": {"input": "1", "reasoning": "1"}}, "rates.reasoning", "has no price for output"),
        ({"rates": None}, "rates", "missing"),
        ({"rates": ["1"]}, "rates", "expected an object, got list"),
        ({"from": "2026-13-01"}, "from", "'2026-13-01' is not a date or a time in UTC"),
        ({"from": "2026-01-01T10:00"}, "from", "is not a date or a time in UTC"),
        ({"from": 5}, "from", "is not a date or a time in UTC"),
        ({"from": "2026-02-01", "until": "2026-02-01"}, "until", "must be later than 'from'"),
        ({"from": "2026-02-01", "until": "2026-01-01"}, "until", "must be later than 'from'"),
        ({"sure": "no"}, "sure", "expected true or false"),
        ({"prices": 1}, "", "'prices' is not a field"),
        ({"when": "double"}, "when[0]", "there is no price set 'double'"),
        ({"when": ["half", "double"]}, "when[1]", "there is no price set 'double'"),
        ({"when": ["half", {"tier": ["batch"]}]}, "when[1]", "has no effect"),
        ({"when": [{"tier": ["gold"], "times": "2"}]}, "when[0].tier", "'gold' is not a service tier"),
        ({"when": [{"tier": ["Flex"], "times": "2"}]}, "when[0].tier[0]", "'Flex' is not a lower-case name"),
        ({"when": [{"tier": [], "times": "2"}]}, "when[0].tier", "is empty"),
        ({"when": [{"tier": "flex", "times": "2"}]}, "when[0].tier", "expected a list, got str"),
        ({"when": [{"input_over": "1", "times": "2"}]}, "when[0].input_over", "is not a number of tokens"),
        ({"when": [{"input_over": 1, "times": 2}]}, "when[0].times", "expected a decimal number as text"),
        ({"when": [{"input_over": 1, "times": {"web_search": "2"}}]}, "when[0].times", "is not 'in' or 'out'"),
        ({"when": [{"over": 1, "times": "2"}]}, "when[0]", "'over' is not a field"),
        ({"when": [{"sold": True}]}, "when[0].sold", "expected false"),
        ({"when": [{"utc": ["4:00-5:00"], "times": "2"}]}, "when[0].utc[0]", "is not a span"),
        ({"when": [{"utc": ["05:00-04:00"], "times": "2"}]}, "when[0].utc[0]", "is not a span"),
        ({"when": [{"utc": ["05:00-05:60"], "times": "2"}]}, "when[0].utc[0]", "is not a span"),
        ({"when": [{"days": "fri-mon", "times": "2"}]}, "when[0].days", "is not a span of days"),
        ({"when": [{"not": "mars", "times": "2"}]}, "when[0].not", "is not a list of holidays"),
        ({"when": [{"not": ["mars"], "times": "2"}]}, "when[0].not", "is not a list of holidays"),
        ({"when": [{"from": "2026-02-01", "until": "2026-01-01", "times": "2"}]}, "when[0].until", "must be later"),
        ({"when": [{"rates": {"input": -1}}]}, "when[0].rates.input", "expected a decimal number as text"),
        ({"least": {"audio_second": None}}, "least.audio_second", "expected a number"),
    ],
)
def test_invalid_row_is_an_error_with_the_path(changed, path, message):
    found = failure({"rates": RATES, **changed})
    assert found.startswith(f"prices[0]{'.' if path else ''}{path}: ")
    assert re.search(re.escape(message), found)


@pytest.mark.parametrize(
    ("spans", "overlapping"),
    [
        (((None, None), (None, None)), True),
        (((None, None), ("2026-01-01", None)), True),
        (((None, "2026-01-02"), ("2026-01-01", None)), True),
        ((("2026-01-01", "2026-03-01"), ("2026-02-01", "2026-02-02")), True),
        (((None, "2026-01-01"), ("2026-01-01", None)), False),
        ((("2026-02-01", None), (None, "2026-01-01")), False),
        ((("1970-01-01", None), (None, "1970-01-01")), False),
        (((None, "1960-01-01"), ("1965-01-01", None)), False),
    ],
)
def test_rows_that_are_valid_at_the_same_time_are_an_error(spans, overlapping):
    rows = [
        {"rates": RATES} | {key: value for key, value in zip(("from", "until"), span, strict=True) if value}
        for span in spans
    ]
    if overlapping:
        assert failure(*rows) == "prices[1]: is valid at the same time as prices[0]"
    else:
        assert len(read_price_rows(rows, HEADER)) == 2


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"sets": {"x": [{"times": 2}]}}, "sets.x[0].times: expected a decimal number as text, got int"),
        ({"sets": {"x": {}}}, "sets.x: expected a list, got dict"),
        ({"tool_fees": {"input": "1"}}, "tool_fees: 'input' is not the fee of a tool"),
        ({"tool_fees": {"web_search": "-1"}}, "tool_fees.web_search: '-1' is not a decimal number of at least 0"),
        ({"allowances": ["x"]}, "allowances: 'x' is not a meter"),
        ({"holidays": {"x": ["2026-02-30"]}}, "holidays.x[0]: '2026-02-30' is not a date"),
        ({"holidays": {"x": ["20260230"]}}, "holidays.x[0]: '20260230' is not a date"),
    ],
)
def test_invalid_header_is_an_error_with_the_path(header, message):
    with pytest.raises(SchemaError) as caught:
        PriceHeader.read(header)
    assert str(caught.value).startswith(message)


def test_dates_become_text_at_any_depth():
    data = {"from": date(2026, 2, 1), "when": [{"until": datetime(2026, 3, 1, 4, tzinfo=UTC)}, (datetime(2026, 3, 1),)]}
    assert with_text_for_dates(data, "") == {
        "from": "2026-02-01",
        "when": [{"until": "2026-03-01T04:00:00Z"}, ["2026-03-01T00:00:00Z"]],
    }
    assert with_text_for_dates(datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1))), "")[-6:] == "+01:00"


def test_data_with_dates_may_not_contain_itself():
    data: dict[str, object] = {}
    data["when"] = [data]
    with pytest.raises(SchemaError, match=r"^prices: nested deeper than"):
        with_text_for_dates(data, "prices")


def test_every_reported_count_may_have_a_price():
    assert set(REPORTED) - set(METERS) == {"billed_input", "billed_output"}
