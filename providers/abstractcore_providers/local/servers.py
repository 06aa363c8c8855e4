"""The children of this process that run models: one for the same weights and settings, new ones for dead ones."""

from __future__ import annotations

import os
import threading
import weakref

from .process import ModelProcess, ServerKey

START_LIMIT = 120.0
"""Seconds a model may take to load."""


class ServerPool:
    """Starts children when they are needed and ends them with the pool, at the latest when the interpreter exits.

    A process made by `os.fork` starts its own; it neither uses nor ends those of its parent.
    """

    def __init__(self, start_limit: float = START_LIMIT) -> None:
        self._start_limit = start_limit
        self._servers: dict[ServerKey, ModelProcess] = {}
        self._locks: dict[ServerKey, threading.Lock] = {}
        self._lock = threading.Lock()
        self._finalizer = weakref.finalize(self, _end_all, self._servers)
        _pools.add(self)

    def ensure(self, key: ServerKey, alias: str) -> ModelProcess:
        """The live child for `key`, started if need be; blocks. `alias` is what replies call the model."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            server = self._servers.get(key)
            if server is None or not server.alive():
                if server is not None:
                    server.end()
                server = self._servers[key] = ModelProcess.start(key, alias, self._start_limit)
            return server

    def close(self) -> None:
        """End all children. The pool can be used again."""
        _end_all(self._servers)

    def forget(self) -> None:
        """In a forked process: let go of the parent's children and of locks its other threads may hold."""
        self._lock = threading.Lock()
        self._locks.clear()
        for server in self._servers.values():
            server.abandon()
        self._servers.clear()


def _end_all(servers: dict[ServerKey, ModelProcess]) -> None:
    while servers:
        servers.popitem()[1].end()


def _forget_after_fork() -> None:
    for pool in _pools:
        pool.forget()


_pools: weakref.WeakSet[ServerPool] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
