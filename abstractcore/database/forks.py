"""`Transactions`: those of this process, and a fork that no connection outlives."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Transactions:
    """Counts the transactions of this process. Before a fork it waits for their end, and calls `before_fork`, which
    close connections.

    A forked process that used a connection to SQLite would have no locks, though its SQLite has noted some; one that
    used a connection to a server would share it.

    Connections that nobody can use any more are closed: Python would warn of them, and nothing would before a fork.
    """

    def __init__(self, disconnect: Callable[[], None]) -> None:
        self.before_fork = [disconnect]
        self._disconnect = disconnect
        self._running = 0
        self._changed = threading.Condition()
        with _forking:
            _all.add(self)

    def begin(self) -> None:
        """Counts a transaction, which lasts until `end`."""
        with self._changed:
            self._running += 1

    def end(self) -> None:
        """Notes the end of a transaction."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    @contextmanager
    def counted(self) -> Generator[None]:
        """Counts one transaction during `with`."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def disconnect(self) -> None:
        """Closes the connections that no transaction uses. No fork happens meanwhile."""
        with self.counted():
            self._disconnect()

    def __del__(self) -> None:
        # It waits for nothing: the thread, which may collect garbage anywhere, may hold any lock.
        if self._changed.acquire(blocking=False):  # else a fork begins, for which they are closed anyway
            try:
                self._disconnect()
            finally:
                self._changed.release()

    def pause(self) -> None:
        """Lets no transaction begin before `go_on`."""
        self._changed.acquire()
        self._changed.wait_for(lambda: not self._running)
        for disconnect in [*self.before_fork]:
            disconnect()

    def go_on(self) -> None:
        """Lets transactions begin again."""
        self._changed.release()


_all: weakref.WeakSet[Transactions] = weakref.WeakSet()
_forking = threading.Lock()
"""Held during a fork."""
_paused: list[Transactions] = []


def _pause() -> None:
    _forking.acquire()
    _paused.extend(_all)
    for transactions in _paused:
        transactions.pause()


def _go_on() -> None:
    for transactions in _paused:
        transactions.go_on()
    _paused.clear()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_pause, after_in_parent=_go_on, after_in_child=_go_on)
