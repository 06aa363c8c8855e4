"""`PerProcess`: values that hold locks and threads, which a forked process cannot use."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A value that each process makes for itself, on first use.

    A forked process has a copy of every lock, but not of the threads that hold them. The value of its parent stays in
    memory: ending it may wait for such threads.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: dict[int, T] = {}

    def get(self) -> T:
        """Returns the value of this process."""
        process = os.getpid()
        found = self._values.get(process)
        return found if found is not None else self._values.setdefault(process, self._make())
