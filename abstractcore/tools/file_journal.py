"""`FileJournal`: the events of a tool loop as lines of JSON in a file."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import InvalidInputError, JournalError
from ..outputs import to_json
from ..private_files import private
from ..schema import JournalEntry, SchemaError, ToolLoop, from_json
from .journal import Journal
from .recovery import recovered_loop

_HEADER = b'{"format":"abstractcore-tool-journal","version":1}\n'
_LONGEST_LINE = 256 * 1024 * 1024
_LOCKED_BYTE = 2**31 - 2


class FileJournal:
    """A journal in a file: one loop, one line of JSON for each event. Each is on the disk when `append` returns.

    The file is created at the first use, readable for its owner only, and locked while it is open. It holds what the
    model and the tools were given and returned, media included. An incomplete last line, which a crash leaves, is
    ignored and removed. Raises `InvalidInputError` for a path of another type.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a path, got {type(path).__name__}", path="path")
        self.path = Path(path)
        self._file: BinaryIO | None = None
        self._end: int | None = None
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[FileJournal], tuple[Path]]:
        return type(self), (self.path,)

    def open(self) -> Iterator[JournalEntry]:
        """Locks the file, and returns its events, which must be read to their end before `append`.

        Raises `JournalError` for a file that is locked, cannot be read or written, or is not a journal.
        """
        with self._lock:
            if self._file is not None:
                raise self._error("is in use by another call")
            self._file = self._opened()
            self._end = None
            return self._entries(self._file)

    def append(self, entry: JournalEntry) -> None:
        """Writes an event. Raises `JournalError` if that fails, or the journal is not open."""
        line = to_json(entry).encode() + b"\n"
        with self._lock:
            if self._file is None or self._end is None:
                raise self._error("is not open, or has not been read to its end")
            try:
                self._file.seek(self._end)
                _write(self._file, line)
                os.fsync(self._file.fileno())
            except OSError as error:
                with contextlib.suppress(OSError):  # the incomplete line is ignored when it is read, too
                    self._file.truncate(self._end)
                raise self._error(f"cannot be written: {error.strerror or error}") from None
            self._end += len(line)

    def close(self) -> None:
        """Unlocks the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file = self._end = None

    def loop(self) -> ToolLoop:
        """Returns the state of the loop, for `llm.resume`. Raises `JournalError` as `open` does, and without one."""
        try:
            found = recovered_loop(self.open())
        finally:
            self.close()
        if found is None:
            raise self._error("holds no loop")
        return found

    def __repr__(self) -> str:
        return f"FileJournal({str(self.path)!r})"

    def _opened(self) -> BinaryIO:
        try:
            is_new = not self.path.exists()
            number = private(str(self.path), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise self._error(f"cannot be opened: {error.strerror or error}") from None
        file = os.fdopen(number, "r+b", buffering=0)
        try:
            if not _locked(file):
                raise self._error("is in use by another process or call")
            self._check_header(file)
            if is_new:
                _keep_name(self.path.parent)
        except OSError as error:
            file.close()
            raise self._error(f"cannot be used: {error.strerror or error}") from None
        except BaseException:
            file.close()
            raise
        return file

    def _check_header(self, file: BinaryIO) -> None:
        """Writes the first line of a new file; raises `JournalError` for a file that begins otherwise."""
        file.seek(0)
        begin = file.read(len(_HEADER))
        if begin == _HEADER:
            return
        if not _HEADER.startswith(begin):
            raise self._error("is not a journal of tool calls", hint="Give the path of a new file.")
        file.seek(0)
        file.truncate(0)
        _write(file, _HEADER)
        os.fsync(file.fileno())

    def _entries(self, file: BinaryIO) -> Generator[JournalEntry]:
        """Yields the events, one line at a time. A last line that is incomplete is removed."""
        end, number = len(_HEADER), 1
        with open(os.dup(file.fileno()), "rb") as lines:
            lines.seek(end)
            while line := lines.readline(_LONGEST_LINE + 1):
                number += 1
                if len(line) > _LONGEST_LINE:
                    raise self._error(f"line {number} is longer than {_LONGEST_LINE:,} bytes")
                if not line.endswith(b"\n") or not _is_json(line):
                    if lines.read(1):
                        raise self._error(f"line {number} is not JSON, and more lines follow: the file was changed")
                    break
                yield self._entry(line, number)
                end += len(line)
        with self._lock:
            if self._file is file:
                file.truncate(end)
                self._end = end

    def _entry(self, line: bytes, number: int) -> JournalEntry:
        try:
            entry = from_json(line)
        except SchemaError as error:
            raise self._error(f"line {number}: {error}") from None
        if not isinstance(entry, JournalEntry):
            raise self._error(f"line {number}: expected an event of a tool loop, got a {type(entry).__name__}")
        return entry

    def _error(self, problem: str, hint: str | None = None) -> JournalError:
        return JournalError(f"the journal {self.path} {problem}.", hint=hint)


def journal_of(given: Journal | str | os.PathLike[str] | None) -> Journal | None:
    """Returns the journal of a policy: that of a path is a `FileJournal`."""
    return FileJournal(given) if isinstance(given, str | os.PathLike) else given


def _write(file: BinaryIO, data: bytes) -> None:
    """Writes all of `data`: an unbuffered file may take a part of it only."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _keep_name(folder: Path) -> None:
    """Makes the name of a new file durable, where folders can be synchronised."""
    if sys.platform != "win32":
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _locked(file: BinaryIO) -> bool:
    """Locks the file until it is closed; returns False if another process or journal has locked it."""
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
