"""`IdleThreads`: daemon threads that are kept for a while after their work: starting one takes 100 us and more."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections import deque
from collections.abc import Callable

_IDLE_SECONDS = 5.0


class _Thread:
    """One thread, which waits for its next work."""

    def __init__(self) -> None:
        self.work: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()


class IdleThreads:
    """Runs each function in a daemon thread of its own at that time: an idle one, else a new one. There is no limit,
    so one that hangs blocks no other. Without locks, which a fork could leave locked forever; a child has no threads.
    """

    def __init__(self) -> None:
        self._idle: dict[int, deque[_Thread]] = {}

    def start(self, function: Callable[[], object]) -> None:
        """Calls the function in a thread; it must not raise. Raises `RuntimeError` if no thread can be started."""
        idle = self._idle.setdefault(os.getpid(), deque())
        try:
            thread = idle.pop()
        except IndexError:
            thread = _Thread()
            thread.work.put(function)
            threading.Thread(target=_run, args=(thread, idle), name="abstractcore-function", daemon=True).start()
        else:
            thread.work.put(function)


def _run(thread: _Thread, idle: deque[_Thread]) -> None:
    """Does the work of a thread, until there has been none for a while."""
    while True:
        try:
            function = thread.work.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            with contextlib.suppress(ValueError):
                idle.remove(thread)
                return
            continue  # it is given work at this moment
        function()
        del function
        idle.append(thread)


IDLE_THREADS = IdleThreads()
