"""Waits of sync calls for futures, which the interruption of the call ends."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from ..ports import current_interruption, interruptible


def wait_for(works: Sequence[Future[Any]], seconds: float | None) -> bool:
    """Waits until all `works` have ended, or one has failed; returns False if that takes more than `seconds`.

    Raises `StreamInterruptedError` when the call is interrupted.
    """
    due = None if seconds is None else time.monotonic() + seconds
    ended: queue.SimpleQueue[Future[Any] | None] = queue.SimpleQueue()
    for work in works:
        work.add_done_callback(ended.put)
    with interruptible(lambda: ended.put(None)):
        for _ in works:
            try:
                work = ended.get(timeout=None if due is None else _positive(due - time.monotonic()))
            except queue.Empty:
                return False
            if work is None:
                break
            if work.cancelled() or work.exception() is not None:
                return True
        else:
            return True
    interruption = current_interruption()
    assert interruption is not None
    interruption.check()
    return False


def _positive(seconds: float) -> float:
    return min(max(seconds, 0.0), threading.TIMEOUT_MAX)
