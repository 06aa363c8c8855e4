"""`ProcessPool`: generator functions in processes that may crash, hang or be taken over by a hostile file."""

from __future__ import annotations

import logging
import os
import pickle
import queue
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any, cast
from weakref import WeakSet

from ..errors import (
    AbstractCoreError,
    CorruptFileError,
    EncryptedFileError,
    InvalidInputError,
    MediaError,
    MissingExtraError,
    WrongPasswordError,
)
from ..ports import current_interruption, interruptible
from .alarms import AlarmClock
from .child_processes import ChildProcess, has_interpreter
from .pipe_messages import InvalidMessageError, decoded, encoded
from .pool_worker import ERRORS_BEGIN

_WORKER = "abstractcore.concurrency.pool_worker"
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Threads of libraries reserve address space, which is limited."""
_PATIENCE = 2.0
"""Seconds without a change after which there is one process more than cores."""
_CLOSING_SECONDS = 1.0
_MAX_MESSAGE = 1 << 29
_ERRORS: dict[str, type[MediaError]] = {
    each.__name__: each for each in (MediaError, CorruptFileError, EncryptedFileError, WrongPasswordError)
}
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
        self._processes: dict[int, _Processes] = {}
        self._alarms = AlarmClock()
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
        exchange = _Exchange(self._alarms, source, seconds, due)
        call = pickle.dumps((function, tuple(arguments), seconds))
        worker = self._taken()
        is_reusable = False
        try:
            reply = exchange.ask(worker, call) if worker.is_used else None
            if reply is None:  # a new process tells whether it is this file that ends it
                worker = self._replaced(worker) if worker.is_used else worker
                reply = exchange.expected(worker, call)
            while reply[0] == "value":
                try:
                    value = yield reply[1]
                except GeneratorExit:
                    is_reusable = exchange.has_closed(worker)
                    raise
                reply = exchange.expected(worker, encoded(["next", value]))
            is_reusable = reply[0] == "end" or reply[1] in _ERRORS or reply[1] == MissingExtraError.__name__
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
        with suppress(queue.Empty):
            while True:
                self._end(here.idle.get_nowait())

    def abandon(self) -> None:
        """In a forked process: forgets the processes of the one that was forked."""
        for process in tuple(self._processes):
            if process != os.getpid():
                for worker in self._processes.pop(process).workers:
                    worker.child.abandon()

    @property
    def _here(self) -> _Processes:
        return self._processes.get(os.getpid()) or self._processes.setdefault(os.getpid(), _Processes())

    def _taken(self) -> _Worker:
        """Returns an idle process, or a new one: one for each core, and one more if none is given back for a while."""
        here = self._here
        while True:
            changes = here.changes
            if here.room and here.idle.empty():
                return self._started()
            try:
                worker = here.idle.get(timeout=_PATIENCE)
            except queue.Empty:
                if changes == here.changes:
                    return self._started()
                if (interruption := current_interruption()) is not None:
                    interruption.check()
                continue
            worker.is_idle = False
            if not worker.has_exited:
                return worker
            self._end(worker)

    def _started(self) -> _Worker:
        here = self._here
        room: list[int] = []
        with suppress(IndexError):
            room.append(here.room.pop())
        here.changes += 1
        try:
            worker = _Worker(self._settings, self._end, room)
        except OSError as error:
            here.room.extend(room)
            raise MediaError(f"no process can be started that reads files: {error.strerror or error}.") from error
        here.workers.add(worker)
        return worker

    def _replaced(self, worker: _Worker) -> _Worker:
        self._end(worker)
        return self._started()

    def _give_back(self, worker: _Worker, *, is_reusable: bool) -> None:
        here = self._here
        if is_reusable and worker in here.workers:
            worker.is_used = worker.is_idle = True
            here.idle.put(worker)
            here.changes += 1
        else:
            self._end(worker)

    def _end(self, worker: _Worker) -> None:
        here = self._here
        if worker in here.workers:  # not one of the process that was forked
            worker.child.end()
            here.workers.discard(worker)
            room, worker.room = worker.room, []
            here.room.extend(room)


class _Processes:
    """The processes that one process has started, by its id: a forked child starts with none.

    `room` has an item for each process that may be started at once; `changes` counts those that were started or given
    back.
    """

    def __init__(self) -> None:
        self.idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        self.workers: set[_Worker] = set()
        self.room = deque(range(os.cpu_count() or 1))
        self.changes = 0


class _Worker:
    """A process of the pool. If it exits while it is idle, it is ended here, else by the thread that uses it.

    `room` is given back at its end.
    """

    def __init__(self, settings: tuple[int, float], end: Callable[[_Worker], None], room: list[int]) -> None:
        self.room = room
        self.is_used = self.is_idle = self.is_closed = self.has_exited = False
        self._end = end
        self.child = ChildProcess(_WORKER, environment=_ENVIRONMENT, on_exit=self._exit)
        self.child.send(encoded(settings))

    def _exit(self) -> None:
        self.has_exited = True
        if self.is_idle:
            self._end(self)


class _Exchange:
    """The messages of one call, and its limits."""

    def __init__(self, alarms: AlarmClock, source: str, seconds: float, due: float | None) -> None:
        self._alarms = alarms
        self._source = source
        self._seconds = seconds
        self._due = due
        self._is_late = False

    def ask(self, worker: _Worker, request: bytes) -> list[Any] | None:
        """Returns the reply of a process; None if it has died by itself."""
        left = self._seconds if self._due is None else min(self._seconds, self._due - time.monotonic())
        if left <= 0:
            raise self._late()
        try:
            reply = self._exchanged(worker, request, left)
        except InvalidMessageError as error:
            worker.child.kill()
            raise CorruptFileError(
                f"{self._source} cannot be read: its decoder sent {error}.", source=self._source
            ) from error
        if (interruption := current_interruption()) is not None:
            interruption.check()
        if self._is_late:
            raise self._late()
        if reply is None and worker.is_closed:
            raise MediaError(
                f"{self._source} was not read to its end: the pool of processes that decode files was closed.",
                source=self._source,
                hint="Call services.close() when all calls have ended.",
            )
        return reply

    def expected(self, worker: _Worker, request: bytes) -> list[Any]:
        """Returns the reply of a process; raises `CorruptFileError` if it dies."""
        reply = self.ask(worker, request)
        if reply is None:
            raise self._crash(worker)
        return reply

    def has_closed(self, worker: _Worker) -> bool:
        """Ends the generator in a process; returns whether the process can be used further."""
        interruption = current_interruption()
        if interruption is not None and interruption.is_set:
            return False
        with suppress(InvalidMessageError):
            return self._exchanged(worker, encoded(["close", None]), _CLOSING_SECONDS) == ["end"]
        return False

    def error(self, kind: str, message: str, hint: str | None, source: str) -> AbstractCoreError:
        """Returns the error that a process describes."""
        if kind in _ERRORS:
            return _ERRORS[kind](message, source=source, hint=hint)
        if kind == MissingExtraError.__name__:
            return MissingExtraError(message, hint=hint)
        return _failed(self._source, kind)

    def _exchanged(self, worker: _Worker, request: bytes, seconds: float) -> list[Any] | None:
        def stop() -> None:
            self._is_late = True
            worker.child.kill()

        cancel = self._alarms.set(seconds, stop)
        try:
            with interruptible(worker.child.kill):
                worker.child.send(request)
                message = worker.child.receive(_MAX_MESSAGE)
        finally:
            cancel()
        return None if message is None else _reply(message)

    def _crash(self, worker: _Worker) -> CorruptFileError:
        reason = _death(worker.child.end())
        _log.warning("the decoder of %s crashed (%s)", self._source, reason)
        error = CorruptFileError(
            f"{self._source} cannot be read: its decoder crashed ({reason}).",
            source=self._source,
            hint="Open it in its application, and export it again.",
        )
        if printed := worker.child.last_errors().rpartition(ERRORS_BEGIN)[2].strip():
            error.add_note(printed)
        return error

    def _late(self) -> MediaError:
        return MediaError(
            f"{self._source} could not be read within its time limit.",
            source=self._source,
            hint="Raise the option timeout, or send a part of it.",
        )


def _in_this_process(
    function: Callable[..., Generator[Any, Any, None]], arguments: Sequence[object], source: str
) -> Generator[Any, Any, None]:
    try:
        yield from function(*arguments)
    except AbstractCoreError:
        raise
    except Exception as error:
        raise _failed(source, type(error).__name__) from error


def _failed(source: str, kind: str) -> CorruptFileError:
    why = "decoding it takes too much memory" if kind == "MemoryError" else f"its decoder failed ({kind})"
    return CorruptFileError(f"{source} cannot be read: {why}.", source=source)


def _reply(message: bytes) -> list[Any]:
    """Returns a reply of the right form; raises `InvalidMessageError` for any other."""
    reply: Any = decoded(message)
    match reply:
        case ["value", _] | ["end"] | ["error", str(), str(), str() | None, str()]:
            return cast("list[Any]", reply)
        case _:
            raise InvalidMessageError("a message that is no reply")


def _death(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


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
