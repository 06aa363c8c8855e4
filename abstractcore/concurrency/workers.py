"""A bounded number of daemon threads for functions that block."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context, ContextVar
from typing import Any, Generic, TypeAlias, TypeVar

from .abandoned import Abandoned, in_thread, run

T = TypeVar("T")
_Place: TypeAlias = object
_crews: ContextVar[tuple[_Crew, ...]] = ContextVar("abstractcore_crews", default=())
"""The pools in whose threads the code of now is waited for."""
_MOST_ABANDONED = 128
"""So many abandoned functions give their places in the pool to others; what is abandoned after that keeps its own."""
_PAUSE_SECONDS = 0.05
"""Before the place of an abandoned function is used: what waits in the queue may be about to be cancelled as well."""


class Job(Generic[T]):
    """One call of a function. `result` is set when it has ended."""

    def __init__(
        self, crew: _Crew, context: Context, function: Callable[..., T], arguments: tuple[object, ...]
    ) -> None:
        self.result: Future[T] = Future()
        self.places: list[_Place] = []
        """The place it works in, until it ends or is abandoned: whoever pops it has it."""
        self._crew = crew
        self._function = function
        self._arguments = arguments
        self._context = context
        context.run(_crews.set, (*_crews.get(), crew))

    def begin(self) -> None:
        """Have the function called as soon as a thread is free; raises `RuntimeError` if none can be started."""
        if self._crew in _crews.get():
            in_thread(self.result, self._context, self._function, self._arguments)
        else:
            self._crew.add(self)

    def run(self) -> None:
        """Call the function here, unless it was cancelled."""
        self._context.run(run, self.result, self._function, self._arguments)

    def leave(self) -> None:
        """Nobody waits for the result any more: cancel the call, or, if it runs, count it, warn of it, and give its
        place to another. Does nothing after its end."""
        if self._crew.abandoned.add(self._function, self.result):
            self._crew.replace(self)
        elif self.result.cancelled():
            self._crew.forget(self)


class Workers:
    """Runs functions in daemon threads, `most` at once; more wait for their turn, first in, first out.

    Threads are started when there is work and end when there is none; they hold up neither an event loop's shutdown nor
    the program's end. What is abandoned is counted in `abandoned`. What a function in the pool asks the same pool for
    gets a thread outside it: a full pool would wait for itself. A forked child begins with an empty pool; there are no
    locks, which a fork could leave locked for ever.
    """

    def __init__(self, name: str, most: int, abandoned: Abandoned) -> None:
        self._name = name
        self._most = most
        self._abandoned = abandoned
        self._crews: dict[int, _Crew] = {}

    def job(self, context: Context, function: Callable[..., T], *arguments: object) -> Job[T]:
        """A call of the function in `context`, which must be the job's own; it is still to `begin`."""
        return Job(self._crew(), context, function, arguments)

    def _crew(self) -> _Crew:
        process = os.getpid()
        crew = self._crews.get(process)
        return crew or self._crews.setdefault(process, _Crew(self._name, self._most, self._abandoned))


class _Crew:
    """One process's threads and what they have to do. Lists and deques pop and append atomically: no lock is needed."""

    def __init__(self, name: str, most: int, abandoned: Abandoned) -> None:
        self.abandoned = abandoned
        self._name = name
        self._jobs: deque[Job[Any]] = deque()
        self._places: deque[_Place] = deque(object() for _ in range(most))
        self._spares: deque[_Place] = deque(object() for _ in range(_MOST_ABANDONED))

    def add(self, job: Job[Any]) -> None:
        """Have `job` done when its turn comes."""
        self._jobs.append(job)
        self._start()

    def forget(self, job: Job[Any]) -> None:
        """Take `job` out of the queue."""
        with suppress(ValueError):
            self._jobs.remove(job)

    def replace(self, job: Job[Any]) -> None:
        """Let another thread have the place of `job`, which runs on without one."""
        spare = _taken(self._spares)
        if spare is None:
            return
        place = _taken(job.places)
        if place is None:  # it ended meanwhile
            self._spares.append(spare)
            return
        job.result.add_done_callback(lambda _: self._spares.append(spare))
        self._places.append(place)
        if self._jobs:
            with suppress(RuntimeError):
                self._start(_PAUSE_SECONDS)

    def _start(self, pause: float = 0.0) -> None:
        """Start a thread if there is a place for one; it takes its first job after `pause` seconds."""
        if self._places:
            name = f"abstractcore-{self._name}"
            threading.Thread(target=self._work, args=(pause,), name=name, daemon=True).start()

    def _work(self, pause: float) -> None:
        """Do one job after the other until there is none, or the place is given to another thread."""
        time.sleep(pause)
        place = _taken(self._places)
        while place is not None:
            try:
                job = self._jobs.popleft()
            except IndexError:
                self._places.append(place)
                # What was added before the place was free has found none.
                place = _taken(self._places) if self._jobs else None
                continue
            job.places.append(place)
            job.run()
            place = _taken(job.places)
            del job


def _taken(places: deque[_Place] | list[_Place]) -> _Place | None:
    """One of them, which nobody else gets."""
    try:
        return places.pop()
    except IndexError:
        return None
