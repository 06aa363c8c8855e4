"""Bounded pools of daemon threads for blocking functions.

`IdleThreads`: daemon threads that are kept for a while after their work: starting one takes 100 us and more.
Functions in threads of their own, which may still run after their caller stopped waiting. The worker threads of a
runtime: a pool for each kind of work, so that one kind cannot block the others.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, ContextVar
from functools import wraps
from typing import Any, Generic, TypeAlias, TypeVar, get_args

from ..ports import Interruption, WorkKind

_IDLE_SECONDS = 5.0


class _Thread:
    """One thread, which waits for its next work."""

    def __init__(self) -> None:
        self.work: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()


class IdleThreads:
    """Runs each function in a daemon thread of its own at that time: an idle one, else a new one. There is no limit,
    so one that hangs blocks no other. Without locks, which a fork could leave locked forever; a child has no threads.
    """

    def __init__(self) -> None:
        self._idle: dict[int, deque[_Thread]] = {}

    def start(self, function: Callable[[], object]) -> None:
        """Calls the function in a thread; it must not raise. Raises `RuntimeError` if no thread can be started."""
        idle = self._idle.setdefault(os.getpid(), deque())
        try:
            thread = idle.pop()
        except IndexError:
            thread = _Thread()
            thread.work.put(function)
            threading.Thread(target=_run, args=(thread, idle), name="abstractcore-function", daemon=True).start()
        else:
            thread.work.put(function)


def _run(thread: _Thread, idle: deque[_Thread]) -> None:
    """Does the work of a thread, until there has been none for a while."""
    while True:
        try:
            function = thread.work.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            with contextlib.suppress(ValueError):
                idle.remove(thread)
                return
            continue  # it is given work at this moment
        function()
        del function
        idle.append(thread)


IDLE_THREADS = IdleThreads()


T = TypeVar("T")
_log = logging.getLogger("abstractcore")


class AbandonedWork:
    """Counts functions that still run after their caller stopped waiting. A forked child starts at zero."""

    def __init__(self) -> None:
        self._works: dict[Future[Any], int] = {}

    def __len__(self) -> int:
        return list(self._works.values()).count(os.getpid())

    def add(self, function: Callable[..., object], work: Future[Any]) -> bool:
        """Counts `work`, a call of `function`, until it ends, and logs a warning. Work that has not begun is cancelled
        instead. Returns whether it still runs."""
        if work.cancel() or work.done():
            return False
        self._works[work] = os.getpid()
        work.add_done_callback(self._works.pop)
        _log.warning(
            "%s is still running in a background thread after its call ended (%d such now)",
            name_of(function),
            len(self),
        )
        return True


def in_thread(work: Future[T], context: Context, function: Callable[..., T], arguments: tuple[object, ...]) -> None:
    """Starts a call in a daemon thread. `work` gets its result or exception, unless cancelled before."""
    IDLE_THREADS.start(lambda: context.run(run, work, function, arguments))


def run(work: Future[T], function: Callable[..., T], arguments: tuple[object, ...]) -> None:
    """Calls `function`. `work` gets its result or exception, unless it was cancelled before."""
    if not work.set_running_or_notify_cancel():
        return
    try:
        result = function(*arguments)
    except StopIteration as error:  # an event loop cannot pass it on: the caller would wait forever
        failure = RuntimeError(f"{name_of(function)} raised StopIteration")
        failure.__cause__ = error
        work.set_exception(failure)
    except BaseException as error:
        work.set_exception(error)
    else:
        work.set_result(result)


def name_of(function: Callable[..., object]) -> str:
    """Returns the name of a function, for messages."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__qualname__", None) or type(function).__name__


_Slot: TypeAlias = object
_active_pools: ContextVar[tuple[_ProcessPool, ...]] = ContextVar("abstractcore_active_pools", default=())
"""The pools whose threads wait for the current code."""
_MOST_ABANDONED = 128
"""So many abandoned functions free their slots in the pool; further ones keep theirs."""
_PAUSE_SECONDS = 0.05
"""The delay before the slot of an abandoned function is reused: queued jobs may be about to be cancelled as well."""


class WorkerCall(Generic[T]):
    """One call of a function. `result` is set when it has ended."""

    def __init__(
        self, pool: _ProcessPool, context: Context, function: Callable[..., T], arguments: tuple[object, ...]
    ) -> None:
        self.result: Future[T] = Future()
        self.slots: list[_Slot] = []
        """The slot it occupies, until it ends or is abandoned: whoever pops it owns it."""
        self._pool = pool
        self._interruption = Interruption()
        self._function = function
        self._arguments = arguments
        self._context = context
        context.run(_active_pools.set, (*_active_pools.get(), pool))

    def begin(self) -> None:
        """Queues the call; raises `RuntimeError` if no thread can be started."""
        if self._pool in _active_pools.get():
            in_thread(self.result, self._context, _interruptible(self._function, self._interruption), self._arguments)
        else:
            self._pool.add(self)

    def run(self) -> None:
        """Calls the function here, unless it was cancelled."""
        self._context.run(run, self.result, _interruptible(self._function, self._interruption), self._arguments)

    def abandon(self) -> None:
        """Abandons the call: cancels it, or, if it runs, interrupts it, counts it, logs a warning and frees its slot.
        Does nothing after its end."""
        if self._pool.abandoned.add(self._function, self.result):
            self._interruption.set()
            self._pool.replace(self)
        elif self.result.cancelled():
            self._pool.forget(self)


def _interruptible(function: Callable[..., T], interruption: Interruption) -> Callable[..., T]:
    @wraps(function)
    def call(*arguments: object) -> T:
        with interruption.of_this_call():
            return function(*arguments)

    return call


class WorkerThreads:
    """Runs functions in daemon threads, `most` at once; more wait in a queue.

    Threads start when there is work and end when there is none; they delay neither the shutdown of an event loop nor
    the end of the program. Abandoned calls are counted in `abandoned`. A job that is queued by a function in the same
    pool gets a thread outside the pool: a full pool would deadlock. A forked child starts with an empty pool; there are
    no locks, which a fork could leave locked forever.
    """

    def __init__(self, name: str, most: int, abandoned: AbandonedWork) -> None:
        self._name = name
        self._most = most
        self._abandoned = abandoned
        self._pools: dict[int, _ProcessPool] = {}

    def job(self, context: Context, function: Callable[..., T], *arguments: object) -> WorkerCall[T]:
        """Returns a job that calls the function in `context`, which no other code may use. `begin` queues it."""
        return WorkerCall(self._pool(), context, function, arguments)

    def _pool(self) -> _ProcessPool:
        process = os.getpid()
        pool = self._pools.get(process)
        return pool or self._pools.setdefault(process, _ProcessPool(self._name, self._most, self._abandoned))


class _ProcessPool:
    """One process's threads and queue. Lists and deques pop and append atomically: no lock is needed."""

    def __init__(self, name: str, most: int, abandoned: AbandonedWork) -> None:
        self.abandoned = abandoned
        self._name = name
        self._jobs: deque[WorkerCall[Any]] = deque()
        self._slots: deque[_Slot] = deque(object() for _ in range(most))
        self._spares: deque[_Slot] = deque(object() for _ in range(_MOST_ABANDONED))

    def add(self, job: WorkerCall[Any]) -> None:
        """Queues `job`."""
        self._jobs.append(job)
        self._start()

    def forget(self, job: WorkerCall[Any]) -> None:
        """Removes `job` from the queue."""
        with suppress(ValueError):
            self._jobs.remove(job)

    def replace(self, job: WorkerCall[Any]) -> None:
        """Gives the slot of `job`, which continues without one, to another thread."""
        spare = _pop(self._spares)
        if spare is None:
            return
        slot = _pop(job.slots)
        if slot is None:  # it has ended
            self._spares.append(spare)
            return
        job.result.add_done_callback(lambda _: self._spares.append(spare))
        self._slots.append(slot)
        if self._jobs:
            with suppress(RuntimeError):
                self._start(_PAUSE_SECONDS)

    def _start(self, pause: float = 0.0) -> None:
        """Starts a thread if there is a free slot; it takes its first job after `pause` seconds."""
        if self._slots:
            name = f"abstractcore-{self._name}"
            threading.Thread(target=self._work, args=(pause,), name=name, daemon=True).start()

    def _work(self, pause: float) -> None:
        """Does jobs until there are none, or the slot is given to another thread."""
        time.sleep(pause)
        slot = _pop(self._slots)
        while slot is not None:
            try:
                job = self._jobs.popleft()
            except IndexError:
                self._slots.append(slot)
                # Jobs that were queued before the slot was free found none.
                slot = _pop(self._slots) if self._jobs else None
                continue
            job.slots.append(slot)
            job.run()
            slot = _pop(job.slots)
            del job


def _pop(slots: deque[_Slot] | list[_Slot]) -> _Slot | None:
    """Pops a slot, or returns None."""
    try:
        return slots.pop()
    except IndexError:
        return None


_MOST_AT_ONCE = 16


def worker_pools(abandoned: AbandonedWork) -> Mapping[WorkKind, WorkerThreads]:
    """Returns a pool for each kind of work, which counts in `abandoned`. Starts no thread."""
    kinds: tuple[WorkKind, ...] = get_args(WorkKind)
    return {kind: WorkerThreads(kind, _MOST_AT_ONCE, abandoned) for kind in kinds}
