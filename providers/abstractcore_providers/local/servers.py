"""The children of this process that run models: one for the same weights and settings, as long as it is of use."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Hashable

from .process import ModelProcess, ServerKey
from .slots import Lease, Slots

START_LIMIT = 120.0
"""Seconds a model may take to load."""
MOST_PROCESSES = 4
"""Each has weights and a context in memory. Those that are answering a call may be more."""
IDLE_SECONDS = 300.0
"""How long a model stays in memory that nobody asks anything: as Ollama's default `keep_alive`."""


class ServerPool:
    """Starts children when they are needed. One that answers no call is ended when its last user is gone, when it was
    idle for `idle_seconds`, or while there are more than `most`. All are ended with the pool, at the latest when the
    interpreter exits.

    A process made by `os.fork` starts its own; it neither uses nor ends those of its parent.
    """

    def __init__(
        self, start_limit: float = START_LIMIT, most: int = MOST_PROCESSES, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._slots = Slots(start_limit, most, idle_seconds)
        self._users = itertools.count()
        weakref.finalize(self, self._slots.end_all)
        _all_slots.add(self._slots)

    def add_user(self, owner: object) -> Hashable:
        """A user of the children that it leases: until `remove_user`, and no longer than `owner` is there."""
        user = next(self._users)
        weakref.finalize(owner, self._slots.note_removed, user).atexit = False
        return user

    def remove_user(self, user: Hashable) -> None:
        """End the children that nobody else uses, those that are answering after that."""
        self._slots.remove_user(user)

    def lease(self, key: ServerKey, user: Hashable) -> Lease | None:
        """The child for `key`, for one call; None if it is not running."""
        return self._slots.lease(key, user)

    def start(self, key: ServerKey, user: Hashable, alias: str) -> Lease:
        """As `lease`, started if need be; blocks. `alias` is what replies call the model."""
        return self._slots.start(key, user, alias)

    def processes(self) -> list[ModelProcess]:
        """The children that are of use."""
        return self._slots.processes()

    def close(self) -> None:
        """End all children, whatever they do. The pool can be used again."""
        self._slots.end_all()


def _forget_after_fork() -> None:
    for slots in _all_slots:
        slots.forget()


_all_slots: weakref.WeakSet[Slots] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
