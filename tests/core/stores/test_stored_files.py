"""Indexes of uploaded files: in memory, and in a folder."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from abstractcore import StoredFile
from abstractcore.stores.artifacts import FolderStoredFiles, MemoryStoredFiles

FILE = StoredFile("f1", "vendor", "https://h.example/v1", "a" * 32, "0" * 64, "text/plain", 3, 5.0, 9.0, "a.txt")


@pytest.fixture(params=["memory", "folder"])
def index(request, tmp_path):
    return MemoryStoredFiles() if request.param == "memory" else FolderStoredFiles(tmp_path / "index")


def test_newest_file_with_the_content_is_found(index):
    newer = replace(FILE, id="https://h.example/files/f2", uploaded_at=7.0)
    for file in (newer, FILE, replace(FILE, id="f3", media_type="text/csv"), replace(FILE, id="f4", account="b" * 32)):
        index.put(file)
    assert index.find(FILE.account, FILE.sha256, "text/plain") == newer
    assert index.find(FILE.account, "1" * 64, "text/plain") is None
    assert index.find("c" * 32, FILE.sha256, "text/plain") is None
    assert [file.id for file in index.list(FILE.account)] == ["f1", "f3", newer.id]
    index.remove(newer)
    index.remove(newer)
    assert index.find(FILE.account, FILE.sha256, "text/plain") == FILE


def test_entry_with_the_same_id_is_replaced(index):
    index.put(replace(FILE, ready=False))
    index.put(FILE)
    assert index.list(FILE.account) == [FILE]


def test_damaged_entries_are_logged_and_not_used(tmp_path, caplog):
    index = FolderStoredFiles(tmp_path)
    index.put(FILE)
    for name, content in (("x", b"{"), ("y", b'{"id": 1}'), ("z", b"\xff")):
        (tmp_path / FILE.account / f"{FILE.sha256}.{name}.json").write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert index.list(FILE.account) == [FILE]
    assert caplog.text.count("is not the entry of an uploaded file") == 3


def test_folder_that_cannot_be_written_is_logged(tmp_path, caplog):
    (tmp_path / "index").write_bytes(b"")
    index = FolderStoredFiles(tmp_path / "index")
    index.put(FILE)
    assert index.find(FILE.account, FILE.sha256, "text/plain") is None
    assert "cannot be kept" in caplog.text
