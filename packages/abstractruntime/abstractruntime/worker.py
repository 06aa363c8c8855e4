"""`Worker`: claims runs that are due, and takes them on, one after the other in a thread or many in an event loop."""

from __future__ import annotations

import os
import socket
import threading
import uuid
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal

from abstractcore.concurrency import SyncRuntime, drive
from abstractcore.errors import InvalidInputError
from abstractcore.ports import Interruption

from .effects import EffectKind
from .engine import Engine
from .errors import UnknownProgramError
from .heartbeat import Heartbeat
from .json_documents import JSON
from .programs import Program
from .store import Store


@dataclass(slots=True)
class WorkerMetrics:
    """What a worker has done: how many times it took a run on, and runs that it saw end. `active` are the runs that it
    holds, `due` those of any program that nobody holds, when they were counted last, and `poll` the seconds between
    two looks at the database.
    """

    claimed: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    active: int = 0
    due: int = 0
    poll: float = 0.0

    def to_data(self) -> dict[str, JSON]:
        """Returns them as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a worker works: `concurrency` runs at once; every `poll` seconds it looks for what other processes made due,
    and less often where a look takes long; effects that run when it is stopped have `grace` seconds to end. Every
    `report_every` seconds it counts the runs that are due.
    """

    concurrency: int = 16
    poll: float = 0.05
    grace: float = 20.0
    report_every: float = 60.0

    def __post_init__(self) -> None:
        if type(self.concurrency) is not int or not 1 <= self.concurrency <= 1000:
            raise InvalidInputError(f"expected 1 to 1000, got {self.concurrency!r:.80}", path="concurrency")
        for name, least in (("poll", 0.001), ("grace", 0.0), ("report_every", 0.01)):
            if not least <= getattr(self, name) < 1e7:
                problem = f"expected seconds, at least {least:g}, got {getattr(self, name)!r:.80}"
                raise InvalidInputError(problem, path=name)


class Worker:
    """Takes runs of `programs` on. `owner` names it in the database, `metrics` count what it does.

    `effects` are the kinds that this worker does; None: all that the runtime knows.
    """

    def __init__(self, store: Store, programs: Mapping[str, Program], effects: Mapping[str, EffectKind]) -> None:
        self.store = store
        self.programs = programs
        self.owner = f"{socket.gethostname()[:20]}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.metrics = WorkerMetrics()
        self._effects = effects

    def advance(self, run: str, *, max_steps: int | None = None) -> bool:
        """Takes one run on in this thread, for `max_steps` steps at most; False if another worker holds it.

        Raises `RunNotFoundError`, and `UnknownProgramError` for a program that this worker does not have.
        """
        info = self.store.run(run)
        if info.program not in self.programs:
            hint = "Pass the program: Runtime(..., programs=[...])."
            raise UnknownProgramError(f"there is no program {info.program!r} here", run=run, hint=hint)
        lease = self.store.claim_run(run, self.owner)
        if lease is None:
            return False
        heartbeat = Heartbeat(self.store)
        heartbeat.add(lease)
        try:
            with self._announcing():
                drive(self.engine().advance(lease, SyncRuntime(), max_steps=max_steps))
        finally:
            heartbeat.stop()
        return True

    def work(self, *, until: Literal["idle"] = "idle") -> int:
        """Takes runs on in this thread, one after the other, until none is due; returns how many were taken."""
        runtime, engine = SyncRuntime(), self.engine()
        heartbeat = Heartbeat(self.store)
        count = 0
        try:
            while leases := self.store.claim([*self.programs], self.owner):
                for lease in leases:
                    heartbeat.add(lease)
                    try:
                        with self._announcing():
                            drive(engine.advance(lease, runtime))
                    finally:
                        heartbeat.remove(lease)
                    count += 1
        finally:
            heartbeat.stop()
        return count

    async def run(
        self,
        *,
        concurrency: int = 16,
        until: Literal["idle"] | None = None,
        stop: Interruption | None = None,
        poll: float = 0.05,
        grace: float = 20.0,
        report: Callable[[WorkerMetrics], object] | None = None,
        report_every: float = 60.0,
    ) -> int:
        """Takes runs on in this event loop, `concurrency` at once, until `stop` is set, or none is due; returns how
        many were taken. Any number of processes may do so on one database, and one that is gone for a while is
        waited for.

        Every `poll` seconds it looks for what other processes made due, less often where a look takes long. Once
        `stop` is set, from any thread, no effect is begun; those that run have `grace` seconds to end, then they are
        interrupted, and their runs are given back at once: another worker recovers them as after a crash. So it is
        when the task is cancelled, without grace. `report` is called when it is ready, and every `report_every`
        seconds.

        Raises `InvalidInputError` for numbers out of range. With `until="idle"`, raises `DatabaseError`.
        """
        from .pool import Pool  # which imports asyncio

        options = WorkerOptions(concurrency, poll, grace, report_every)
        return await Pool(self, options, until=until, stop=stop or Interruption(), report=report).run()

    @contextmanager
    def _announcing(self) -> Generator[None]:
        """After its body, workers of other processes are woken if it made a run due: perhaps one of theirs."""
        made_due = threading.Event()
        self.store.on_due.append(made_due.set)
        try:
            yield
        finally:
            self.store.on_due.remove(made_due.set)
            if made_due.is_set():
                self.store.announce()

    def engine(self, call: Callable[..., Awaitable[Any]] | None = None) -> Engine:
        """Returns an engine for the programs and effects of this worker; `call` as `Engine` takes it."""
        return Engine(self.store, self.programs, self._effects, call=call)
