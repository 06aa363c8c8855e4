"""`SystemClock`: the clock of this machine."""

from __future__ import annotations

import threading
import time


class SystemClock:
    """The real time, in seconds; blocks for sleeps."""

    now = staticmethod(time.monotonic)
    """Returns seconds on a monotonic clock."""

    def time_of_day(self) -> float:
        """Returns seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Blocks the thread for `seconds`."""
        time.sleep(seconds)

    def sleep_until(self, woken: threading.Event, seconds: float) -> None:
        """Blocks the thread until `woken` is set, for `seconds` at most."""
        woken.wait(seconds)

    async def asleep(self, seconds: float) -> None:
        """Sleeps for `seconds` without blocking the event loop."""
        import asyncio

        await asyncio.sleep(seconds)
