"""Similar names for a path that does not exist, and each place where a path of the user may be missing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from abstractcore import AbstractCoreError, Index, Session, create_llm, replay
from abstractcore.catalogue import read_source
from abstractcore.catalogue.documents import read_document
from abstractcore.mcp.config import servers_of
from abstractcore.registry import similar_path, suggestions
from abstractcore.sessions import SessionSummary, remove_session
from abstractcore.stores.models.store import checked_path
from abstractcore.traces import TraceStore


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    (tmp_path / "reports").mkdir()
    for name in ("notice.pdf", "reports/march.pdf", ".secrets", "secrets"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("notic.pdf", "Did you mean notice.pdf?"),
        ("NOTICE.PDF", "Did you mean notice.pdf?"),
        ("./notic.pdf", "Did you mean ./notice.pdf?"),
        ("report/march.pdf", "Did you mean reports/march.pdf?"),
        ("report/mars.pdf", "Did you mean reports?"),
        ("report/", "Did you mean reports?"),
        ("reports/../notic.pdf", "Did you mean reports/../notice.pdf?"),
        ("notice.pfd", "Did you mean notice.pdf?"),
        ("notice", "Did you mean notice.pdf?"),
        ("rome.pdf", None),
        ("notice.pdf", None),
        ("notic.pdf/march.pdf", None),
        ("something-else", None),
        (".secret", "Did you mean .secrets?"),
        ("secret", "Did you mean secrets?"),
        ("", None),
        (".", None),
        ("no/such/folder/at/all", None),
        ("notic\0.pdf", "Did you mean notice.pdf?"),
        ("notic\udcff.pdf", "Did you mean notice.pdf?"),
        ("notice" * 1000, None),
    ],
)
def test_hint_names_what_is_beside_a_missing_path(path: str, hint: str | None, folder: Path):
    assert similar_path(path) == hint


def test_absolute_path_gets_absolute_names_wherever_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir("/")
    assert similar_path(f"{folder}/report/march.pdf") == f"Did you mean {folder}/reports/march.pdf?"


def test_hidden_files_are_not_named_for_others(folder: Path):
    (folder / "secrets").unlink()
    assert similar_path("secret") is None
    assert similar_path("-secrets") is None


def test_names_that_a_terminal_would_not_show_are_left_out(folder: Path):
    for name in (b"march-\xff.txt", b"march\x1b[2J.txt", "march\u202e.txt".encode(), b"march\n.txt"):
        Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).touch()
    assert similar_path("marc.txt") is None


def test_link_that_leads_nowhere_does_not_suggest_itself(folder: Path):
    (folder / "link.pdf").symlink_to("gone.pdf")
    assert similar_path("link.pdf") is None


def test_folder_that_cannot_be_listed_has_no_hint(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(path: str) -> Any:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(suggestions.os, "scandir", refused)
    assert similar_path("notic.pdf") is None


def test_folder_without_end_is_read_in_part_and_few_names_are_compared(monkeypatch: pytest.MonkeyPatch):
    read, compared = list[str](), list[int]()

    def endless(path: str) -> Any:
        return nullcontext(entries())

    def entries() -> Iterator[Any]:
        while True:
            read.append(f"invoice-{len(read):06}.pdf")
            yield SimpleNamespace(name=read[-1], is_dir=bool)

    def nearest(name: str, known: list[str]) -> list[str]:
        compared.append(len(known))
        return real(name, known)

    real = suggestions.nearest_names
    monkeypatch.setattr(suggestions.os, "scandir", endless)
    monkeypatch.setattr(suggestions, "nearest_names", nearest)
    hint = similar_path("invoce-004711.pdf")
    assert (hint or "").startswith("Did you mean invoice-004711.pdf")
    assert (len(read), max(compared)) == (10_000, 100)


MISSING: dict[str, Callable[[str], object]] = {
    "media": lambda path: create_llm("scripted", replies=["never"]).build("hi", media=path),
    "index.add": lambda path: Index("index.db", create_llm("scripted", replies=["never"])).add(path),
    "Session.load": lambda path: Session.load(path, create_llm("scripted", replies=["never"])),
    "SessionSummary.read": SessionSummary.read,
    "remove_session": remove_session,
    "replay": replay,
    "TraceStore.existing": TraceStore.existing,
    "weights": checked_path,
    "servers of MCP": lambda path: servers_of(path, {}, dict),
    "source of a catalogue": lambda path: read_source(Path(path)),
    "configuration": lambda path: read_document(Path(path)),
}


@pytest.mark.parametrize("use", MISSING)
def test_missing_path_is_an_error_that_names_a_similar_one(use: str, folder: Path):
    (folder / "notes.gguf").touch()
    with pytest.raises(AbstractCoreError) as caught:
        MISSING[use](str(folder / "note.gguf"))
    assert f"Did you mean {folder / 'notes.gguf'}?" in (caught.value.hint or "")
