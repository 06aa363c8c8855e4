"""Tool loops whose process is killed: with a journal no tool runs twice unknowingly, and no call is lost."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 600.0
EVENTS = 18
"""More than the events of a loop that is not interrupted, in its two processes together."""
POINTS = ("before", "torn", "after")

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked, to start many of them"),
]


def outcomes(folder: Path, colour: str, plans: list[list[tuple[int, str]]]) -> list[Any]:
    command = [sys.executable, "-W", "error", "-m", "tests.core.tools.crashing_loops", str(folder), colour]
    result = subprocess.run(
        [*command, json.dumps(plans)], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert result.returncode == 0, result.stdout + result.stderr
    found = json.loads(result.stdout)
    assert len(found) == len(plans)
    assert [each["failed"] for each in found] == [0] * len(plans), result.stderr
    return found


def check(outcome: Any) -> None:
    """Each call has one result; what may not run twice has run once, and the rest at least once."""
    assert (outcome["status"], outcome["answer"], outcome["rounds"]) == ("answered", "All done.", 3)
    assert outcome["results"] == [[name, "done"] for name in ("pay", "save", "look", "transfer")]
    effects = outcome["effects"]
    assert (effects["pay"], effects["transfer"]) == (1, 1)
    assert effects["save"] >= 1
    assert effects["look"] >= 1


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("point", POINTS)
def test_a_process_killed_at_any_event_loses_nothing(colour: str, point: str, tmp_path: Path):
    first = [[(number, point)] for number in range(1, EVENTS)]
    second = [[(0, point), (number, point)] for number in range(1, EVENTS)]
    found = outcomes(tmp_path, colour, [*first, *second])
    for outcome in found:
        check(outcome)
    killed = [outcome["killed"] for outcome in found]
    assert killed[:12] == [1] * 12
    assert killed[len(first) : len(first) + 5] == [1] * 5
    assert killed[len(first) - 1] == killed[-1] == 0


@pytest.mark.parametrize("colour", ["sync", "async"])
@pytest.mark.parametrize("seed", range(3))
def test_processes_killed_again_and_again_lose_nothing(colour: str, seed: int, tmp_path: Path):
    chosen = random.Random(seed)
    plans = [[(chosen.randint(1, 6), chosen.choice(POINTS)) for _ in range(12)] for _ in range(5)]
    for outcome in outcomes(tmp_path, colour, plans):
        check(outcome)
