"""`Room`: how far speech may be made ahead of what is read."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from ...ports import Runtime


class Room:
    """Room for `seconds` of speech that is made and not yet read. For one maker and one reader, in any thread."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ahead = 0.0
        self._waiting: Future[None] | None = None
        self._is_open = False
        self._lock = threading.Lock()

    async def fill(self, seconds: float, runtime: Runtime) -> None:
        """Adds what was made, and waits until there is room again."""
        with self._lock:
            self._ahead += seconds
            if self._ahead <= self._seconds or self._is_open:
                return
            waiting = self._waiting = Future[None]()
        await runtime.wait(waiting)

    def take(self, seconds: float) -> None:
        """Makes room for what was read."""
        with self._lock:
            self._ahead -= seconds
            if self._ahead <= self._seconds:
                self._wake()

    def open(self) -> None:
        """Ends all waits."""
        with self._lock:
            self._is_open = True
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.set_result(None)
