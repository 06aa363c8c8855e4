"""Prices in files of the catalogue: found as models are, and errors with their place."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from abstractcore import ConfigurationError, Services, Usage, create_llm
from abstractcore.catalogue import FileCatalogue
from abstractcore.ports import BilledResponse, CatalogueFile, Charge

HEADER = {
    "provider": "acme",
    "names": {"prefixes": ["eu."]},
    "prices": {
        "sets": {"half": [{"tier": ["batch"], "times": "0.5"}]},
        "tool_fees": {"web_search": "10"},
    },
}
ROWS = [
    {"model": "one", "prices": [{"rates": {"input": "1", "output": "2"}, "when": "half"}]},
    {"model": "first", "alias_of": "one"},
    {"model": "two"},
    {"family": "on", "prices": [{"rates": {"input": "9", "output": "9"}}]},
]
MILLION = BilledResponse(Usage(1_000_000, 0))


def catalogue_of(folder: Path, *rows: object, header: object = HEADER, user: str | None = None) -> FileCatalogue:
    file = folder / "acme.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in (header, *rows)))
    user_file = folder / "models.toml"
    if user is not None:
        user_file.write_text(user)
    files = {"acme": CatalogueFile("acme", file)}
    return FileCatalogue(lambda: files, {}, user_file=user_file if user is not None else None, updates=folder / "none")


@pytest.mark.parametrize(
    ("model", "dollars"), [("one", 1), ("first", 1), ("eu.one", 1), ("two", None), ("on-5", None), ("x", None)]
)
def test_prices_are_those_of_the_model_its_variants_and_aliases_but_not_of_its_family(tmp_path, model, dollars):
    charge = catalogue_of(tmp_path, *ROWS).pricing("acme", model).charge(MILLION)
    assert charge.dollars == dollars
    assert dollars is not None or charge == Charge(reason=f"no price is known for {model!r} at 'acme'")


@pytest.mark.parametrize(
    ("model", "dollars", "source"),
    [
        ("m", 1, "computed"),
        ("m-2026-01-01", 5, "computed"),
        ("eu.m-2026-01-01", 5, "computed"),
        ("m-2026-02-01", 1, "computed"),
        ("eu.m-2026-02-01", 1, "computed"),
        ("eu.m", 1, "computed"),
        ("m-2026-03-01", 1, "estimate"),
        ("eu.m-2026-03-01", 1, "estimate"),
        ("n-2026-03-01", 1, "computed"),
    ],
)
def test_price_of_a_date_without_a_row_is_an_estimate_if_another_date_has_another_price(
    tmp_path, model, dollars, source
):
    one, five = [{"rates": {"input": "1", "output": "2"}}], [{"rates": {"input": "5", "output": "6"}}]
    rows = [
        {"model": "m", "prices": one},
        {"model": "m-2026-01-01", "prices": five},
        {"model": "m-2026-02-01", "alias_of": "m"},
        {"model": "n", "prices": one},
        {"model": "n-2026-01-01", "prices": one},
        {"model": "n-2026-02-01"},
    ]
    charge = catalogue_of(tmp_path, *rows).pricing("acme", model).charge(MILLION)
    assert (charge.dollars, charge.source) == (dollars, source)


@pytest.mark.parametrize(
    ("named", "dollars", "source"),
    [
        ("", 1, "computed"),
        ("one", 1, "computed"),
        ("first", 1, "computed"),
        ("eu.one-2026-01-01", 1, "computed"),
        ("two", 1, "estimate"),
        ("unheard-of", 1, "estimate"),
        ("dear", 7, "computed"),
    ],
)
def test_response_of_another_model_has_its_price_or_that_of_the_requested_one_as_an_estimate(
    tmp_path, named, dollars, source
):
    rows = [*ROWS, {"model": "dear", "prices": [{"rates": {"input": "7", "output": "8"}}]}]
    charge = catalogue_of(tmp_path, *rows).pricing("acme", "one").charge(BilledResponse(MILLION.usage, named))
    assert (charge.dollars, charge.source) == (dollars, source)


def test_name_of_a_response_that_varies_as_the_requested_one_does_is_computed(tmp_path):
    user = '[[models]]\nprovider = "acme"\nmodel = "eu.mine"\nprices = [{rates = {input = "5", output = "6"}}]\n'
    pricing = catalogue_of(tmp_path, *ROWS, user=user).pricing("acme", "eu.mine")
    assert pricing.charge(BilledResponse(MILLION.usage, "mine-2026-01-01")).source == "computed"
    assert pricing.charge(BilledResponse(MILLION.usage, "yours")).source == "estimate"


def test_provider_without_a_file_has_no_prices(tmp_path):
    charge = catalogue_of(tmp_path, *ROWS).pricing("other", "one").charge(MILLION)
    assert charge == Charge(reason="no price is known for 'one' at 'other'")


def test_user_file_has_prices_of_its_own_and_those_of_models_that_it_names(tmp_path):
    user = """
[[models]]
provider = "acme"
model = "mine"
like = "one"

[[models]]
provider = "acme"
model = "two"
prices = [{rates = {input = "5", output = "6"}, when = "half", from = 2020-01-01}]
"""
    catalogue = catalogue_of(tmp_path, *ROWS, user=user)
    assert catalogue.pricing("acme", "mine").charge(MILLION).dollars == 1
    assert catalogue.pricing("acme", "two").charge(BilledResponse(Usage(1_000_000), requested_at=2e9)).dollars is None
    known = BilledResponse(Usage(1_000_000, 0), requested_at=2e9)
    assert catalogue.pricing("acme", "two").charge(known).dollars == 5


@pytest.mark.parametrize(
    ("prices", "expected"),
    [
        ([{"rates": {"input": "-1"}}], "acme.jsonl:2:"),
        ([{"rates": {"input": "1"}}, {"rates": {"input": "1"}}], r"prices\[1\]: is valid at the same time"),
        ([{"rates": {"input": "1"}, "when": "x"}], r"prices\[0\].when\[0\]: there is no price set 'x'"),
    ],
)
def test_invalid_prices_are_an_error_with_their_place_and_make_the_cost_unknown(tmp_path, prices, expected):
    catalogue = catalogue_of(tmp_path, {"model": "one", "prices": prices})
    with pytest.raises(ConfigurationError, match=expected):
        catalogue.models("acme").price_rows("one")
    with pytest.raises(ConfigurationError, match=expected):
        catalogue.models("acme").check()
    charge = catalogue.pricing("acme", "one").charge(MILLION)
    assert charge.dollars is None
    assert re.search(expected, charge.reason)


def test_invalid_shared_prices_are_an_error_with_their_place_and_make_the_cost_unknown(tmp_path):
    header = {**HEADER, "prices": {"sets": {"half": [{"times": 2}]}}}
    catalogue = catalogue_of(tmp_path, *ROWS, header=header)
    expected = r"acme.jsonl:1:\d+: header: prices.sets.half\[0\].times: expected"
    with pytest.raises(ConfigurationError, match=expected):
        catalogue.models("acme").price_rows("one")
    charge = catalogue.pricing("acme", "one").charge(MILLION)
    assert charge.dollars is None
    assert re.search(expected, charge.reason)


def test_invalid_prices_of_the_user_are_an_error_before_any_call(tmp_path):
    user = """
[[models]]
provider = "acme"
model = "mine"
prices = [{rates = {input = "-1"}}]

[[models]]
provider = "acme"
model = "like-mine"
like = "mine"
"""
    catalogue = catalogue_of(tmp_path, *ROWS, user=user)
    for model in ("mine", "like-mine", "mine-2026-01-01"):
        with pytest.raises(ConfigurationError, match=r"models.toml:.*rates.input: '-1' is not a decimal"):
            catalogue.pricing("acme", model)
    catalogue.pricing("acme", "one")


def test_invalid_prices_of_a_model_that_answers_instead_make_the_cost_unknown(tmp_path):
    catalogue = catalogue_of(tmp_path, *ROWS, {"model": "bad", "prices": [{}]})
    charge = catalogue.pricing("acme", "one").charge(BilledResponse(Usage(1, 1), "bad"))
    assert charge.dollars is None
    assert "prices[0].rates: missing" in charge.reason


def test_price_argument_replaces_that_of_the_catalogue(tmp_path):
    services = Services(environment={}, catalogue=catalogue_of(tmp_path, *ROWS))
    llm = create_llm("scripted", replies=["a"], services=services, price={"rates": {"input": "7", "output": "0"}})
    response = llm.generate("hi")
    services.close()
    assert response.cost == Decimal(7) * response.usage.input / 1_000_000
