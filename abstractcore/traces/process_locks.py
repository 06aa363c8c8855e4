"""`ProcessLock`: a lock that a fork cannot leave locked."""

from __future__ import annotations

import os
import threading


class ProcessLock:
    """A lock of each process. A transaction waits while the process forks: the lock that its thread holds then would
    never be released in the child.
    """

    def __init__(self) -> None:
        self._locks: dict[int, threading.Lock] = {}

    def __enter__(self) -> None:
        process = os.getpid()
        (self._locks.get(process) or self._locks.setdefault(process, threading.Lock())).acquire()

    def __exit__(self, *error: object) -> None:
        self._locks[os.getpid()].release()
