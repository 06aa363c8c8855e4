"""An index whose writers are killed, and one with several writers at once."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from abstractcore.search import Index

pytestmark = [pytest.mark.process, pytest.mark.exhaustive]

PROGRAM = Path(__file__).with_name("adding_program.py")
ROOT = Path(__file__).parents[3]
FILES = 400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(FILES):
        parts = "\n\n".join(f"# Part {part}\n\n" + f"word{number} part{part} " * 60 for part in range(3))
        (folder / f"{number:03}.md").write_text(parts)
    return folder


def started(index: Path, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.core.search.adding_program", str(index), str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def check_whole(path: Path) -> int:
    """Checks that every document that is there is there as a whole; returns their number."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM chunks WHERE vector IS NULL").fetchone() == (0,)
        chunks = connection.execute("SELECT number FROM chunks ORDER BY number").fetchall()
        assert connection.execute("SELECT rowid FROM words ORDER BY rowid").fetchall() == chunks
        per_document = connection.execute(
            "SELECT count(c.number) FROM documents d LEFT JOIN chunks c ON c.document = d.number GROUP BY d.number"
        ).fetchall()
        assert len({*per_document}) <= 1
        return len(per_document)


def test_killed_writers_leave_whole_documents_and_the_next_one_goes_on(tmp_path, folder, llm):
    path, chance = tmp_path / "i.db", random.Random(37)
    counts = [0]
    for _ in range(12):
        process = started(path, folder)
        try:
            process.wait(chance.uniform(0.05, 0.6))
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        counts.append(check_whole(path))
    assert counts == sorted(counts)
    with Index(path, llm) as index:
        report = index.add(folder)
        assert len(report.unchanged) == counts[-1]
        assert len(index) == FILES
        assert index.search("word123", 1)[0].file == str(folder / "123.md")
    assert check_whole(path) == FILES


def test_two_processes_that_add_one_folder_leave_each_document_once(tmp_path, folder, llm):
    path = tmp_path / "i.db"
    processes = [started(path, folder) for _ in range(2)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    assert check_whole(path) == FILES
    with Index(path, llm) as index:
        assert len(index.add(folder).unchanged) == FILES
        assert index.search("word7", 1)[0].file == str(folder / "007.md")
