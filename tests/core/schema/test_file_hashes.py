"""Hashes of files that are kept: used for a file that has not changed, and never for one that may have."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest

from abstractcore.schema import Blob, SchemaError, blobs
from abstractcore.schema.blobs import keep_hash, known_hash, stamp_of

KEPT = "0" * 64


def stamp(path: Path) -> blobs.Stamp:
    with open(path, "rb") as file:
        return stamp_of(file.fileno())


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(b"before")
    return path


def test_kept_hash_is_used_until_the_file_changes(path: Path):
    before = path.stat()
    keep_hash(stamp(path), KEPT, read_at=time.time() + 10)
    assert Blob.from_file(path, "text/plain").sha256 == KEPT
    assert Blob.from_file(path, "text/plain").read() == b"before"  # and is not computed again
    path.write_bytes(b"AFTER!")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # its size and time are the same
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert Blob.from_file(path, "text/plain").sha256 == sha256(b"AFTER!")


def test_hash_of_a_file_that_has_just_changed_is_not_kept(path: Path):
    """It may change again before the clock of its file system ticks."""
    Blob.from_file(path, "text/plain")
    assert known_hash(stamp(path)) is None
    keep_hash(stamp(path), KEPT, read_at=time.time() - 3600)  # its time is in the future: clocks differ
    assert known_hash(stamp(path)) is None


def test_hash_of_a_quiet_file_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(blobs, "_QUIET_SECONDS", -60.0)
    blob = Blob.from_file(path, "text/plain")
    assert known_hash(stamp(path)) == blob.sha256 == sha256(b"before")
    path.write_bytes(b"AFTER!")
    with pytest.raises(SchemaError, match="has changed"):
        blob.read()


def test_number_of_kept_hashes_is_limited(monkeypatch: pytest.MonkeyPatch):
    kept: dict[blobs.Stamp, str] = {}
    monkeypatch.setattr(blobs, "_known", kept)
    for number in range(5000):
        keep_hash((1, number, 1, 0, 0), KEPT, read_at=time.time())
    assert len(kept) == 4096
    assert known_hash((1, 4999, 1, 0, 0)) == KEPT


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="Linux has files whose size is 0 until they are read"
)
def test_file_without_a_size_is_read():
    assert Blob.from_file("/proc/self/status", "text/plain").size
    assert known_hash(stamp(Path("/proc/self/status"))) is None
