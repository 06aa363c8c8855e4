"""`StopCheck`: ends long work of a call that was cancelled or has no time left."""

from __future__ import annotations

import time

from abstractcore.errors import MediaError
from abstractcore.ports import current_interruption


class StopCheck:
    """Call it in long loops. `timeout` is in seconds from now; None for no limit."""

    def __init__(self, source: str, timeout: float | None) -> None:
        self._source = source
        self._deadline = None if timeout is None else time.monotonic() + timeout

    @property
    def seconds_left(self) -> float | None:
        """The time that is left, more than 0; None for no limit."""
        return None if self._deadline is None else max(0.001, self._deadline - time.monotonic())

    def __call__(self) -> None:
        """Raises `StreamInterruptedError` in a cancelled call, `MediaError` when the time is over."""
        if (interruption := current_interruption()) is not None:
            interruption.check()
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise MediaError(
                f"{self._source} could not be read within the time limit of the call.",
                source=self._source,
                hint="Raise the option timeout, or send a part of it: File(..., start=0, end=600).",
            )
