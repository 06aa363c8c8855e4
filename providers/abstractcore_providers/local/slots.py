"""`Slots`: tracks child processes, their users and running calls, and ends those that are no longer needed."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from .process import ModelProcess, ServerKey


class SlotLease:
    """The use of a child by one call, until `release`; a dropped lease is released."""

    def __init__(self, process: ModelProcess, end: Callable[[], None]) -> None:
        self.process = process
        self._end: Callable[[], None] | None = end

    def release(self) -> None:
        """Ends the lease, when the call has ended. May be called again."""
        end, self._end = self._end, None
        if end is not None:
            end()

    __del__ = release


@dataclass(eq=False)
class _Slot:
    """The slot of one child. It keeps its users while the child is not running."""

    starting: threading.Lock = field(default_factory=threading.Lock)
    process: ModelProcess | None = None
    users: set[Hashable] = field(default_factory=set[Hashable])
    calls: int = 0
    last_used: float = 0.0

    def end_call(self) -> None:
        self.calls -= 1
        self.last_used = time.monotonic()

    def take(self) -> ModelProcess | None:
        process, self.process = self.process, None
        return process


class Slots:
    """Ends idle children without users, after `idle_seconds`, or, least recently used first, while there are more than
    `most`.

    Finalizers communicate through a queue without locks: they may run in any thread at any time.
    """

    def __init__(self, start_limit: float, most: int, idle_seconds: float) -> None:
        self._start_limit = start_limit
        self._most = most
        self._idle_seconds = idle_seconds
        self._slots: dict[ServerKey, _Slot] = {}
        self._begin()

    def lease(self, key: ServerKey, user: Hashable) -> SlotLease | None:
        """Returns a lease on the child for `key`; None if it is not running."""
        with self._settled():
            slot = self._slots.get(key)
            if slot is None or slot.process is None or not slot.process.alive():
                return None
            return self._lease(self._call_of(slot, user), slot.process)

    def start(self, key: ServerKey, user: Hashable, alias: str) -> SlotLease:
        """Returns a lease on the child for `key`; of several concurrent threads, one starts it if necessary."""
        with self._settled():
            slot = self._call_of(self._slots.setdefault(key, _Slot()), user)
        try:
            with slot.starting:
                process = slot.process
                if process is None or not process.alive():
                    if process is not None:
                        process.end()
                    process = slot.process = ModelProcess.start(key, alias, self._start_limit)
        except BaseException:
            self.note(slot.end_call)
            raise
        self._watch()
        return self._lease(slot, process)

    def remove_user(self, user: Hashable) -> None:
        """Removes a user, who makes no more calls."""
        with self._settled():
            self._remove(user)

    def note_removed(self, user: Hashable) -> None:
        """As `remove_user`, from a finalizer."""
        self.note(partial(self._remove, user))

    def note(self, news: Callable[[], None]) -> None:
        """Queues `news` to be called soon, with the lock held."""
        self._news.put(news)

    def processes(self) -> list[ModelProcess]:
        """Returns the running children."""
        with self._settled():
            pass
        with self._lock:
            return [slot.process for slot in self._slots.values() if slot.process is not None]

    def end_all(self) -> None:
        """Ends all children, including busy ones."""
        with self._lock:
            taken = [slot.take() for slot in self._slots.values()]
        for process in taken:
            if process is not None:
                process.end()
        self.note(_nothing)  # wakes the watching thread, which then ends

    def forget(self) -> None:
        """In a forked process: leaves the children to the parent."""
        for slot in self._slots.values():
            if slot.process is not None:
                slot.process.abandon()
        self._slots.clear()
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.RLock()  # a pool's finalizer may run in a thread that holds it
        self._news: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._watched = False

    def _call_of(self, slot: _Slot, user: Hashable) -> _Slot:
        slot.users.add(user)
        slot.calls += 1
        return slot

    def _lease(self, slot: _Slot, process: ModelProcess) -> SlotLease:
        return SlotLease(process, partial(self.note, slot.end_call))

    def _remove(self, user: Hashable) -> None:
        for slot in self._slots.values():
            slot.users.discard(user)

    @contextmanager
    def _settled(self) -> Generator[None]:
        """Holds the lock, after processing all news. Children that are no longer needed end afterwards, unlocked."""
        with self._lock:
            with suppress(queue.Empty):
                while True:
                    self._news.get_nowait()()
            yield
            useless = self._take_useless()
        for process in useless:
            process.end()

    def _take_useless(self) -> list[ModelProcess]:
        there = [slot for slot in self._slots.values() if slot.process is not None or slot.calls]
        resting = sorted((slot for slot in there if not slot.calls), key=lambda slot: slot.last_used)
        too_many = len(there) - self._most
        long_ago = time.monotonic() - self._idle_seconds
        useless = [
            slot for n, slot in enumerate(resting) if n < too_many or not slot.users or slot.last_used <= long_ago
        ]
        taken = [slot.take() for slot in useless]
        for key in [key for key, slot in self._slots.items() if not (slot.process or slot.calls or slot.users)]:
            del self._slots[key]
        return [process for process in taken if process is not None]

    def _watch(self) -> None:
        """Starts a thread that ends children when they are no longer needed; it runs while there are children."""
        with self._lock:
            if self._watched:
                return
            self._watched = True
        thread = threading.Thread(target=self._end_useless, name="abstractcore-local-models", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is shutting down
            self._watched = False

    def _end_useless(self) -> None:
        news = self._news
        while self._watched:
            with suppress(queue.Empty):
                self._news.put(news.get(timeout=self._idle_seconds / 4))  # processed below, with the lock
            with self._settled():
                self._watched = any(slot.process or slot.calls for slot in self._slots.values())


def _nothing() -> None:
    pass
