"""The facts of `models info` in words that a stranger understands."""

from __future__ import annotations

from dataclasses import fields
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from abstractcore.catalogue import PriceHeader, read_price_rows
from abstractcore.ports import ModelProfile
from abstractcore_cli import model_info
from abstractcore_cli.model_info import in_words
from abstractcore_cli.model_search import price_lines

_SIMPLE = {"always", "never"}


def test_words_are_of_facts_and_of_every_choice_that_is_not_plain():
    names = {field.name for field in fields(ModelProfile)}
    words, remarks = model_info._WORDS, model_info._REMARKS  # pyright: ignore[reportPrivateUsage]
    assert {*words, *remarks} <= names
    choosing = {name: hint for name, hint in get_type_hints(ModelProfile).items() if get_origin(hint) is UnionType}
    for name, hint in choosing.items():
        choices = {value for each in get_args(hint) if get_origin(each) is Literal for value in get_args(each)}
        assert choices - set(words.get(name, ())) <= _SIMPLE


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("tools", "thinking_unset", "only if thinking is off or not set"),
        ("tools", "always", "always"),
        ("tools", "never", "no tools of its own: tools are sent in the prompt, with a warning"),
        ("structured_output", "schema", "by JSON Schema"),
        ("cache_points", 0, "none: the provider caches without them"),
        ("cache_points", 4, "4 (at most, in a request)"),
        ("refused", ["top_k"], "top_k (left out of requests, with a warning)"),
        ("refused", [], "none"),
        ("accepts", ["image/png"], "image/png"),
        (
            "assumed",
            ["image"],
            "image (sent as they are, with a warning: it is not known whether the model accepts them)",
        ),
        ("retires", "2027-01-14", "2027-01-14 (calls have a warning from that day on)"),
        ("retires", None, "unknown"),
        ("thinking", None, "unknown"),
        ("thinking", {"levels": []}, "no"),
        ("thinking", {"on_by_default": True, "can_be_off": False}, "cannot be off; on by default"),
        (
            "thinking",
            {"budget": [1024, 64000], "budget_within_output": True},
            "budget of 1,024 to 64,000 tokens, within max_output_tokens; can be off; off by default",
        ),
    ],
)
def test_fact_is_said_in_words(name: str, value: Any, expected: str):
    assert in_words(name, value) == expected


def test_prices_say_which_are_estimates_and_what_a_condition_is():
    rates = {"input": "3", "output": "4"}
    when = [{"tier": ["batch", "flex"], "times": {"out": "0.5"}}, {"region_not": ["us"], "sold": False}]
    rows = [
        {"rates": rates, "sure": False, "until": "2098-01-01"},
        {"rates": rates, "sure_until": "2099-01-01", "from": "2098-01-01", "when": when},
    ]
    assert list(price_lines(read_price_rows(rows, PriceHeader()), 0.0)) == [
        "until 2098-01-01, an estimate: input $3, output $4 per million",
        "from 2098-01-01, an estimate from 2099-01-01 on: input $3, output $4 per million",
        "  tier batch or flex: output x0.5",
        "  not in us: not available",
    ]
