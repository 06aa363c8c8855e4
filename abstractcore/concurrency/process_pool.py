"""`ProcessPool`: generator functions in processes that may crash, hang or be taken over by a hostile file."""

from __future__ import annotations

import logging
import os
import pickle
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from ..errors import AbstractCoreError, InvalidInputError, MediaError
from .alarms import AlarmClock
from .child_processes import has_interpreter
from .failed_steps import FailedSteps
from .pipe_messages import encoded
from .pool_exchange import PoolExchange, failed
from .pool_processes import Processes, Worker

_log = logging.getLogger("abstractcore")


class ProcessPool:
    """Runs generator functions, each in a process for itself; see `Isolation`.

    Processes are reused, since starting one takes about half a second, and end after `idle_seconds` without work, with
    this process, or by `close`. Each may have `max_memory` bytes of address space, where the system has such a limit.
    It is not a sandbox: a process may read the same files as this one. In a frozen program, which has no interpreter
    for them, functions run in the program itself.
    """

    def __init__(self, *, max_memory: int = 4 << 30, idle_seconds: float = 30.0) -> None:
        self._settings = max_memory, idle_seconds
        self._processes: dict[int, Processes] = {}
        self._alarms = AlarmClock()
        self._failed = FailedSteps()
        _pools.add(self)

    @property
    def process_ids(self) -> list[int]:
        """The ids of the processes that run, idle ones too."""
        return [each.child.pid for each in tuple(self._here.workers)]

    def run(
        self,
        function: Callable[..., Generator[Any, Any, None]],
        arguments: Sequence[object],
        *,
        source: str,
        seconds: float,
        timeout: float | None,
    ) -> Generator[Any, Any, None]:
        """Yields what `function` yields; see `Isolation.run`."""
        if not has_interpreter():
            _warn_once()
            yield from _in_this_process(function, arguments, source)
            return
        if function.__module__ == "__main__":
            name = function.__qualname__
            hint = "Define it in a module: the other process does not run the program."
            raise InvalidInputError(
                f"{name} cannot run in another process: it is part of the program itself", hint=hint
            )
        due = None if timeout is None else time.monotonic() + timeout
        exchange = PoolExchange(self._alarms, source, seconds, due)
        guard = self._failed.of(function, arguments, source)
        call = pickle.dumps((function, tuple(arguments), seconds))
        with guard.at(0):
            worker, reply = self._begun(exchange, call)
        is_reusable, step = False, 0
        try:
            while reply[0] == "value":
                try:
                    value = yield reply[1]
                except GeneratorExit:
                    is_reusable = exchange.has_closed(worker)
                    raise
                step, request = step + 1, encoded(["next", value])
                with guard.at(step if value is None else request):
                    reply = exchange.expected(worker, request)
            is_reusable = reply[0] == "end" or exchange.is_known(reply[1])
            if reply[0] != "end":
                raise exchange.error(*reply[1:])
        finally:
            self._give_back(worker, is_reusable=is_reusable)

    def close(self) -> None:
        """Ends all processes, also those that work: their calls raise `MediaError`. The pool can be used afterwards."""
        here = self._here
        for worker in tuple(here.workers):
            worker.is_closed = True
            worker.child.kill()
        here.end_idle()

    def abandon(self) -> None:
        """In a forked process: forgets the processes of the one that was forked."""
        for process in tuple(self._processes):
            if process != os.getpid():
                for worker in self._processes.pop(process).workers:
                    worker.child.abandon()

    @property
    def _here(self) -> Processes:
        return self._processes.get(os.getpid()) or self._processes.setdefault(os.getpid(), Processes())

    def _begun(self, exchange: PoolExchange, call: bytes) -> tuple[Worker, list[Any]]:
        """Returns a process that has begun a call, and its first reply.

        If one dies that has decoded other files, a new one shows whether it is this file that ends it.
        """
        worker = self._taken(exchange)
        try:
            reply = exchange.ask(worker, call) if worker.is_used else None
            if reply is None:
                worker = self._replaced(worker) if worker.is_used else worker
                reply = exchange.expected(worker, call)
        except BaseException:
            self._here.end(worker)
            raise
        return worker, reply

    def _taken(self, exchange: PoolExchange) -> Worker:
        """Returns an idle process, or a new one."""
        here = self._here
        while (worker := here.take(exchange.seconds_left)) is not None:
            if not worker.has_exited:
                return worker
            here.end(worker)
        return self._started()

    def _started(self) -> Worker:
        here = self._here
        room: list[int] = []
        with suppress(IndexError):
            room.append(here.room.pop())
        here.notify()
        try:
            worker = Worker(self._settings, here.end, room)
        except OSError as error:
            here.room.extend(room)
            raise MediaError(f"no process can be started that reads files: {error.strerror or error}.") from error
        here.workers.add(worker)
        return worker

    def _replaced(self, worker: Worker) -> Worker:
        self._here.end(worker)
        return self._started()

    def _give_back(self, worker: Worker, *, is_reusable: bool) -> None:
        here = self._here
        if is_reusable and worker in here.workers:
            here.give_back(worker)
        else:
            here.end(worker)


def _in_this_process(
    function: Callable[..., Generator[Any, Any, None]], arguments: Sequence[object], source: str
) -> Generator[Any, Any, None]:
    try:
        yield from function(*arguments)
    except AbstractCoreError:
        raise
    except Exception as error:
        raise failed(source, type(error).__name__) from error


def _warn_once() -> None:
    if not _warned:
        _warned.append(True)
        _log.warning("this frozen program has no Python for other processes: files are decoded in the program itself")


def _forked() -> None:
    for pool in tuple(_pools):
        pool.abandon()


_warned: list[bool] = []
_pools: WeakSet[ProcessPool] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
