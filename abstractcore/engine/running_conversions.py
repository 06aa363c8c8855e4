"""`RunningConversions`: the conversions that run in this process. One that is asked for again waits for the first."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from threading import Condition

from ..ports.interruptions import current_interruption, interruptible


class RunningConversions:
    """The conversions that run, by key."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._changed = Condition()

    @contextmanager
    def turn(self, key: str, seconds: float | None) -> Generator[bool]:
        """Waits until no other thread is in the body for this key, at most `seconds`, and runs the body; yields
        whether it waited. Raises `StreamInterruptedError` if the call is interrupted while it waits.
        """
        waited, begun = self._begin(key, seconds)
        try:
            yield waited
        finally:
            if begun:
                with self._changed:
                    self._keys.discard(key)
                    self._changed.notify_all()

    def _begin(self, key: str, seconds: float | None) -> tuple[bool, bool]:
        """Returns whether it waited, and whether the key is now this thread's: not after a wait that was too long."""
        interruption = current_interruption()
        with interruptible(self._wake), self._changed:
            waited = key in self._keys
            if waited:
                self._changed.wait_for(
                    lambda: key not in self._keys or (interruption is not None and interruption.is_set), seconds
                )
            if interruption is not None:
                interruption.check()
            is_free = key not in self._keys
            self._keys.add(key)
            return waited, is_free

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


_of_process: dict[int, RunningConversions] = {}
"""By process: a forked one has the keys of its parent, but not the threads that will remove them."""


def running_conversions() -> RunningConversions:
    """Returns the conversions that run in this process."""
    process = os.getpid()
    return _of_process.get(process) or _of_process.setdefault(process, RunningConversions())
