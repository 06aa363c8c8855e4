"""`ProcessPool`: generator functions in processes that may crash, hang or be taken over by a hostile file.

`PoolExchange`: the messages between a call and a process of `ProcessPool`, their limits, and what errors mean.
`FailedSteps`: steps at which files have ended the process of their decoder; they are not repeated for a while.
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import signal
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, cast
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
from ..schema import MEDIA_PARTS, MediaControls, MediaPart
from .child_processes import has_interpreter
from .pipe_messages import InvalidMessageError, decoded, encoded
from .pool_processes import Processes, Worker
from .pool_worker import ERRORS_BEGIN
from .time_limits import AlarmClock

_CLOSING_SECONDS = 1.0
_MAX_MESSAGE = 1 << 29
_ERRORS: dict[str, type[MediaError]] = {
    each.__name__: each for each in (MediaError, CorruptFileError, EncryptedFileError, WrongPasswordError)
}
_log = logging.getLogger("abstractcore")


class PoolExchange:
    """The messages of one call, and its limits."""

    def __init__(self, alarms: AlarmClock, source: str, seconds: float, due: float | None) -> None:
        self._alarms = alarms
        self._source = source
        self._seconds = seconds
        self._due = due
        self._is_late = False

    def seconds_left(self) -> float | None:
        """Returns the time that is left for the call; None without a limit. Raises `MediaError` at its end."""
        left = None if self._due is None else self._due - time.monotonic()
        if left is not None and left <= 0:
            raise self._late()
        return left

    def ask(self, worker: Worker, request: bytes) -> list[Any] | None:
        """Returns the reply of a process; None if it has died by itself."""
        left = self.seconds_left()
        try:
            reply = self._exchange(worker, request, self._seconds if left is None else min(self._seconds, left))
        except InvalidMessageError as error:
            worker.child.kill()
            raise CorruptFileError(
                f"{self._source} cannot be read: its decoder sent {error}.", source=self._source
            ) from error
        if (interruption := current_interruption()) is not None:
            interruption.check()
        if self._is_late:
            self.seconds_left()
            raise self._slow()
        if reply is None and worker.is_closed:
            raise MediaError(
                f"{self._source} was not read to its end: the pool of processes that decode files was closed.",
                source=self._source,
                hint="Call services.close() when all calls have ended.",
            )
        return reply

    def expected(self, worker: Worker, request: bytes) -> list[Any]:
        """Returns the reply of a process; raises `CorruptFileError` if it dies."""
        reply = self.ask(worker, request)
        if reply is None:
            raise self._crash(worker)
        return reply

    def has_closed(self, worker: Worker) -> bool:
        """Ends the generator in a process; returns whether the process can be used further."""
        interruption = current_interruption()
        if interruption is not None and interruption.is_set:
            return False
        with suppress(InvalidMessageError):
            return self._exchange(worker, encoded(["close", None]), _CLOSING_SECONDS) == ["end"]
        return False

    def is_known(self, kind: str) -> bool:
        """Whether a process that raised such an error may be used further."""
        return kind in _ERRORS or kind == MissingExtraError.__name__

    def error(self, kind: str, message: str, hint: str | None, source: str) -> AbstractCoreError:
        """Returns the error that a process describes."""
        if kind in _ERRORS:
            return _ERRORS[kind](message, source=source, hint=hint)
        if kind == MissingExtraError.__name__:
            return MissingExtraError(message, hint=hint)
        return failed(self._source, kind)

    def _exchange(self, worker: Worker, request: bytes, seconds: float) -> list[Any] | None:
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

    def _crash(self, worker: Worker) -> CorruptFileError:
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

    def _slow(self) -> CorruptFileError:
        return CorruptFileError(
            f"{self._source} cannot be read: its decoder took more than {self._seconds:g} seconds for one step.",
            source=self._source,
            hint="Send a part of it, or open it in its application and export it again.",
        )


def failed(source: str, kind: str) -> CorruptFileError:
    """Returns the error for a file whose decoder has raised an exception of another class, by its name."""
    why = "decoding it takes too much memory" if kind == "MemoryError" else f"its decoder failed ({kind})"
    hint = "Open it in its application, and export it again."
    return CorruptFileError(f"{source} cannot be read: {why}.", source=source, hint=hint)


def _reply(message: bytes) -> list[Any]:
    """Returns a reply of the right form; raises `InvalidMessageError` for any other."""
    reply: Any = decoded(message)
    match reply:
        case ["value", _] | ["end"] | ["error", str(), str(), str() | None, str()]:
            return cast("list[Any]", reply)
        case _:
            raise InvalidMessageError("a message of an unknown form")


def _death(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


_KEPT_SECONDS = 600.0
"""A process may also crash or be slow because of what else happens on the machine."""
_MOST = 1024


class FailedStep(NamedTuple):
    """A step of a function with a file: the hash and the type of the file, the parts of it that are wanted, and what
    was sent to the function; without that, the number of the step.
    """

    function: str
    sha256: str
    media_type: str
    controls: MediaControls | None
    step: bytes | int


class FailedSteps:
    """Remembers failures for ten minutes, by content. `now` returns seconds. It has no locks: a failure that is lost is
    found again.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures: dict[FailedStep, tuple[float, str, str | None]] = {}

    def of(self, function: Callable[..., object], arguments: Sequence[object], source: str) -> StepGuard:
        """Returns the failures of a function with the file among its arguments, which `source` names in errors."""
        file = next((each for each in arguments if isinstance(each, MEDIA_PARTS)), None)
        return StepGuard(self, f"{function.__module__}.{function.__qualname__}", file, source)

    def get(self, step: FailedStep) -> tuple[str, str | None] | None:
        """Returns the problem of a failure that is remembered, to follow the name of a file, and its hint."""
        since, problem, hint = self._failures.get(step, (-math.inf, "", None))
        return (problem, hint) if self._now() - since < _KEPT_SECONDS else None

    def put(self, step: FailedStep, problem: str, hint: str | None) -> None:
        """Remembers a failure."""
        if len(self._failures) >= _MOST:
            self._failures = dict(list(self._failures.items())[_MOST // 2 :])
        self._failures[step] = self._now(), problem, hint


class StepGuard:
    """The failures of one call. A call without a file has none."""

    def __init__(self, failed: FailedSteps, function: str, file: MediaPart | None, source: str) -> None:
        self._failed = failed
        self._function = function
        self._file = file
        self._source = source

    @contextmanager
    def at(self, step: bytes | int) -> Generator[None]:
        """Raises the failure of a step that is remembered; remembers one that happens here."""
        key = self._key(step)
        if key is not None and (failure := self._failed.get(key)) is not None:
            problem, hint = failure
            raise CorruptFileError(
                f"{self._source}{problem} It is not tried again yet.", source=self._source, hint=hint
            )
        try:
            yield
        except CorruptFileError as error:
            if key is not None:
                self._failed.put(key, error.message.removeprefix(self._source), error.hint)
            raise

    def _key(self, step: bytes | int) -> FailedStep | None:
        file = self._file
        if file is None or file.blob.sha256 is None:
            return None
        return FailedStep(self._function, file.blob.sha256, file.blob.media_type, file.controls, step)


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
        """Yields the values of `function`; see `Isolation.run`."""
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
        worker = self._take_worker(exchange)
        try:
            reply = exchange.ask(worker, call) if worker.is_used else None
            if reply is None:
                worker = self._replace_worker(worker) if worker.is_used else worker
                reply = exchange.expected(worker, call)
        except BaseException:
            self._here.end(worker)
            raise
        return worker, reply

    def _take_worker(self, exchange: PoolExchange) -> Worker:
        """Returns an idle process, or a new one."""
        here = self._here
        while (worker := here.take(exchange.seconds_left)) is not None:
            if not worker.has_exited:
                return worker
            here.end(worker)
        return self._start_worker()

    def _start_worker(self) -> Worker:
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

    def _replace_worker(self, worker: Worker) -> Worker:
        self._here.end(worker)
        return self._start_worker()

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


def _forget_workers() -> None:
    for pool in tuple(_pools):
        pool.abandon()


_warned: list[bool] = []
_pools: WeakSet[ProcessPool] = WeakSet()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)
