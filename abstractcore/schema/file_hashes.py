"""Hashes of files that were computed before: kept by device, inode, size and times of the last change."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TypeAlias

_QUIET_SECONDS = 2.0
"""A file that changed less long ago may change again within one tick of its file system's clock (FAT has 2 seconds)."""
_MOST_FILES = 4096

Stamp: TypeAlias = tuple[int, int, int, int, int]


def stamp_of(descriptor: int) -> Stamp:
    """Returns the fields of `stat` that change with the content of an open file; the time of the change of its status
    cannot be set.
    """
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def known_hash(stamp: Stamp) -> str | None:
    """Returns the hash of the content of a file with this stamp, if it was kept."""
    return _known.get(stamp)


def keep_hash(stamp: Stamp, sha256: str, *, read_at: float) -> None:
    """Keeps the hash of a file that was read from `read_at` on, in `time.time()`, and has the same stamp after it.

    Does nothing for a file that had just changed.
    """
    if max(stamp[-2:]) / 1e9 > read_at - _QUIET_SECONDS:
        return
    if len(_known) >= _MOST_FILES:
        with suppress(KeyError, RuntimeError, StopIteration):  # another thread does the same
            del _known[next(iter(_known))]
    _known[stamp] = sha256


_known: dict[Stamp, str] = {}
