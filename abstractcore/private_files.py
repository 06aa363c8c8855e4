"""Files and folders that only their owner may read."""

from __future__ import annotations

import os
from pathlib import Path


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
