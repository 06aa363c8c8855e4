"""The processes of a `ProcessPool`: which are idle, and when a further one may be started."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from ..ports import current_interruption, interruptible
from .child_processes import ChildProcess
from .pipe_messages import encoded

_WORKER = "abstractcore.concurrency.pool_worker"
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Threads of libraries reserve address space, which is limited."""
_PATIENCE = 2.0
"""Seconds without a change after which there is one process more than cores."""


class Processes:
    """The processes that one process has started, by its id: a forked child starts with none.

    `room` has an item for each process that may be started at once. It has no locks: a dropped generator gives its
    process back from any thread at any time.
    """

    def __init__(self) -> None:
        self.workers: set[Worker] = set()
        self.room = deque(range(os.cpu_count() or 1))
        self._idle: deque[Worker] = deque()
        self._waiting: set[SimpleQueue[None]] = set()
        """A queue for each thread that waits; it gets an item when something has changed."""

    def take(self, seconds_left: Callable[[], float | None]) -> Worker | None:
        """Waits for an idle process; returns None if one may be started: one for each core, and one more if none is
        started or given back for a while. Raises what `seconds_left` does, and `StreamInterruptedError`.
        """
        changes: SimpleQueue[None] = SimpleQueue()
        self._waiting.add(changes)
        try:
            with interruptible(lambda: changes.put(None)):
                while True:
                    if (interruption := current_interruption()) is not None:
                        interruption.check()
                    left = seconds_left()
                    if (worker := self._idle_one()) is not None or self.room:
                        return worker
                    wait = _PATIENCE if left is None else min(_PATIENCE, left)
                    try:
                        changes.get(timeout=wait)
                    except Empty:
                        if wait == _PATIENCE:
                            return None
        finally:
            self._waiting.discard(changes)

    def give_back(self, worker: Worker) -> None:
        """Makes a process idle."""
        worker.is_used = worker.is_idle = True
        self._idle.append(worker)
        self.notify()

    def end(self, worker: Worker) -> None:
        """Ends a process of these, which makes room for another; does nothing for one that has been ended."""
        if worker in self.workers:  # not one of the process that was forked
            worker.child.end()
            self.workers.discard(worker)
            room, worker.room = worker.room, []
            self.room.extend(room)
            self.notify()

    def end_idle(self) -> None:
        """Ends all idle processes."""
        while (worker := self._idle_one()) is not None:
            self.end(worker)

    def notify(self) -> None:
        """Wakes the threads that wait: a process was started, given back or ended."""
        for changes in tuple(self._waiting):
            changes.put(None)

    def _idle_one(self) -> Worker | None:
        with suppress(IndexError):
            worker = self._idle.pop()
            worker.is_idle = False
            return worker
        return None


class Worker:
    """A process of the pool. If it exits while it is idle, it is ended here, else by the thread that uses it.

    `room` is given back at its end.
    """

    def __init__(self, settings: tuple[int, float], end: Callable[[Worker], None], room: list[int]) -> None:
        self.room = room
        self.is_used = self.is_idle = self.is_closed = self.has_exited = False
        self._end = end
        self.child = ChildProcess(_WORKER, environment=_ENVIRONMENT, on_exit=self._exit)
        self.child.send(encoded(settings))

    def _exit(self) -> None:
        self.has_exited = True
        if self.is_idle:
            self._end(self)
