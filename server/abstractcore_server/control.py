"""`Control`: what a worker hears from the process that has started it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Protocol

from .settings import Settings

READY, STOP, ABORT = "ready", "stop", "abort"
"""What a worker reports when it answers, and how it is asked to end: after its requests, or at once."""


class Stoppable(Protocol):
    """A server that can be stopped."""

    def stop(self) -> None:
        """Stops when the requests have ended."""
        ...

    def abort(self) -> None:
        """Stops at once."""
        ...


class Control:
    """Stops a worker, and gives new settings to `reload`. It stops, too, when the process that started it has died."""

    def __init__(self, connection: Connection, reload: Callable[[Settings], None]) -> None:
        self._connection = connection
        self._reload = reload

    def attach(self, server: Stoppable) -> None:
        """Reports that the server answers; from then on it is controlled. Signals that were blocked arrive now."""
        asyncio.get_running_loop().add_reader(self._connection.fileno(), self._hear, server)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
        self._connection.send(READY)

    def _hear(self, server: Stoppable) -> None:
        try:
            message = self._connection.recv()
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(self._connection.fileno())
            message = STOP
        if isinstance(message, Settings):
            self._reload(message)
        elif message == ABORT:
            server.abort()
        else:
            server.stop()
