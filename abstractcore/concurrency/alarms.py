"""Alarms: functions to call after a delay, for code without an event loop."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

_TICK_SECONDS = 0.05
"""The maximum delay of an alarm."""
_log = logging.getLogger("abstractcore")


class Alarm:
    """A function to call once, unless it is cancelled before."""

    __slots__ = ("due", "ring")

    def __init__(self, due: float, ring: Callable[[], object]) -> None:
        self.due = due
        self.ring = ring


class AlarmClock:
    """Runs alarms in one daemon thread, which lives only while there are any.

    Setting an alarm costs far less than a thread for each, and wakes no thread. It has no locks, which a fork could
    leave locked forever; a forked child starts without alarms.
    """

    def __init__(self) -> None:
        self._alarms: dict[int, set[Alarm]] = {}
        self._watched: set[int] = set()

    def set(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Calls `ring` after `seconds`; returns a function that cancels the alarm."""
        process = os.getpid()
        alarms = self._alarms.get(process) or self._alarms.setdefault(process, set())
        alarm = Alarm(time.monotonic() + seconds, ring)
        alarms.add(alarm)
        if process not in self._watched:
            self._begin(process, alarms)
        return lambda: alarms.discard(alarm)

    def _begin(self, process: int, alarms: set[Alarm]) -> None:
        self._watched.add(process)
        thread = threading.Thread(target=self._watch, args=(process, alarms), name="abstractcore-alarms", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the interpreter is shutting down
            self._watched.discard(process)
            _log.warning("alarms cannot run: %s", error)

    def _watch(self, process: int, alarms: set[Alarm]) -> None:
        while True:
            time.sleep(_TICK_SECONDS)
            _ring(alarms)
            if alarms:
                continue
            self._watched.discard(process)
            if not alarms or process in self._watched:
                return
            self._watched.add(process)  # an alarm was set while this thread ended


def _ring(alarms: set[Alarm]) -> None:
    now = time.monotonic()
    for alarm in [each for each in tuple(alarms) if each.due <= now]:
        alarms.discard(alarm)
        try:
            alarm.ring()
        except Exception:
            _log.exception("an alarm failed")
