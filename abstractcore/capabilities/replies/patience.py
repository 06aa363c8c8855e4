"""`Patience`: ends waits in which nothing arrives for too long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ...errors import RequestTimeoutError
from ...ports import Runtime

T = TypeVar("T")


class Patience:
    """Waits for `seconds` at most without any sign of life; None for any time. `give_up` ends what is waited for."""

    def __init__(self, seconds: float | None, runtime: Runtime, give_up: Callable[[], object]) -> None:
        self._seconds = seconds
        self._runtime = runtime
        self._give_up = give_up
        self._latest = runtime.now()
        self._alarm_off: Callable[[], object] | None = None
        self._ended = False

    def touch(self) -> None:
        """Something arrived."""
        self._latest = self._runtime.now()

    async def wait_for(self, make: Callable[[], Awaitable[T]]) -> T:
        """Awaits `make()`; raises `RequestTimeoutError` if nothing arrives for too long."""
        if self._seconds is None:
            return await make()
        self.touch()
        self._set(self._seconds)
        try:
            return await make()
        except Exception:
            if self._ended:
                hint = "Allow more time with idle_timeout=SECONDS."
                message = f"neither text nor sound arrived for {self._seconds:g} s"
                raise RequestTimeoutError(message, hint=hint) from None
            raise
        finally:
            if self._alarm_off is not None:
                self._alarm_off()

    def _set(self, seconds: float) -> None:
        self._alarm_off = self._runtime.alarm(seconds, self._ring)

    def _ring(self) -> None:
        assert self._seconds is not None
        left = self._seconds - (self._runtime.now() - self._latest)
        if left > 0:
            self._set(left)
            return
        self._ended = True
        self._give_up()
