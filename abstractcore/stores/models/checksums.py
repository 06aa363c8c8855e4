"""Verifies weights: by SHA-256 once, then by size and modification time at each use."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

CHECKSUMS_FILE = ".verified.json"


def write_checksums(folder: Path, expected: Mapping[str, str] | None) -> str | None:
    """Hashes the files of `folder` and writes the file of checksums. `expected` is SHA-256 by file name, or None.

    Returns what is wrong with the files, or None.
    """
    names = expected if expected is not None else _names(folder)
    marks: dict[str, list[Any]] = {}
    for name in names:
        file = folder / name
        if not file.is_file():
            return f"{name} is missing"
        mark = _mark(file)
        if expected is not None and mark[2] != expected[name]:
            return f"{name} has {mark[0]} bytes and SHA-256 {mark[2]}, not {expected[name]}"
        marks[name] = mark
    if not marks:
        return "it has no files"
    _write(folder, marks)
    return None


def is_intact(folder: Path, expected: Mapping[str, str] | None) -> bool:
    """Returns whether all files exist and are unchanged. Hashes only files with another size or time than recorded."""
    marks = _read(folder)
    hashes = expected if expected is not None else {name: str(mark[2]) for name, mark in marks.items()}
    fresh: dict[str, list[Any]] = {}
    for name, sha256 in hashes.items():
        try:
            fresh[name] = mark = _quick_mark(folder / name, marks.get(name)) or _mark(folder / name)
        except OSError:
            return False
        if mark[2] != sha256:
            return False
    if fresh and fresh != marks:
        _write(folder, fresh)
    return bool(fresh)


def size_of(path: Path) -> int:
    """Returns the bytes of a file, or of all files under a folder; files that vanish meanwhile do not count."""
    if not path.is_dir():
        return path.stat().st_size
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total


def _names(folder: Path) -> list[str]:
    return [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*")) if file.is_file()]


def _mark(file: Path) -> list[Any]:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    status = file.stat()
    return [status.st_size, status.st_mtime_ns, digest]


def _quick_mark(file: Path, known: list[Any] | None) -> list[Any] | None:
    status = file.stat()
    return known if known is not None and known[:2] == [status.st_size, status.st_mtime_ns] else None


def _read(folder: Path) -> dict[str, list[Any]]:
    try:
        marks: Any = json.loads((folder / CHECKSUMS_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(marks, dict):
        return {}
    items = cast("dict[str, Any]", marks).items()
    return {name: cast("list[Any]", mark) for name, mark in items if isinstance(mark, list) and len(mark) == 3}  # pyright: ignore[reportUnknownArgumentType]


def _write(folder: Path, marks: Mapping[str, list[Any]]) -> None:
    # A read-only store still works; it hashes again at each use.
    with contextlib.suppress(OSError):
        scratch = folder / f"{CHECKSUMS_FILE}.new"
        scratch.write_text(json.dumps(marks, indent=1) + "\n", encoding="utf-8")
        scratch.replace(folder / CHECKSUMS_FILE)
