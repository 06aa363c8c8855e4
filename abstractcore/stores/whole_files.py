"""Files that are written as a whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..private_files import make_private_folder


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file, and its folder, atomically: readers never see a part of it. Only the user can read both."""
    make_private_folder(path.parent)
    handle, scratch = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
