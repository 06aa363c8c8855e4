"""The files of a folder, and whether they have changed since they were read."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import InvalidInputError
from ..registry.suggestions import similar_path
from ..schema.base_error import shown

_BUFFER: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file: `path` is absolute, `name` is relative to the folder that was given, with the folder's own name left out.

    `size` is in bytes, `modified` in nanoseconds since the epoch.
    """

    path: str
    name: str
    size: int
    modified: int


def files_in(folder: Path, is_left_out: Callable[[str], bool], fail: Callable[[str, str], None]) -> Iterator[FoundFile]:
    """Yields the files in a folder and those below it, in order. What begins with a dot is left out, and so are links
    to folders, what is not a regular file, and what `is_left_out` by its path without links. `fail` gets a path that
    cannot be read, and why.
    """

    def unreadable(error: OSError) -> None:
        fail(str(error.filename), error.strerror or str(error))

    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            path = os.path.join(parent, name)
            if name.startswith(".") or is_left_out(os.path.realpath(path)):
                continue
            try:
                found = found_file(path, os.path.relpath(path, folder))
            except OSError as error:
                fail(path, error.strerror or str(error))
                continue
            if found is not None:
                yield found


def found_file(path: str, name: str) -> FoundFile | None:
    """Returns a file as it is now; None for what is not a regular file. Raises `OSError`, also for a name that is no
    text, as of bytes in another encoding than UTF-8.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        raise OSError(errno.EILSEQ, "its name is not UTF-8: rename it") from None
    status = os.stat(path)
    return FoundFile(path, name, status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def file_hash(path: str) -> str:
    """Returns the SHA-256 of a file in hex. Raises `OSError`."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as stream:
        while block := stream.read(_BUFFER):
            digest.update(block)
    return digest.hexdigest()


def given_path(given: str | os.PathLike[str], path: str) -> Path:
    """Returns an existing path as absolute; raises `InvalidInputError` for one that does not exist."""
    try:
        found = Path(os.path.abspath(os.path.expanduser(os.fspath(given))))
        str(found).encode()
        exists = found.exists()
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{shown(given)} is not a path: {error}", path=path) from None
    if not exists:
        texts = "Pass texts as a list: index.add([text])." if isinstance(given, str) else None
        hint = similar_path(os.path.expanduser(os.fspath(given))) or texts
        raise InvalidInputError(f"{shown(given)} does not exist", path=path, hint=hint)
    return found
