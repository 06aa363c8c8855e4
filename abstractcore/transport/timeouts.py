"""How long each step of an exchange may take, in httpx2's words."""

from __future__ import annotations

import time

CONNECT_SECONDS = 10.0
"""The longest wait for a connection."""
_LEAST_SECONDS = 0.001


def step_seconds(seconds: float) -> dict[str, float]:
    """`seconds` for each step; connecting has ten at most."""
    connect = min(seconds, CONNECT_SECONDS)
    return {"connect": connect, "read": seconds, "write": seconds, "pool": seconds}


class Timeouts(dict[str, float]):
    """httpx2's `timeout` extension for plain code, where all steps together have `seconds`.

    What `get` gives for a step is what is left when the step begins. httpx2's own streams wait that long for each read
    or write of the step; those of `SyncNetwork` look again before each of them: see `StepTimeout.left`.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(step_seconds(seconds))
        self.seconds = seconds
        self._due = time.monotonic() + seconds

    def get(self, step: str, default: object = None) -> StepTimeout:
        """Seconds for `step`, at least a thousandth: zero would mean something else to a socket."""
        return StepTimeout(max(_LEAST_SECONDS, min(self[step], self.left())), self)

    def left(self) -> float:
        """Seconds until all is to be over, negative afterwards."""
        return self._due - time.monotonic()

    def restart(self) -> None:
        """Count again from now, for the next read of a body."""
        self._due = time.monotonic() + self.seconds


class StepTimeout(float):
    """Seconds for one step, as they were at its beginning."""

    __slots__ = ("_timeouts",)
    _timeouts: Timeouts

    def __new__(cls, seconds: float, timeouts: Timeouts) -> StepTimeout:
        """`timeouts` knows the time of all steps together."""
        step = super().__new__(cls, seconds)
        step._timeouts = timeouts
        return step

    def left(self) -> float:
        """Seconds that one wait of this step may take now; raises `TimeoutError` if there are none left."""
        left = self._timeouts.left()
        if left <= 0:
            raise TimeoutError
        return min(left, self)


def seconds_left(timeout: float | None) -> float | None:
    """What is left of `timeout`, whoever made it; raises `TimeoutError`."""
    return timeout.left() if isinstance(timeout, StepTimeout) else timeout
