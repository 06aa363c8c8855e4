"""A process of `ProcessPool`: runs generator functions, one at a time, and sends what they yield as plain values."""

from __future__ import annotations

import faulthandler
import os
import pickle
import queue
import sys
import threading
import time
import traceback
from collections.abc import Generator
from contextlib import suppress
from typing import IO, Any

from ..errors import AbstractCoreError
from .pipe_messages import decoded, encoded, read_message, write_message

ERRORS_BEGIN = "\0abstractcore: the next call\0"
"""Separates what calls print on standard error: the output of one file must not be in the note of another's error."""
_SPARE_CPU_SECONDS = 10.0
_CORES = os.cpu_count() or 1


def main() -> None:
    """Serves calls from standard input, until it ends or no call comes for a while.

    Nothing that libraries print reaches the pipe of the results.
    """
    requests, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    faulthandler.enable()
    max_memory, idle_seconds = decoded(read_message(requests) or encoded([None, 0]))
    _limit_memory(max_memory)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests, inbox), daemon=True).start()
    with suppress(queue.Empty, OSError):  # no call came; nobody reads the results any more
        while True:
            for reply in _replies(inbox.get(timeout=idle_seconds), inbox):
                write_message(results, reply)
    os._exit(0)


def _receive(requests: IO[bytes], inbox: queue.SimpleQueue[bytes]) -> None:
    """Receives requests; ends this process when the one that started it has ended."""
    while (message := read_message(requests)) is not None:
        inbox.put(message)
    os._exit(0)


def _replies(request: bytes, inbox: queue.SimpleQueue[bytes]) -> Generator[bytes]:
    """Runs one generator, and yields the reply to each request."""
    _separate_errors()
    try:
        function, arguments, seconds = pickle.loads(request)
        del request
        values: Generator[Any, Any, None] = function(*arguments)
        del arguments
        value = None
        while True:
            _limit_time(seconds)
            try:
                result = values.send(value)
            except StopIteration:
                break
            yield encoded(["value", result])
            kind, value = decoded(inbox.get())
            if kind == "close":
                values.close()
                break
    except BaseException as error:  # also panics of Rust code, which are not an Exception
        yield encoded(_failure(error))
    else:
        yield encoded(["end"])


def _separate_errors() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a library has closed it
            stream.flush()
    os.write(2, ERRORS_BEGIN.encode())


def _failure(error: BaseException) -> list[str | None]:
    """Returns an error as values: its class, and what the classes of this package have."""
    if isinstance(error, AbstractCoreError):
        return ["error", type(error).__name__, error.message, error.hint, getattr(error, "source", "")]
    if not isinstance(error, MemoryError):
        traceback.print_exception(error)
    return ["error", type(error).__name__, "", None, ""]


def _limit_memory(max_memory: int | None) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    for limit, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, max_memory)):
        if most is not None:
            with suppress(ValueError, OSError):  # macOS does not limit address space
                resource.setrlimit(limit, (most, most))


def _limit_time(seconds: float) -> None:
    """Limits the processor time from now: code in C that never returns does not notice that nobody waits for it."""
    try:
        import resource
    except ImportError:
        return
    most = int(time.process_time() + seconds * _CORES + _SPARE_CPU_SECONDS)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
