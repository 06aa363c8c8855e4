"""Tables and facts at every width of a terminal: names, paths and URLs stay whole, and nothing is left out."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from abstractcore_cli.layout import cropped, fact_lines, table_lines, wrapped
from tests.chaos_server import answer

HEADERS = ("acme", "context", "$ in", "note")
ROWS = (
    ("acme/acme-command-reasoning-08-2025", "256k", "0.0375", "see acme-6, which is newer and costs less than this"),
    ("acme-6", "1M", "?", "-"),
)
WIDE = 40
cell = st.text(st.sampled_from("ab-/. 模"), max_size=30).map(lambda text: " ".join(text.split()))
linux = pytest.mark.skipif(sys.platform != "linux", reason="drives a terminal")


def test_table_that_fits_is_aligned():
    assert list(table_lines(HEADERS, ROWS, 120)) == [
        "acme                                 context  $ in    note",
        "acme/acme-command-reasoning-08-2025  256k     0.0375  see acme-6, which is newer and costs less than this",
        "acme-6                               1M       ?       -",
    ]


def test_last_column_is_wrapped_first():
    assert list(table_lines(HEADERS, ROWS, 90))[1:3] == [
        "acme/acme-command-reasoning-08-2025  256k     0.0375  see acme-6, which is newer and costs",
        "                                                      less than this",
    ]


def test_long_name_has_a_line_of_its_own_above_its_cells():
    assert list(table_lines(HEADERS, ROWS, 60)) == [
        "acme         context  $ in    note",
        "acme/acme-command-reasoning-08-2025",
        "             256k     0.0375  see acme-6, which is newer and",
        "                              costs less than this",
        "acme-6       1M       ?       -",
    ]


def test_columns_are_cropped_in_their_order_until_the_table_fits():
    crop = {"note": 0, "acme": 12}
    assert list(table_lines(*cropped(HEADERS, ROWS, 70, crop), 70)) == [
        "acme                                 context  $ in    note",
        "acme/acme-command-reasoning-08-2025  256k     0.0375  see acme-6, whi…",
        "acme-6                               1M       ?       -",
    ]
    assert list(table_lines(*cropped(HEADERS, ROWS, 40, crop), 40)) == [
        "acme                     context  $ in",
        "acme/acme-command-reas…  256k     0.0375",
        "acme-6                   1M       ?",
    ]


@given(st.lists(st.tuples(cell, cell, cell), max_size=4), st.integers(1, 60))
def test_cropped_cells_begin_as_they_did_and_others_are_whole(rows, width):
    headers, lines = cropped(("one", "two", "three"), rows, width, {"three": 0, "one": 4})
    for row, line in zip(rows, lines, strict=True):
        assert line[1] == row[1]
        assert all(row[index].startswith(line[index].removesuffix("…").rstrip()) for index in range(len(line)))
    size = sum(max(map(cell_len, column)) + 2 for column in zip(headers, *lines, strict=True)) - 2
    assert size <= width or (headers == ["one", "two"] and all(cell_len(line[0]) <= 4 for line in lines))


def test_cells_of_a_narrow_table_are_below_the_name_with_their_headers():
    assert list(table_lines(HEADERS, ROWS, WIDE)) == [
        "acme",
        "acme/acme-command-reasoning-08-2025",
        "  context 256k, $ in 0.0375, note see",
        "  acme-6, which is newer and costs less",
        "  than this",
        "acme-6",
        "  context 1M, $ in ?, note -",
    ]


@given(st.lists(st.tuples(cell, cell, cell), max_size=4), st.integers(1, 100))
def test_every_word_is_whole_and_in_its_order_at_any_width(rows: list[tuple[str, str, str]], width: int):
    shown = list(table_lines(("name", "one", "two"), rows, width))
    words = {word.rstrip(",") for line in shown for word in line.split()}
    assert all(word in words for row in rows for each in row for word in each.split())
    names = iter(shown)
    assert all(any(line.startswith(row[0]) for line in names) for row in rows)


@given(st.text(st.sampled_from("ab -\u6a21"), max_size=60), st.integers(1, 100))
def test_wrapped_text_has_the_same_words(text: str, width: int):
    lines = wrapped(text.strip(), width)
    assert [word for line in lines for word in line.split()] == text.split()
    assert all(cell_len(line) <= width or any(cell_len(word) > width for word in line.split()) for line in lines)


def test_indented_text_is_indented_in_all_lines():
    assert wrapped("  batch: input 1, output 2", 16) == ["  batch: input", "  1, output 2"]


def test_values_are_below_their_names_on_a_narrow_terminal():
    facts = [("context_tokens", "1,000"), ("source", "https://acme.example/a/very/long/page, read on a day")]
    assert list(fact_lines(facts, 60)) == [
        ("context_tokens  ", "1,000"),
        ("source          ", "https://acme.example/a/very/long/page, read"),
        (" " * 16, "on a day"),
    ]
    assert list(fact_lines(facts, 30)) == [
        ("context_tokens  ", "1,000"),
        ("source", ""),
        ("", "  https://acme.example/a/very/long/page,"),
        ("", "  read on a day"),
    ]


def screen(columns: int, *arguments: str, **environment: str) -> list[str]:
    """Returns the lines that a command writes to a terminal, without styles."""
    from tests.terminal import Terminal

    own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = ["-W", "error", "-c", "from abstractcore_cli import main; main()", *arguments]
    with Terminal(command, own | environment, columns) as window:
        assert window.wait_for_end() == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", window.screen).splitlines()


@pytest.mark.process
@linux
@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize("arguments", [("search", "command"), ("list", "--offline", "-p", "cohere")])
def test_names_of_models_are_whole_on_narrow_terminals(columns: int, arguments: tuple[str, ...]):
    text = "\n".join(screen(columns, "models", *arguments))
    assert re.search(r"^command-a-reasoning-08-2025\b", text, re.MULTILINE)
    assert re.search(r"^command-a-translate-08-2025\b", text, re.MULTILINE)


@pytest.mark.process
@linux
def test_page_of_a_fact_is_whole_on_a_narrow_terminal():
    lines = screen(40, "models", "info", "openai/gpt-4o")
    assert any(len(line) > 40 and line.strip().startswith("https://") for line in lines)
    assert all(len(line.rpartition(" ")[0]) <= 40 for line in lines)


@pytest.mark.process
@linux
@pytest.mark.parametrize("columns", ["50", "0", "-1", "x", "\u00b2", "9" * 30])
def test_any_value_of_columns_is_accepted(columns: str):
    lines = screen(70, "models", "search", "command-a-reasoning", COLUMNS=columns, LINES=columns)
    assert any(line.startswith("command-a-reasoning-08-2025") for line in lines)


@pytest.mark.process
@linux
@pytest.mark.parametrize("columns", [40, 80])
def test_name_that_is_wider_than_the_terminal_is_one_line(server: Any, columns: int):
    name = "accounts/acme/models/" + "long-" * 20
    server.script(answer(b'{"data": [{"id": "%s"}, {"id": "short"}]}' % name.encode(), content_type="application/json"))
    arguments = ("models", "list", "-p", "openai", "--base-url", f"{server.url}/v1")
    lines = screen(columns, *arguments, OPENAI_API_KEY="k")
    assert name in lines


@pytest.mark.process
@linux
def test_hint_with_a_long_path_is_not_broken_inside_of_it(tmp_path: Path):
    folder = tmp_path / "a-folder-with-a-long-name-without-a-space" / "and-another-one"
    folder.mkdir(parents=True)
    file = folder / "models.toml"
    file.write_text('[[models]]\nprovider = "nobody"\nmodel = "x"\n')
    lines = screen(40, "models", "search", "command-a", ABSTRACTCORE_MODELS=str(file))
    assert any(f"{file}:" in line for line in lines)


@pytest.mark.process
def test_piped_lines_are_never_broken():
    import subprocess

    command = [sys.executable, "-m", "abstractcore", "models", "list", "--offline", "-p", "cohere"]
    found = subprocess.run(command, env={**os.environ, "COLUMNS": "20"}, capture_output=True, text=True, check=True)
    assert all(line.count("\t") == 7 for line in found.stdout.splitlines())
    assert found.stderr.count("\n") == 2
