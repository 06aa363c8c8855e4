"""The facts of benchmarks/reading_files in what a model gets of each file."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import reading_files
from benchmarks.reading_files.facts import FileWithFacts, Score, Struck, counted_as, each, in_order, score
from benchmarks.reading_files.readers import ours

LEAST_FOUND, MOST_WRONG = 0.97, 0.002
READ_BY_MODELS = ("recorded", "recorded_cases", "pdf_cases")
DOWNLOADED = ("packages",)


def file_with(*facts) -> FileWithFacts:
    return FileWithFacts("page.txt", lambda path: None, facts, "")


def test_loss_counts_only_missing_facts_of_its_kind():
    words, deletion = *each("six boats"), Struck("five boats")
    pictures = counted_as("pictures", each("seven boats"), in_order("six", "seven"))
    found = score(file_with(words, deletion, *pictures), {"text": "none", "lost": ["1 pictures"], "warnings": []})
    assert (found.facts, found.checks, found.found, found.uncounted) == (3, 4, 0, 2)
    found = score(file_with(words, deletion), {"text": "none", "lost": ["2 tracked deletions"]})
    assert found.uncounted == 1
    assert score(file_with(words, deletion), {"error": "MediaError: it is damaged"}).uncounted == 0


def family(name: str):
    return pytest.param(name, marks=pytest.mark.weights if name in READ_BY_MODELS else ())


@pytest.mark.exhaustive
@pytest.mark.process
@pytest.mark.parametrize("name", [family(name) for name in reading_files.FAMILIES if name not in DOWNLOADED])
def test_facts_are_found_and_what_is_missing_is_counted(name: str, tmp_path: Path):
    read = ours()
    total = Score()
    for file in reading_files.family(name):
        path = tmp_path / file.name
        try:
            file.make(path)
        except FileNotFoundError:  # LibreOffice, pandoc or ffmpeg are not installed
            continue
        total += score(file, read(path))
    assert total.files > 0
    assert total.uncounted == 0, "\n".join(total.faults)
    assert total.wrong <= MOST_WRONG * total.checks, "\n".join(total.faults)
    assert total.found >= LEAST_FOUND * total.facts, "\n".join(total.faults)
