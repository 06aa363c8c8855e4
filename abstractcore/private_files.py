"""Files and folders that only their owner may read, and locks on files."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

_LOCKED_BYTE = 2**31 - 2


def private(path: str, flags: int) -> int:
    """Opens a file, as the `opener` of `open`: if it makes the file, only its owner may read and write it."""
    return os.open(path, flags, 0o600)


def make_private_folder(folder: Path) -> None:
    """Makes a folder, and those that it is in, unless they exist: only their owner may read them. Raises `OSError`."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def lock_file(file: BinaryIO) -> bool:
    """Locks an open file until it is closed; returns False if another process, or another descriptor, has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(_LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def unlock_file(file: BinaryIO, process: int) -> None:
    """Closes a file that `process` has locked. There the lock ends, though a forked child may have the file open still;
    a child that closes it ends no lock.
    """
    try:
        if sys.platform != "win32" and os.getpid() == process:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        file.close()
