"""The table of example models in docs/providers.md."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "catalogue"))
import build
from overview import BEGIN, END, with_examples
from rows import CatalogueError

from abstractcore.catalogue.documents import Document
from abstractcore.catalogue.provider_file import CatalogueProvider
from examples import example_line

HEADER = {"provider": "acme", "as_of": "2026-11-22"}
RISING = [
    {"until": "2026-11-22T12:00Z", "rates": {"input": "1", "output": "5"}},
    {"from": "2026-11-22T12:00Z", "until": "2027-01-01", "rates": {"input": "2.50", "output": "10"}},
    {"from": "2027-01-01", "rates": {"input": "9", "output": "9"}},
]


def line(*rows: dict[str, object], models: tuple[str, ...] = ("one",)) -> str:
    text = "\n".join(map(json.dumps, (HEADER, *rows)))
    return example_line(CatalogueProvider(Document("acme.jsonl", text), "acme"), list(models))


@pytest.mark.parametrize(
    ("facts", "cells"),
    [
        ({}, "text | ? | ?"),
        ({"accepts": ["video", "application/pdf", "image/png", "image/gif"]}, "images, PDF, video | ? | ?"),
        ({"accepts": ["audio/wav"], "thinking": {"levels": []}}, "audio | no | ?"),
        ({"thinking": {"levels": [], "can_be_off": False, "on_by_default": True}}, "text | always | ?"),
        ({"thinking": {"levels": ["low", "max"]}}, "text | off, low to max | ?"),
        ({"thinking": {"levels": ["high"], "can_be_off": False}}, "text | high | ?"),
        ({"thinking": {"levels": [], "budget": [1, 9], "can_be_off": False}}, "text | by budget | ?"),
        ({"prices": RISING}, "text | ? | 2.5 / 10"),
        ({"prices": [{"rates": {"input": "100", "output": None}}]}, "text | ? | ?"),
        ({"prices": [{"rates": {"input": "100", "output": "0"}}]}, "text | ? | 100 / 0"),
    ],
)
def test_cells_of_a_model(facts: dict[str, object], cells: str):
    assert line({"model": "one", **facts}) == f"| `acme/one` | {cells} |\n"


def test_models_of_a_provider_share_a_line_and_what_is_the_same():
    two = {"model": "two", "accepts": ["image"], "prices": RISING}
    found = line({"model": "one", "prices": RISING}, two, models=("one", "two"))
    assert found == "| `acme/one`, `two` | text; images | ? | 2.5 / 10 |\n"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"model": "other"}, "examples: acme has no row for 'one'"),
        ({"family": "one"}, "examples: acme has no row for 'one'"),
        ({"model": "one", "retires": "2026-01-01"}, "examples: 'one' of acme is retired on 2026-01-01: take a newer"),
        ({"model": "one", "retires": "2027-02-19"}, "examples: 'one' of acme is retired on 2027-02-19: take a newer"),
    ],
)
def test_examples_are_living_models(row: dict[str, object], message: str):
    with pytest.raises(CatalogueError, match=message):
        line(row)
    assert line({"model": "one", "retires": "2027-02-20"})


def test_the_readme_has_the_table_of_the_built_files():
    page = build.EXAMPLES_PAGE.read_text(encoding="utf-8")
    files = {path.stem: path.read_text(encoding="utf-8") for path in build.OUTPUT.glob("*.jsonl")}
    examples = json.loads((build.HERE / "examples.json").read_text(encoding="utf-8"))
    assert with_examples(page, files, examples) == page
    assert page.split(BEGIN)[1].split(END)[0].count("\n") == len(examples) + 2
    with pytest.raises(CatalogueError, match=r"docs/providers.md has no table"):
        with_examples("", files, examples)
