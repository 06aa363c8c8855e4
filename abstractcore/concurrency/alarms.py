"""Functions to be called at a given time, for code that has no event loop."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

_TICK_SECONDS = 0.05
"""How late an alarm may ring."""
_log = logging.getLogger("abstractcore")


class Alarm:
    """One function to be called once, unless it is called off before."""

    __slots__ = ("due", "ring")

    def __init__(self, due: float, ring: Callable[[], object]) -> None:
        self.due = due
        self.ring = ring


class AlarmClock:
    """Looks at its alarms in one daemon thread, which is there only while there are any.

    Setting an alarm so costs far less than a thread for each, and wakes none. There are no locks, which a fork could
    leave locked for ever; a forked child begins without alarms.
    """

    def __init__(self) -> None:
        self._alarms: dict[int, set[Alarm]] = {}
        self._watched: set[int] = set()

    def set(self, seconds: float, ring: Callable[[], object]) -> Callable[[], object]:
        """Have `ring` called after `seconds`; gives the function that calls it off."""
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
        except RuntimeError as error:  # as when the program is ending
            self._watched.discard(process)
            _log.warning("alarms do not ring: %s", error)

    def _watch(self, process: int, alarms: set[Alarm]) -> None:
        while True:
            time.sleep(_TICK_SECONDS)
            _ring(alarms)
            if alarms:
                continue
            self._watched.discard(process)
            if not alarms or process in self._watched:
                return
            self._watched.add(process)  # one was set before this thread was seen to end


def _ring(alarms: set[Alarm]) -> None:
    now = time.monotonic()
    for alarm in [each for each in tuple(alarms) if each.due <= now]:
        alarms.discard(alarm)
        try:
            alarm.ring()
        except Exception:
            _log.exception("an alarm failed")
