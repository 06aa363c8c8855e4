"""A file that has ended the process of its decoder is refused for a while, at the same step, without a process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstractcore import Blob, DocumentPart, MediaControls, MediaPart
from abstractcore.concurrency.process_pool import FailedSteps, ProcessPool
from abstractcore.errors import CorruptFileError
from abstractcore.testing import VirtualClock
from tests.core.concurrency import hostile_functions as functions

pytestmark = pytest.mark.process

PART = DocumentPart(Blob.from_bytes(b"%PDF-hostile", "application/pdf", name="a.pdf"))
AGAIN = r"b.pdf cannot be read: its decoder crashed \(SIGSEGV\). It is not tried again yet"


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    pool = ProcessPool()
    yield pool
    pool.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def run(
    pool: ProcessPool, function: Callable[..., Generator[Any, Any, None]], *arguments: object, source: str = "a.pdf"
) -> Generator[Any, Any, None]:
    return pool.run(function, arguments, source=source, seconds=60, timeout=None)


def runs(log: Path) -> int:
    return len(log.read_text().splitlines())


@pytest.mark.parametrize("steps", [0, 3])
def test_crash_is_not_repeated(pool: ProcessPool, log: Path, steps: int):
    """Another copy of the file, under another name, is the same content."""
    with pytest.raises(CorruptFileError, match=r"a.pdf cannot be read: its decoder crashed \(SIGSEGV\)"):
        list(run(pool, functions.crash_at, PART, str(log), steps))
    copy = DocumentPart(Blob.from_bytes(b"%PDF-hostile", "application/pdf", name="b.pdf"))
    values: list[object] = []
    with pytest.raises(CorruptFileError, match=AGAIN) as caught:
        values.extend(run(pool, functions.crash_at, copy, str(log), steps, source="b.pdf"))
    assert runs(log) == (1 if steps == 0 else 2), "earlier steps are repeated: they did no harm"
    assert caught.value.source == "b.pdf"
    assert caught.value.hint == "Open it in its application, and export it again."


def test_step_that_was_asked_for_is_known_wherever_it_comes(pool: ProcessPool, log: Path):
    """As a page of a document: the others are still decoded."""
    first = run(pool, functions.crash_at, PART, str(log), 9)
    next(first)
    with pytest.raises(CorruptFileError):
        first.send("bad")
    again = run(pool, functions.crash_at, PART, str(log), 9)
    assert [next(again), again.send("good"), again.send("fine")] == [None, "good", "fine"]
    with pytest.raises(CorruptFileError, match="is not tried again yet"):
        again.send("bad")


def test_hang_is_not_repeated(pool: ProcessPool):
    with pytest.raises(CorruptFileError, match=r"more than 0.2 seconds for one step"):
        next(pool.run(functions.hang_with, (PART,), source="a.pdf", seconds=0.2, timeout=None))
    assert pool.process_ids == []
    with pytest.raises(CorruptFileError, match=r"more than 0.2 seconds for one step. It is not tried again yet"):
        next(run(pool, functions.hang_with, PART))
    assert pool.process_ids == [], "no process was started"


@pytest.mark.parametrize(
    "other",
    [
        DocumentPart(Blob.from_bytes(b"%PDF-other", "application/pdf")),
        DocumentPart(Blob.from_bytes(b"%PDF-hostile", "text/rtf")),
        replace(PART, controls=MediaControls(pages="2")),
    ],
    ids=["content", "type", "controls"],
)
def test_other_files_types_and_excerpts_are_decoded(pool: ProcessPool, log: Path, other: MediaPart):
    for part in (PART, other):
        with pytest.raises(CorruptFileError, match=r"crashed \(SIGSEGV\)\.($| Open)"):
            list(run(pool, functions.crash_at, part, str(log), 0))
    assert runs(log) == 2


def test_other_functions_and_calls_without_a_file_are_not_refused(pool: ProcessPool, log: Path):
    with pytest.raises(CorruptFileError):
        list(run(pool, functions.crash_at, PART, str(log), 0))
    assert list(run(pool, functions.read, PART)) == ["document"]
    for _ in range(2):
        with pytest.raises(CorruptFileError, match=r"crashed \(SIGSEGV\)\.($| Open)"):
            list(run(pool, functions.crash))


def test_file_is_tried_again_after_ten_minutes_and_few_failures_are_kept():
    clock = VirtualClock()
    failed = FailedSteps(clock.now)

    def tried(number: int) -> bool:
        part = DocumentPart(Blob.from_bytes(number.to_bytes(4), "application/pdf"))
        try:
            with failed.of(functions.read, [part], "a.pdf").at(0):
                raise CorruptFileError("a.pdf cannot be read: it crashed.", source="a.pdf")
        except CorruptFileError as error:
            return "not tried again" not in error.message

    assert [tried(1), tried(1)] == [True, False]
    clock.advance(599)
    assert not tried(1)
    clock.advance(1)
    assert tried(1)
    assert all(tried(number) for number in range(2, 3000))
    assert tried(1), "it was dropped"
    assert not tried(2999)
