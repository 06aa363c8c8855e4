"""The table of what the upstream kernel pins, upstream_cases.toml, is complete, and each test that it names exists."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TABLE: dict[str, Any] = tomllib.loads((Path(__file__).parent / "upstream_cases.toml").read_text(encoding="utf-8"))
CASES: list[dict[str, str]] = TABLE["case"]
NAMES = [f"{case['file']}::{case['name']}" for case in CASES]
ALL_CASES = 223

KEYS = {"file", "name", "group", "behaviour", "verdict"}
KEYS_OF_VERDICT = {"same": KEYS | {"test"}, "better": KEYS | {"test", "why"}, "left out": KEYS | {"why"}}


def test_each_file_has_as_many_cases_as_upstream() -> None:
    assert Counter(case["file"] for case in CASES) == TABLE["files"]
    assert len(CASES) == ALL_CASES


def test_no_case_is_there_twice() -> None:
    assert not [name for name, count in Counter(NAMES).items() if count > 1]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_case_is_one_sentence_with_a_verdict_and_its_reason(case: dict[str, str]) -> None:
    assert case["verdict"] in KEYS_OF_VERDICT
    assert set(case) == KEYS_OF_VERDICT[case["verdict"]]
    assert not [key for key, text in case.items() if not text.strip() and key != "test"]
    assert case["behaviour"].endswith(".")
    assert ". " not in case["behaviour"]
    assert case.get("why", ".").endswith(".")


def test_tests_that_pin_cases_exist() -> None:
    assert not [name for name in {case["test"] for case in CASES if case.get("test")} if not _exists(name)]


def test_each_behaviour_that_is_not_left_out_is_pinned() -> None:
    assert not [name for name, case in zip(NAMES, CASES, strict=True) if case.get("test") == ""]


def _exists(name: str) -> bool:
    """Whether a test is there that pytest calls by this name, with or without parameters."""
    module, _, test = name.partition("[")[0].partition("::")
    return (ROOT / module).is_file() and test in _tests_of(ROOT / module)


@cache
def _tests_of(module: Path) -> frozenset[str]:
    """Returns the tests of a module, as pytest names them without their parameters."""
    names: set[str] = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        inner, prefix = (node.body, f"{node.name}::") if isinstance(node, ast.ClassDef) else ([node], "")
        functions = (each for each in inner if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
        names.update(prefix + each.name for each in functions if each.name.startswith("test_"))
    return frozenset(names)
