"""Ending what a call waits for from another thread or task."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from ..errors import StreamInterruptedError

_log = logging.getLogger("abstractcore")


class Interruption:
    """Set once, from any thread. Whatever waits on behalf of the call says meanwhile how its wait is ended."""

    def __init__(self) -> None:
        self.is_set = False
        self._ends: list[Callable[[], object]] = []
        # Reentrant: a thread that ends a wait may collect another stream.
        self._lock = threading.RLock()

    def set(self) -> None:
        """End what is waited for now, and let nothing more be waited for."""
        with self._lock:
            self.is_set = True
            for end in tuple(self._ends):
                try:
                    end()
                except Exception:
                    _log.exception("a wait could not be ended")

    def check(self) -> None:
        """Raise `StreamInterruptedError` if it is set."""
        if self.is_set:
            raise StreamInterruptedError("this stream was closed while it was read")

    @contextmanager
    def ending(self, end: Callable[[], object]) -> Generator[None]:
        """A wait that `end`, called from any thread, ends. It is not called after the wait."""
        with self._lock:
            self._ends.append(end)
            if self.is_set:
                end()
        try:
            yield
        finally:
            with self._lock:
                self._ends.remove(end)

    @contextmanager
    def of_this_call(self) -> Generator[None]:
        """What runs inside, in this context and in copies of it, finds it with `current_interruption`."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)


_current: ContextVar[Interruption | None] = ContextVar("abstractcore_interruption", default=None)


_NOTHING = nullcontext()


def interruptible(end: Callable[[], object]) -> AbstractContextManager[None]:
    """A wait that `end`, called from any thread, ends if the call that is being made is interrupted."""
    interruption = _current.get()
    return _NOTHING if interruption is None else interruption.ending(end)


def current_interruption() -> Interruption | None:
    """The one of the call that is being made; None where no call can be interrupted."""
    return _current.get()
