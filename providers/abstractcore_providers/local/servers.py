"""`ServerPool`: the child processes that run models, shared by calls with the same weights and settings."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Hashable

from .process import ModelProcess, ServerKey
from .slots import SlotLease, Slots

START_LIMIT = 120.0
"""The maximum loading time of a model in seconds."""
MOST_PROCESSES = 4
"""Each has weights and a context in memory. There may be more while they answer calls."""
IDLE_SECONDS = 300.0
"""The idle timeout of a model: as Ollama's default `keep_alive`."""


class ServerPool:
    """Starts child processes on demand. An idle one is ended when its last user is removed, after `idle_seconds`, or
    while there are more than `most`. All are ended with the pool, at the latest when the interpreter exits.

    A forked process starts its own children; it neither uses nor ends those of its parent.
    """

    def __init__(
        self, start_limit: float = START_LIMIT, most: int = MOST_PROCESSES, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._slots = Slots(start_limit, most, idle_seconds)
        self._users = itertools.count()
        weakref.finalize(self, self._slots.end_all)
        _all_slots.add(self._slots)

    def add_user(self, owner: object) -> Hashable:
        """Returns a new user, who keeps the children that it leases alive until `remove_user`, or until `owner` is
        garbage-collected."""
        user = next(self._users)
        weakref.finalize(owner, self._slots.note_removed, user).atexit = False
        return user

    def remove_user(self, user: Hashable) -> None:
        """Ends the children without other users, after their running calls."""
        self._slots.remove_user(user)

    def lease(self, key: ServerKey, user: Hashable) -> SlotLease | None:
        """Returns a lease on the child for `key`, for one call; None if it is not running."""
        return self._slots.lease(key, user)

    def start(self, key: ServerKey, user: Hashable, alias: str) -> SlotLease:
        """As `lease`, but starts the child if necessary; blocks. `alias` is the model's name in replies."""
        return self._slots.start(key, user, alias)

    def processes(self) -> list[ModelProcess]:
        """Returns the running children."""
        return self._slots.processes()

    def close(self) -> None:
        """Ends all children, including busy ones. The pool can be used again."""
        self._slots.end_all()


def _forget_after_fork() -> None:
    for slots in _all_slots:
        slots.forget()


_all_slots: weakref.WeakSet[Slots] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
