"""`PoolExchange`: the messages between a call and a process of `ProcessPool`, their limits, and what errors mean."""

from __future__ import annotations

import logging
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from ..errors import (
    AbstractCoreError,
    CorruptFileError,
    EncryptedFileError,
    MediaError,
    MissingExtraError,
    WrongPasswordError,
)
from ..ports import current_interruption, interruptible
from .pipe_messages import InvalidMessageError, decoded, encoded
from .pool_worker import ERRORS_BEGIN

if TYPE_CHECKING:
    from .alarms import AlarmClock
    from .pool_processes import Worker

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
            reply = self._exchanged(worker, request, self._seconds if left is None else min(self._seconds, left))
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
            return self._exchanged(worker, encoded(["close", None]), _CLOSING_SECONDS) == ["end"]
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

    def _exchanged(self, worker: Worker, request: bytes, seconds: float) -> list[Any] | None:
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
    return CorruptFileError(f"{source} cannot be read: {why}.", source=source)


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
