"""The facts of benchmarks/reading_files in what a model gets of each file."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import reading_files
from benchmarks.reading_files.facts import Score, score
from benchmarks.reading_files.readers import ours

pytestmark = [pytest.mark.exhaustive, pytest.mark.process]

LEAST_FOUND, MOST_WRONG = 0.97, 0.002
NOT_HERE = {"packages": "its files are downloaded"}


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(name, marks=pytest.mark.weights if name == "recorded" else ())
        for name in reading_files.FAMILIES
        if name not in NOT_HERE
    ],
)
def test_facts_are_found_and_what_is_missing_is_counted(family: str, tmp_path: Path) -> None:
    read = ours()
    total, missing = Score(), set[str]()
    for file in reading_files.family(family):
        path = tmp_path / file.name
        try:
            file.make(path)
        except FileNotFoundError as error:
            missing.add(str(error.filename))
            continue
        total += score(file, read(path))
    assert total.uncounted == 0, "\n".join(total.faults)
    assert total.wrong <= MOST_WRONG * total.checks, "\n".join(total.faults)
    assert total.found >= LEAST_FOUND * total.facts, "\n".join(total.faults)
    if missing:
        pytest.skip(f"all but the files of programs that are not installed: {', '.join(sorted(missing))}")
