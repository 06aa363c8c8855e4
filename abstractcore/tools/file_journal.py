"""`FileJournal`: the events of a tool loop as lines of JSON in a file.

The state of a tool loop after a crash, from the events of its journal. Pure functions.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ..errors import InvalidInputError, JournalError
from ..outputs import to_json
from ..ports import Journal
from ..private_files import lock_file, private, unlock_file
from ..schema import (
    AllowedCall,
    JournalEntry,
    LoopStatus,
    PendingCall,
    SchemaError,
    ToolCall,
    ToolLoop,
    ToolStep,
    from_json,
)
from .loop_rules import callable_tools, continues, with_steps


def loop_of(journal: Journal | str | os.PathLike[str]) -> ToolLoop | None:
    """Returns the state of the loop that a journal, or that of a path, holds, for `llm.resume`; None for an empty one.

    A call that was begun and has no result is allowed again if its tool is idempotent or read-only; any other waits,
    with the reason "interrupted". Opens the journal and closes it. Raises `JournalError` for events in an impossible
    order, and as `journal.open` does; `InvalidInputError` for anything else.
    """
    opened = journal_of(journal)
    if not isinstance(opened, Journal):
        raise InvalidInputError(f"expected a path or a Journal, got {type(journal).__name__}", path="journal")
    entries = opened.open()  # one that is in use is not closed
    try:
        return loop_after(entries)
    finally:
        opened.close()


def loop_after(entries: Iterable[JournalEntry]) -> ToolLoop | None:
    """Returns the state of the loop after these events, as `loop_of` does."""
    history = _History()
    for number, entry in enumerate(entries, 1):
        history.add(entry, number)
    return history.state()


class _History:
    """The events of a loop, one after the other."""

    def __init__(self) -> None:
        self._loop: ToolLoop | None = None
        self._steps: dict[tuple[int, str], ToolStep] = {}
        self._begun: dict[str, ToolCall] = {}
        self._attempts: Counter[tuple[int, str]] = Counter()

    def add(self, entry: JournalEntry, number: int) -> None:
        if entry.kind == "start" and entry.loop is not None:
            self._loop = entry.loop
            self._steps = {(step.round, step.call.id): step for step in entry.loop.steps}
            self._begun.clear()
            return
        loop = self._loop
        if loop is None:
            raise JournalError(f"the journal's event {number} is before the start of a loop.")
        last = len(loop.replies) - 1
        if entry.reply is not None:
            attempts = loop.output_attempts if entry.attempt is None else (*loop.output_attempts, entry.attempt)
            replies = (*loop.replies, entry.reply)
            loop = loop.with_(replies=replies, output_attempts=attempts, allowed=(), pending=(), requests=0)
            self._begun.clear()
        elif entry.kind == "decision":
            loop = loop.with_(allowed=entry.allowed, pending=entry.pending)
            for pending in entry.pending:
                self._begun.pop(pending.call.id, None)
        elif entry.number is not None:
            loop = loop.with_(requests=entry.number)
        elif entry.call is not None:
            self._begun[entry.call.id] = entry.call
            self._attempts[last, entry.call.id] += 1
        elif entry.step is not None:
            self._steps.setdefault((entry.step.round, entry.step.call.id), entry.step)
            self._begun.pop(entry.step.call.id, None)
        if entry.usage is not None:
            loop = loop.with_(
                usage=entry.usage,
                cost=entry.cost,
                cost_source=entry.cost_source,
                cost_reason=entry.cost_reason,
                price_rows=entry.price_rows,
                estimated_cost=entry.estimated_cost,
                cost_sums=entry.cost_sums,
            )
        if entry.status is not None:
            loop = loop.with_(requests=0)
        self._loop = loop.with_(status=entry.status or "running")

    def state(self) -> ToolLoop | None:
        if self._loop is None:
            return None
        loop = with_steps(self._loop.with_(steps=()), [*self._steps.values()])
        loop = loop.with_(pending=tuple(each for each in loop.pending if each.call.id not in _ids_of_done(loop)))
        for call in self._begun.values():
            loop = self._after_interruption(loop, call)
        return loop if loop.status != "running" else loop.with_(status=_status(loop))

    def _after_interruption(self, loop: ToolLoop, call: ToolCall) -> ToolLoop:
        """Returns the state after a crash while `call` ran, or may have run."""
        others = tuple(each for each in loop.allowed if each.call.id != call.id)
        loop = loop.with_(pending=tuple(each for each in loop.pending if each.call.id != call.id))
        begun = next((each for each in loop.allowed if each.call.id == call.id), AllowedCall(call))
        spec = next((spec for spec in callable_tools(loop) if spec.name == call.name), None)
        if spec is not None and (spec.idempotent or spec.read_only):
            return loop.with_(allowed=(*others, begun))
        last = len(loop.replies) - 1
        pending = PendingCall(
            call,
            "interrupted",
            labels=loop.labels,
            tool=spec,
            loop=loop.id,
            round=last,
            attempts=self._attempts[last, call.id],
            requested=begun.requested,
        )
        return loop.with_(allowed=others, pending=(*loop.pending, pending))


def _ids_of_done(loop: ToolLoop) -> set[str]:
    return {step.call.id for step in loop.steps if step.round == len(loop.replies) - 1}


def _status(loop: ToolLoop) -> LoopStatus:
    """Returns the status of a loop whose end was not noted."""
    last = len(loop.replies) - 1
    if any(step.final and step.round == last for step in loop.steps):
        return "final"
    is_corrected = any(attempt.round == last for attempt in loop.output_attempts)
    if loop.replies and not continues(loop.replies[-1]) and not is_corrected:
        return "answered"
    waiting = {pending.call.id for pending in loop.pending}
    is_suspended = bool(waiting) and all(call.id in waiting for call in loop.open_calls)
    return "suspended" if is_suspended else "running"


_HEADER = b'{"format":"abstractcore-tool-journal","version":1}\n'
_LONGEST_LINE = 256 * 1024 * 1024


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
        self._process = 0
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
            self._file, self._process = self._open_file(), os.getpid()
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
                unlock_file(self._file, self._process)
            self._file = self._end = None

    def loop(self) -> ToolLoop:
        """Returns the state of the loop, for `llm.resume`. Raises `JournalError` as `open` does, and without one."""
        found = loop_of(self)
        if found is None:
            raise self._error("holds no loop")
        return found

    def __repr__(self) -> str:
        return f"FileJournal({str(self.path)!r})"

    def _open_file(self) -> BinaryIO:
        try:
            is_new = not self.path.exists()
            number = private(str(self.path), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise self._error(f"cannot be opened: {error.strerror or error}") from None
        except ValueError as error:  # no file system has such a name
            raise self._error(f"cannot be opened: {error}") from None
        file = os.fdopen(number, "r+b", buffering=0)
        try:
            if not lock_file(file):
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
