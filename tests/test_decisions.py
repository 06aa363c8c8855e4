"""docs/decisions/README.md lists each decision once, by its title, with the marks that its page has."""

from __future__ import annotations

import re

import pytest

from tests.documents import ROOT

FOLDER = ROOT / "docs" / "decisions"
DECISIONS = {path.name[:4]: path for path in sorted(FOLDER.glob("[0-9]*.md"))}
LINES = re.findall(r"^\* \[(\d{4})\]\((.+?)\) (.+)$", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
_MARK = re.compile(r"\*Superseded (?:in part )?by .*\*$")


def marks(text: str) -> tuple[bool, list[str]]:
    """Whether a decision is superseded as a whole, and the decisions that did it."""
    found = _MARK.search(text)
    numbers = re.findall(r"\b\d{4}\b(?!-)", re.sub(r"\]\(.*?\)", "]", found[0])) if found else []
    return bool(numbers) and "in part" not in text, numbers


def test_each_decision_is_listed_once():
    assert sorted(number for number, _, _ in LINES) == list(DECISIONS)


@pytest.mark.parametrize(("number", "name", "said"), LINES, ids=[number for number, _, _ in LINES])
def test_line_has_the_title_and_the_marks_of_the_page(number: str, name: str, said: str):
    page = DECISIONS[number]
    assert name == page.name
    head = page.read_text(encoding="utf-8").split("\n", 3)
    title = re.sub(r"^# (?:\d+[.:] )?", "", head[0])
    assert _MARK.sub("", said).strip().removesuffix(".") == title.removesuffix(".")
    assert marks(said) == marks(head[2])
    later = marks(said)[1]
    assert all(other > number and other in DECISIONS for other in later)


def test_a_mark_stands_in_the_first_lines_only():
    late = [
        path.name for path in DECISIONS.values() if "*Superseded" in "\n".join(path.read_text("utf-8").split("\n")[3:])
    ]
    assert late == []
