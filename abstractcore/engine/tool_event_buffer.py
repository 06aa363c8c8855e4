"""`ToolEventBuffer`: the events of running tools, until the reader of a stream takes them."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from ..schema import ToolEnded, ToolEvent, ToolProgress

MOST_PROGRESS: Final = 100
"""How many events of progress are kept for each call until they are read."""


class ToolEventBuffer:
    """Keeps events in order. Tools put them from any thread, and never wait for the reader.

    Of the progress of a call, the newest `MOST_PROGRESS` events are kept; the first of those that are read has the
    number of the older ones in `dropped`. Progress after the end of its call, and events after `fill` has ended, are
    ignored.
    """

    def __init__(self) -> None:
        # Reentrant: a thread that puts an event may garbage-collect another stream.
        self._lock = threading.RLock()
        self._events: dict[int, ToolEvent] = {}
        self._next = 0
        self._progress: defaultdict[str, deque[int]] = defaultdict(deque)
        self._dropped: defaultdict[str, int] = defaultdict(int)
        self._ended: set[str] = set()
        self._is_open = True

    async def fill(
        self, wake: Callable[[None], object], run: Callable[[Callable[[ToolEvent], object]], Awaitable[None]]
    ) -> None:
        """Awaits `run` with the function that puts an event. `wake` is called when there are events to take."""

        def put(event: ToolEvent) -> None:
            with self._lock:
                is_first = not self._events
                if self._added(event) and is_first:
                    wake(None)

        try:
            await run(put)
        finally:
            with self._lock:
                self._is_open = False

    def take(self) -> list[ToolEvent]:
        """Returns the events since the last time, in order."""
        with self._lock:
            for call_id, number in self._dropped.items():
                first = self._progress[call_id][0]
                event = self._events[first]
                assert isinstance(event, ToolProgress)
                self._events[first] = replace(event, dropped=number)
            events = [*self._events.values()]
            for kept in (self._events, self._progress, self._dropped):
                kept.clear()
            return events

    def _added(self, event: ToolEvent) -> bool:
        """Adds an event unless it comes too late; returns whether it did."""
        if not self._is_open or (isinstance(event, ToolProgress) and event.call.id in self._ended):
            return False
        if isinstance(event, ToolProgress):
            numbers = self._progress[event.call.id]
            numbers.append(self._next)
            if len(numbers) > MOST_PROGRESS:
                del self._events[numbers.popleft()]
                self._dropped[event.call.id] += 1
        elif isinstance(event, ToolEnded):
            self._ended.add(event.step.call.id)
        self._events[self._next] = event
        self._next += 1
        return True
