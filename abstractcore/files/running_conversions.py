"""`RunningConversions`: the conversions that run in this process. One that is asked for again waits for the first."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from threading import Condition

from ..ports.interruptions import current_interruption, interruptible


class RunningConversions:
    """The conversions that run, by key."""

    def __init__(self) -> None:
        self._runs: dict[str, object] = {}
        self._changed = Condition()

    @contextmanager
    def turn(self, key: str, seconds: float | None) -> Generator[bool]:
        """Waits until no other thread is in the body for this key, at most `seconds`, and runs the body; yields
        whether it waited. Others do not wait for a body whose call is interrupted: it may hang.

        Raises `StreamInterruptedError` if the call is interrupted while it waits.
        """
        run = object()
        waited = self._begin(key, run, seconds)
        end = partial(self._end, key, run)
        try:
            with interruptible(end):
                yield waited
        finally:
            end()

    def _begin(self, key: str, run: object, seconds: float | None) -> bool:
        """Returns whether it waited. After a wait that was too long, the run of the other thread stays the one that
        further threads wait for.
        """
        interruption = current_interruption()
        with interruptible(self._wake), self._changed:
            waited = key in self._runs
            if waited:
                self._changed.wait_for(
                    lambda: key not in self._runs or (interruption is not None and interruption.is_set), seconds
                )
            if interruption is not None:
                interruption.check()
            self._runs.setdefault(key, run)
            return waited

    def _end(self, key: str, run: object) -> None:
        with self._changed:
            if self._runs.get(key) is run:
                del self._runs[key]
                self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


_of_process: dict[int, RunningConversions] = {}
"""By process: a forked one has the keys of its parent, but not the threads that will remove them."""


def running_conversions() -> RunningConversions:
    """Returns the conversions that run in this process."""
    process = os.getpid()
    return _of_process.get(process) or _of_process.setdefault(process, RunningConversions())
