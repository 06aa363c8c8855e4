"""`Pool`: the runs that a worker takes on at once, each a task of one event loop. What blocks runs in threads."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from abstractcore.concurrency import AsyncRuntime
from abstractcore.database import DatabaseError
from abstractcore.ports import Interruption

from .heartbeat import Heartbeat
from .store import Lease

if TYPE_CHECKING:
    from .worker import Worker, WorkerMetrics, WorkerOptions

T = TypeVar("T")
_log = logging.getLogger("abstractruntime")
_SHARE: Final = 0.01
"""The share of its time that a worker without work spends on looking for some."""
_LONGEST_POLL: Final = 1.0
"""Seconds between two looks where each takes long, or the database fails."""
_MOST_CONNECTIONS: Final = 8
"""So many transactions are made at once, by databases where they do not wait for each other."""
_ANNOUNCE_SECONDS: Final = 0.25
"""Seconds between two announcements of a worker: they wait for each other, in all databases of a server."""


class Pool:
    """One call of `Worker.run`."""

    def __init__(
        self,
        worker: Worker,
        options: WorkerOptions,
        *,
        until: Literal["idle"] | None,
        stop: Interruption,
        report: Callable[[WorkerMetrics], object] | None,
    ) -> None:
        self._worker = worker
        self._store = worker.store
        self._metrics = worker.metrics
        self._options = options
        self._until = until
        self._stop = stop
        self._report = report
        self._engine = worker.engine(self._call)
        self._runtime = AsyncRuntime()
        self._threads = ThreadPoolExecutor(
            1 if self._store.has_one_writer else min(options.concurrency, _MOST_CONNECTIONS),
            thread_name_prefix="abstractruntime-database",
        )
        self._heartbeat = Heartbeat(worker.store)
        self._tasks: dict[asyncio.Task[None], Lease] = {}
        self._woken = asyncio.Event()
        self._is_more_due = asyncio.Event()
        """Than this worker may take: other workers are to look, too."""
        self._poll = options.poll
        self._reported: set[str] = set()
        self._failure: DatabaseError | None = None
        """The last one that has cost a run its worker."""

    async def run(self) -> int:
        """Works until it is stopped, or nothing is due; returns how many times a run was taken on."""
        before = self._metrics.claimed
        await self._count()
        tasks = [asyncio.ensure_future(self._reports()), asyncio.ensure_future(self._announcements())]
        try:
            async with self._wakeups():
                await self._work()
            await self._finish()
            if self._until == "idle" and self._failure is not None:
                raise self._failure
        finally:
            for task in tasks:
                task.cancel()
            await self._interrupt()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task
            await self._call(self._store.announce)  # what was given back
            await self._runtime.call(self._heartbeat.stop)
            self._threads.shutdown(wait=False)
        return self._metrics.claimed - before

    @asynccontextmanager
    async def _wakeups(self) -> AsyncGenerator[None]:
        """In its body, the loop is woken when this process makes a run due, when another one announces that it did,
        and when it is to stop.
        """
        loop = asyncio.get_running_loop()

        def wake(*events: asyncio.Event) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                for event in (self._woken, *events):
                    loop.call_soon_threadsafe(event.set)

        def made_due() -> None:
            wake(self._is_more_due)

        self._store.on_due.append(made_due)
        listener = self._store.listen(wake)
        try:
            with self._stop.ending(wake):
                yield
        finally:
            self._store.on_due.remove(made_due)
            if listener is not None:
                await self._runtime.call(listener.stop)

    async def _work(self) -> None:
        may_be_due = True
        while not self._stop.is_set:
            self._woken.clear()
            free = self._options.concurrency - len(self._tasks)
            if free and may_be_due:
                claimed = await self._claim(free)
                if claimed == free:
                    self._is_more_due.set()
                    continue
                if not claimed and not self._tasks and self._until == "idle" and not self._woken.is_set():
                    return
            may_be_due = await self._wait(can_take=free > 0)

    async def _claim(self, free: int) -> int:
        """Takes on up to `free` runs; returns how many."""
        programs = [*self._worker.programs]
        try:
            leases = await self._claimed(programs, free)
        except DatabaseError as error:
            if self._until == "idle":
                raise
            _log.warning("no run could be claimed: %s", error)
            self._poll = _LONGEST_POLL
            return 0
        for lease in leases:
            self._heartbeat.add(lease)
            task = asyncio.ensure_future(self._advance(lease))
            self._tasks[task] = lease
            task.add_done_callback(self._ended)
        self._metrics.claimed += len(leases)
        self._metrics.active = len(self._tasks)
        return len(leases)

    async def _claimed(self, programs: list[str], free: int) -> list[Lease]:
        """Returns claimed runs. A claim that goes on in its thread after a cancellation gives its runs back."""
        claimed = self._call(self._store.claim, programs, self._worker.owner, free)
        try:
            return await asyncio.shield(claimed)
        except asyncio.CancelledError:
            with suppress(DatabaseError):
                for lease in await claimed:
                    await self._release(lease)
            raise

    async def _advance(self, lease: Lease) -> None:
        try:
            await self._engine.advance(lease, self._runtime)
        except DatabaseError as error:
            _log.warning("the run %r is given up until its lease ends: %s", lease.run, error)
            self._failure = error
        except Exception:
            _log.exception("the run %r is given up until its lease ends", lease.run)
        finally:
            self._heartbeat.remove(lease)
        if lease.ended and lease.released:
            setattr(self._metrics, lease.status, getattr(self._metrics, lease.status) + 1)

    def _ended(self, task: asyncio.Task[None]) -> None:
        was_full = len(self._tasks) == self._options.concurrency
        self._tasks.pop(task, None)
        self._metrics.active = len(self._tasks)
        if was_full or (self._until == "idle" and not self._tasks):
            self._woken.set()

    async def _wait(self, *, can_take: bool) -> bool:
        """Waits until something may be due: a hint came, a run was given back, or the database says so."""
        if not can_take:
            await self._woken.wait()
            return True
        timeout = self._poll
        while not self._stop.is_set:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):  # `wait_for` of Python 3.11 loses a cancellation
                    await self._woken.wait()
                    return True
            timeout = await self._look()
            if timeout <= 0:
                return True
        return False

    async def _look(self) -> float:
        """Returns after how many seconds to look again: none if a run is due."""
        begun = time.thread_time()
        try:
            seconds, spent = await self._call(self._seconds_until_due)
        except DatabaseError as error:
            _log.warning("the database cannot be read: %s", error)
            return _LONGEST_POLL
        spent += time.thread_time() - begun
        self._poll = min(max(self._options.poll, spent / _SHARE), max(_LONGEST_POLL, self._options.poll))
        self._metrics.poll = self._poll
        return self._poll if seconds is None else min(seconds, self._poll)

    def _seconds_until_due(self) -> tuple[float | None, float]:
        """Returns when a run will be due, and what it took to find out."""
        begun = time.thread_time()
        seconds = self._store.seconds_until_due([*self._worker.programs])
        return seconds, time.thread_time() - begun

    def _call(self, function: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        """Calls a function that waits for the database in a thread."""
        return asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    async def _announcements(self) -> None:
        """Wakes workers of other processes, now and then, if this one makes runs due, which may not be for it, or has
        taken as many as it may. Not at each commit: see `Store.announce`.
        """
        while not self._store.has_one_writer:
            await self._is_more_due.wait()
            self._is_more_due.clear()
            await self._call(self._store.announce)
            await asyncio.sleep(_ANNOUNCE_SECONDS)

    # Reports

    async def _reports(self) -> None:
        while True:
            await asyncio.sleep(self._options.report_every)
            await self._count()

    async def _count(self) -> None:
        """Counts what is due, and reports it, and programs that nobody here has."""
        try:
            found = await self._call(self._store.due_programs)
        except DatabaseError as error:
            _log.warning("the due runs cannot be counted: %s", error)
        else:
            self._metrics.due = sum(found.values())
            self._report_unknown(found)
        if self._report is not None:
            self._report(self._metrics)

    def _report_unknown(self, due: dict[str, int]) -> None:
        """Logs once for each program that is not here: its runs stay due, for a worker that has it."""
        for program in due.keys() - self._worker.programs.keys() - self._reported:
            self._reported.add(program)
            count = f"{due[program]} runs" if due[program] > 1 else "1 run"
            verb = "are" if due[program] > 1 else "is"
            _log.warning("%s of the program %s %s due, which this worker does not have", count, program, verb)

    # The end

    async def _finish(self) -> None:
        """Lets the effects that run end, within the grace period; no other is begun."""
        self._engine.is_stopping = True
        if self._tasks:
            await asyncio.wait([*self._tasks], timeout=self._options.grace)

    async def _interrupt(self) -> None:
        """Ends what still runs, and gives its runs back, with their effects in flight."""
        self._engine.is_stopping = True
        left = dict(self._tasks)
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait([*left])
        for lease in left.values():
            await self._release(lease)
            lease.interruption.set()  # for what runs in threads

    async def _release(self, lease: Lease) -> None:
        try:
            await self._call(self._store.release, lease)
        except DatabaseError as error:
            _log.warning("the run %r could not be given back: %s", lease.run, error)
