"""The clock of this machine."""

from __future__ import annotations

import asyncio
import threading
import time


class SystemClock:
    """The real time, in seconds."""

    def now(self) -> float:
        """On a clock that only goes forward."""
        return time.monotonic()

    def time_of_day(self) -> float:
        """Since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Block the thread."""
        time.sleep(seconds)

    def sleep_until(self, woken: threading.Event, seconds: float) -> None:
        """Block the thread until `woken` is set, `seconds` at most."""
        woken.wait(seconds)

    async def asleep(self, seconds: float) -> None:
        """Let other tasks run meanwhile."""
        await asyncio.sleep(seconds)
