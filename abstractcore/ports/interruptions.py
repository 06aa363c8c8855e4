"""`Interruption`: ends the waits of a call from another thread or task."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from ..errors import StreamInterruptedError

_log = logging.getLogger("abstractcore")


class Interruption:
    """A flag that is set once, from any thread. Waits of the call register functions that end them."""

    def __init__(self) -> None:
        self.is_set = False
        self._ends: list[Callable[[], object]] = []
        # Reentrant: a thread that ends a wait may garbage-collect another stream.
        self._lock = threading.RLock()

    def set(self) -> None:
        """Ends current waits, and prevents further ones."""
        with self._lock:
            if self.is_set:
                return
            self.is_set = True
            for end in tuple(self._ends):
                try:
                    end()
                except Exception:
                    _log.exception("ending a wait failed")

    def check(self) -> None:
        """Raises `StreamInterruptedError` if it is set."""
        if self.is_set:
            raise StreamInterruptedError("this stream was closed while it was read")

    @contextmanager
    def ending(self, end: Callable[[], object]) -> Generator[None]:
        """Wraps a wait. `end` ends the wait; it may be called from any thread, and is not called after the wait."""
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
        """Makes `current_interruption` return this one in its body, and in copies of its context. The interruption of
        a call around this one sets it too."""
        with interruptible(self.set):
            token = _current.set(self)
            try:
                yield
            finally:
                _current.reset(token)


_current: ContextVar[Interruption | None] = ContextVar("abstractcore_interruption", default=None)


_NOTHING = nullcontext()


def interruptible(end: Callable[[], object]) -> AbstractContextManager[None]:
    """Wraps a wait. `end`, which may be called from any thread, ends it if the current call is interrupted."""
    interruption = _current.get()
    return _NOTHING if interruption is None else interruption.ending(end)


def current_interruption() -> Interruption | None:
    """Returns the interruption of the current call, or None."""
    return _current.get()
