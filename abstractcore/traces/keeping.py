"""`Keeping`: the subscriber that queues records, and writes them in a thread of its own."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import TypeAlias

from ..concurrency import ProcessWorker
from ..copying import NotCopied
from ..database import ConstraintError, DatabaseError
from ..errors import ConfigurationError, InvalidInputError, MissingExtraError
from ..schema import Capture, TraceRecord
from ..telemetry import Recorder, Subscription
from .process_locks import ProcessLock
from .rows import EncodedRecord, encoded

Redactor: TypeAlias = Callable[[TraceRecord], TraceRecord | None]
"""Returns what is kept of a record, perhaps a changed copy; None to keep nothing of it."""
Write: TypeAlias = Callable[[Sequence[EncodedRecord]], None]
GATHERING_SECONDS = 0.1
MOST_IN_BATCH = 1_000
_MOST_BYTES_IN_BATCH = 8 * 1024 * 1024
MOST_WAITING = 10_000
"""So many records wait for a database that fails; later ones are lost."""
MOST_BYTES_WAITING = 64 * 1024 * 1024
_RETRY_SECONDS = 1.0
_CLOSING_SECONDS = 5.0
_LAST_SECONDS = 2.0
_OF_RECORDS = ("22", "54", "SQLITE_TOOBIG")
"""Codes of values that a database does not take: by SQLSTATE, out of range, and above its limits."""
_log = logging.getLogger("abstractcore.traces")


class Keeping(NotCopied):
    """Keeps the records of calls until `close`, or the end of `with`.

    `lost` counts the records that are not in the database, and never will be: the database failed for so long that too
    many were waiting, the redactor raised an exception, or the program ended.
    """

    _holds = "a thread"
    _instead = "Keep traces in the other process."

    def __init__(
        self,
        write: Write,
        recorder: Recorder,
        capture: Capture,
        redact: Redactor | None,
        open_ones: OpenKeepings | None = None,
    ) -> None:
        if redact is not None and not callable(redact):
            raise InvalidInputError(f"expected a function, got {type(redact).__name__}", path="redact")
        self._write = write
        self._redact = redact
        self._capture: Capture = capture
        self._lost = LossCount()
        self._open_ones = OpenKeepings() if open_ones is None else open_ones
        self._closed = False
        self._failure: Exception | None = None
        self._next_try = 0.0
        self._one_by_one = 0
        """How many records are written in transactions of their own, since one of them is not valid."""
        self._queues: dict[int, _Queue] = {}
        """By process: what waited when a process forked is written by the parent."""
        self._worker = ProcessWorker("abstractcore-traces", GATHERING_SECONDS)
        self._subscription: Subscription = recorder.subscribe(self._receive, capture, records="all")
        self._open_ones.add(self)
        atexit.register(self._end_program)

    @property
    def lost(self) -> int:
        """How many records were lost."""
        return self._lost.count + self.dropped

    @property
    def dropped(self) -> int:
        """How many of them were lost before they were received."""
        return self._subscription.dropped

    @property
    def failure(self) -> Exception | None:
        """Why the last records could not be written; None if they were."""
        return self._failure

    @property
    def waiting(self) -> int:
        """How many records wait to be written."""
        return len(self._queue().records)

    def flush(self, timeout: float | None = None) -> bool:
        """Waits up to `timeout` seconds until all records so far are written; returns whether they are."""
        end = None if timeout is None else time.monotonic() + timeout
        delivered = self._subscription.flush(timeout)
        queue = self._queue()
        last = queue.received
        if queue.records:
            self._put(queue, in_time=False)
        done = self._worker.flush(None if end is None else max(0.0, end - time.monotonic()))
        return delivered and done and queue.removed >= last

    def close(self, timeout: float = _CLOSING_SECONDS) -> None:
        """Ends it after waiting as `flush` does. Records that are not written then are lost."""
        if self._closed:
            return
        end = time.monotonic() + timeout
        self._subscription.close(timeout)
        self._closed = True  # what fails now is not tried again
        self.flush(max(0.0, end - time.monotonic()))
        self._worker.stop()
        self._lose(self._queue().abandon(), self._failure or "the database is too slow")
        self._open_ones.remove(self)
        atexit.unregister(self._end_program)

    def __enter__(self) -> Keeping:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, record: TraceRecord) -> None:
        """Queues a record. Runs in the thread of the subscription."""
        try:
            kept = record if self._redact is None else self._redact(record)
            row = None if kept is None else encoded(kept, searchable=self._capture == "full")
        except BaseException as error:  # its message may quote what was to be redacted
            self._lose(1, f"{type(error).__name__} in {'encoding' if self._redact is None else 'redact or encoding'}")
            return
        if row is None:
            return
        queue = self._queue()
        size = row.size
        if queue.is_abandoned:
            self._lose(1, "traces are no longer kept")
            return
        if len(queue.records) >= MOST_WAITING or (queue.size and queue.size + size > MOST_BYTES_WAITING):
            self._lose(1, self._failure or "the database is too slow")
            return
        queue.add(row, size)
        self._schedule(queue)

    def _queue(self) -> _Queue:
        process = os.getpid()
        return self._queues.get(process) or self._queues.setdefault(process, _Queue())

    def _schedule(self, queue: _Queue) -> None:
        if queue.records and not queue.is_scheduled:
            queue.is_scheduled = True
            self._put(queue)

    def _put(self, queue: _Queue, *, in_time: bool = True) -> None:
        try:
            self._worker.begun().put(partial(self._work_off, queue, in_time))
        except RuntimeError as error:  # the interpreter shuts down
            self._failure = error

    def _work_off(self, queue: _Queue, in_time: bool) -> None:
        """Writes what is queued; `in_time` not before the next try after a failure. Runs in the worker."""
        queue.is_scheduled = False
        if not in_time or time.monotonic() >= self._next_try:
            while queue.records and self._write_one(queue):
                pass
        if not self._closed:
            self._schedule(queue)

    def _write_one(self, queue: _Queue) -> bool:
        """Writes one batch; returns False if the database failed: the records stay in the queue."""
        batch = queue.first(1 if self._one_by_one else MOST_IN_BATCH)
        if not batch:
            return False
        error = self._try(batch)
        if error is not None and _is_state(error):
            if self._failure is None:
                _log.warning("traces wait for their database: %s", error)
            self._failure = error
            self._next_try = time.monotonic() + _RETRY_SECONDS
            self._lose(queue.give_back(), error)
            return False
        if error is not None and len(batch) > 1:  # one of them is not valid: the others are written without it
            self._one_by_one = len(batch)
            self._lose(queue.give_back(), error)
            return True
        if error is not None:
            self._lose(1, error)
        queue.remove(len(batch))
        self._one_by_one = max(0, self._one_by_one - 1)
        if self._failure is not None:
            _log.warning("traces are written again; %d were lost meanwhile", self.lost)
            self._failure = None
        return True

    def _try(self, batch: Sequence[EncodedRecord]) -> Exception | None:
        try:
            self._write(batch)
        except Exception as error:
            return error
        return None

    def _lose(self, count: int, why: object) -> None:
        self._open_ones.lost.add(count)
        if self._lost.add(count):
            _log.warning("traces were lost: %s", why if isinstance(why, str) else f"{type(why).__name__}: {why}")

    def _end_program(self) -> None:
        """Writes what is left at the end of the program."""
        self.close(_LAST_SECONDS)


class LossCount:
    """How many records were lost. The threads that receive, write and close add to it."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = ProcessLock()

    def add(self, count: int) -> bool:
        """Adds to it; returns whether these are the first ones."""
        with self._lock:
            is_first = count > 0 and not self.count
            self.count += count
        return is_first


class OpenKeepings:
    """What a store keeps now, and how many records were lost by all that it has kept."""

    def __init__(self) -> None:
        self.lost = LossCount()
        self._keepings: dict[Keeping, None] = {}

    def __iter__(self) -> Iterator[Keeping]:
        return iter([*self._keepings])

    @property
    def losses(self) -> int:
        """How many records were lost, also by those that are closed."""
        return self.lost.count + sum(keeping.dropped for keeping in self)

    def add(self, keeping: Keeping) -> None:
        """Adds one that has begun."""
        self._keepings[keeping] = None

    def remove(self, keeping: Keeping) -> None:
        """Removes one that is closed: of it, only the number of lost records stays."""
        if self._keepings.pop(keeping, self) is None:
            self.lost.add(keeping.dropped)


class _Queue:
    """The records of one process that wait to be written. One thread adds them, another one takes them out; a third one
    may abandon them, but for those that are being written then.
    """

    def __init__(self) -> None:
        self.records: deque[tuple[EncodedRecord, int]] = deque()
        self.is_scheduled = False
        self._lock = threading.Lock()
        self._taken = 0
        """How many records are being written: they stay until they are."""
        self.is_abandoned = False
        self.received = 0
        self.removed = 0
        """Records; each number is changed by one thread, as are those of bytes."""
        self._added_bytes = 0
        self._removed_bytes = 0

    @property
    def size(self) -> int:
        """The bytes of all records."""
        return self._added_bytes - self._removed_bytes

    def add(self, record: EncodedRecord, size: int) -> None:
        """Appends a record of a size in bytes."""
        self._added_bytes += size
        self.records.append((record, size))
        self.received += 1

    def first(self, most: int) -> list[EncodedRecord]:
        """Returns the records of the next transaction, at most so many; none if they are abandoned."""
        batch: list[EncodedRecord] = []
        total = 0
        with self._lock:
            for index in range(0 if self.is_abandoned else min(most, len(self.records))):
                record, size = self.records[index]
                total += size
                if batch and total > _MOST_BYTES_IN_BATCH:
                    break
                batch.append(record)
            self._taken = len(batch)
        return batch

    def remove(self, count: int) -> None:
        """Removes the first records, which are written."""
        with self._lock:
            self._taken = 0
            for _ in range(count):
                _, size = self.records.popleft()
                self._removed_bytes += size
            self.removed += count

    def give_back(self) -> int:
        """Leaves what `first` returned for later; returns how many of them are lost, since all are abandoned."""
        with self._lock:
            self._taken = 0
            return self._drop() if self.is_abandoned else 0

    def abandon(self) -> int:
        """Removes the records that are not being written; returns how many."""
        with self._lock:
            self.is_abandoned = True
            return self._drop()

    def _drop(self) -> int:
        count = len(self.records) - self._taken
        for _ in range(count):
            self.records.pop()
        return count


def _is_state(error: Exception) -> bool:
    """Whether the database is the reason, and not what was to be written."""
    if isinstance(error, DatabaseError):
        return not isinstance(error, ConstraintError) and not (error.code or "").startswith(_OF_RECORDS)
    return isinstance(error, ConfigurationError | MissingExtraError | OSError)
