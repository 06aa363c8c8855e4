"""Timeouts of the steps of an exchange, in httpx2's format."""

from __future__ import annotations

import time

CONNECT_SECONDS = 10.0
"""The maximum time for connecting."""
_LEAST_SECONDS = 0.001


def step_seconds(seconds: float) -> dict[str, float]:
    """Returns `seconds` for each step; connecting takes ten at most."""
    connect = min(seconds, CONNECT_SECONDS)
    return {"connect": connect, "read": seconds, "write": seconds, "pool": seconds}


class Timeouts(dict[str, float]):
    """httpx2's `timeout` extension for sync code, where `seconds` is the total of all steps.

    `get` returns the time left when a step begins. httpx2's own streams wait that long for each read or write of the
    step; those of `SyncNetwork` check the time before each of them: see `StepTimeout.left`.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(step_seconds(seconds))
        self.seconds = seconds
        self._due = time.monotonic() + seconds

    def get(self, step: str, default: object = None) -> StepTimeout:
        """Returns the seconds for `step`, at least 0.001: zero has another meaning for a socket."""
        return StepTimeout(max(_LEAST_SECONDS, min(self[step], self.left())), self)

    def left(self) -> float:
        """Returns the seconds until the deadline, negative after it."""
        return self._due - time.monotonic()

    def restart(self) -> None:
        """Starts the time again, for the next read of a body."""
        self._due = time.monotonic() + self.seconds


class StepTimeout(float):
    """The seconds for one step when it began."""

    __slots__ = ("_timeouts",)
    _timeouts: Timeouts

    def __new__(cls, seconds: float, timeouts: Timeouts) -> StepTimeout:
        """`timeouts` has the deadline of all steps."""
        step = super().__new__(cls, seconds)
        step._timeouts = timeouts
        return step

    def left(self) -> float:
        """Returns the seconds that a wait of this step may take now; raises `TimeoutError` if none are left."""
        left = self._timeouts.left()
        if left <= 0:
            raise TimeoutError
        return min(left, self)


def seconds_left(timeout: float | None) -> float | None:
    """Returns the seconds left of `timeout`; raises `TimeoutError` if none are left."""
    return timeout.left() if isinstance(timeout, StepTimeout) else timeout
