"""Work that can wait, done in order in a thread of its own, many pieces at a time."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from .awaiting import AwaitableRunner

_GATHERING_SECONDS = 0.05
"""Waking a thread for every piece costs the process more than a small piece does: it begins this long after the
first."""
_log = logging.getLogger("abstractcore")


class BackgroundWorker:
    """One daemon thread. A piece of work is a function; what it gives may be awaitable, what it raises is logged."""

    def __init__(self, name: str) -> None:
        self._work: deque[Callable[[], object] | None] = deque()
        self._some = threading.Event()
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Whether it is the work in it that asks."""
        return threading.current_thread() is self._thread

    @property
    def waiting(self) -> int:
        """How many pieces are still to be begun."""
        return len(self._work)

    def put(self, piece: Callable[[], object]) -> None:
        """Have `piece` done soon. Returns at once."""
        self._work.append(piece)
        if not self._some.is_set():
            self._some.set()

    def flush(self, timeout: float | None) -> bool:
        """Wait until all pieces so far are done, `timeout` seconds at most; whether they are. Work in it does not wait
        for itself."""
        if self.is_current:
            return not self._work
        reached = threading.Event()
        self._work.append(reached.set)
        self._wake()
        return reached.wait(timeout)

    def stop(self) -> None:
        """End the thread after what is waiting. Returns at once."""
        self._work.append(None)
        self._wake()

    def _wake(self) -> None:
        self._hurry.set()
        self._some.set()

    def _run(self) -> None:
        with AwaitableRunner() as runner:
            while True:
                self._some.wait()
                self._hurry.wait(_GATHERING_SECONDS)
                self._some.clear()
                self._hurry.clear()
                while self._work:
                    piece = self._work.popleft()
                    if piece is None:
                        return
                    try:
                        runner.finish(piece())
                    except BaseException:
                        _log.exception("work in the background failed")
