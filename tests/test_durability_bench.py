"""The driver of benchmarks/durability, with the program that needs no other environment, and its kept results."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from benchmarks.durability.__main__ import PAUSES, RESULTS, cell, kept, markdown, table
from benchmarks.durability.contenders import CONTENDERS, FOLDER, Contender
from benchmarks.durability.crashes import Outcome, UnreachedPointError, crash
from benchmarks.durability.payment import KILL_POINTS

AS_WITHOUT_CRASH = Outcome("completed", payments=1, requests=2, approvals=1, answers=0, seconds=0.1)


@pytest.mark.process
def test_run_that_is_not_killed_pays_once():
    assert replace(crash(Contender("without.py")), seconds=0.1) == AS_WITHOUT_CRASH


@pytest.mark.process
@pytest.mark.parametrize(
    ("point", "lost"),
    [
        ("request", {}),
        ("reply", {"requests": 3}),
        ("waiting", {"requests": 3}),
        ("approved", {"requests": 3, "approvals": 2}),
        ("paying", {"requests": 3, "approvals": 2}),
        ("paid", {"requests": 3, "approvals": 2, "payments": 2}),
        ("request-2", {"requests": 3, "approvals": 2, "payments": 2}),
        ("reply-2", {"requests": 4, "approvals": 2, "payments": 2}),
    ],
)
def test_program_without_a_store_is_killed_at_the_point_and_repeats_what_was_before_it(
    point: str, lost: dict[str, int]
):
    outcome = crash(Contender("without.py"), point)
    assert replace(outcome, seconds=0.1) == replace(AS_WITHOUT_CRASH, **lost)


@pytest.mark.process
def test_point_that_the_program_does_not_reach_is_an_error():
    with pytest.raises(UnreachedPointError, match=r"without.py was not killed at 'elsewhere'"):
        crash(Contender("without.py"), "elsewhere")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "ok"),
        ({"payments": 2, "approvals": 2}, "2 payments, 2 approvals"),
        ({"requests": 3}, "3 model requests"),
        ({"answers": 1}, "asks what happened"),
        ({"status": "failed", "payments": 1, "requests": 1}, "run failed, paid"),
        ({"status": "stuck", "payments": 0, "requests": 1}, "run stuck, not paid"),
    ],
)
def test_outcome_names_what_differs_from_a_run_without_a_crash(changes: dict[str, int], words: str):
    assert replace(AS_WITHOUT_CRASH, **changes).differences() == words


def test_cell_names_the_pause_only_where_it_matters():
    twice = replace(AS_WITHOUT_CRASH, payments=2)
    assert cell({"at once": [twice, twice], "after 0.5 s": [twice]}) == "2 payments"
    assert cell({"at once": [AS_WITHOUT_CRASH, twice, twice], "after 0.5 s": [AS_WITHOUT_CRASH]}) == (
        "at once: 2 payments in 2, ok in 1 of 3; after 0.5 s: ok"
    )


def test_kept_results_have_each_program_at_each_point_in_both_tables():
    results = kept()
    assert list(results) == list(CONTENDERS)
    for cells in results.values():
        assert list(cells) == list(KILL_POINTS)
        assert all(list(by_pause) == list(PAUSES) and all(by_pause.values()) for by_pause in cells.values())
    assert table(results).row_count == len(KILL_POINTS)
    assert len(markdown(results).splitlines()) == len(KILL_POINTS) + 2


def test_kept_results_are_of_the_versions_that_are_installed():
    for name, row in json.loads(RESULTS.read_text()).items():
        requirements = CONTENDERS[name].requirements
        text = (FOLDER / requirements).read_text() if requirements else ""
        pins = dict(re.findall(r"^([\w-]+)(?:\[\w+\])?==(\S+)$", text, re.MULTILINE))
        assert {package: row["versions"][package] for package in pins} == pins, name
