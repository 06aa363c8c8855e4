"""`native_call`: work in native code that the end of the program waits for.

Calls that are cancelled leave a daemon thread behind. One that comes back from C++ after the interpreter has ended
would abort the process (https://docs.python.org/3.11/c-api/init.html#c.PyEval_RestoreThread).
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from ..errors import MediaError

_END_SECONDS: Final = 30.0


class NativeCalls:
    """The native calls of a process. A forked child begins without any; no lock could be left locked by a fork."""

    def __init__(self) -> None:
        self._running: dict[threading.Event, tuple[int, Callable[[], object] | None]] = {}
        self._has_ended = False

    @contextmanager
    def running(self, source: str, stop: Callable[[], object] | None = None) -> Generator[None]:
        """Wraps a call. `stop` makes it return early, from another thread; its errors are then those of the end.

        Raises `MediaError`, which names `source`, once the program ends.
        """
        done = threading.Event()
        self._running[done] = os.getpid(), stop
        try:
            self._check(source)
            yield
        except Exception:
            self._check(source)
            raise
        finally:
            del self._running[done]
            done.set()

    def end(self, seconds: float = _END_SECONDS) -> None:
        """Stops all calls that can be stopped, and waits for all for some seconds; later ones fail."""
        self._has_ended = True
        latest = time.monotonic() + seconds
        running = [(done, stop) for done, (process, stop) in tuple(self._running.items()) if process == os.getpid()]
        for _, stop in running:
            if stop is not None:
                stop()
        for done, _ in running:
            done.wait(max(latest - time.monotonic(), 0))

    def _check(self, source: str) -> None:
        if self._has_ended:
            raise MediaError(f"{source} was not processed, since the program ends.", source=source)


_calls = NativeCalls()
atexit.register(_calls.end)
native_call = _calls.running
