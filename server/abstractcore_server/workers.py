"""`WorkerProcesses`: the process that starts those which answer, replaces the ones that die, and passes signals on."""

from __future__ import annotations

import logging
import multiprocessing
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any
from uuid import uuid4

from abstractcore.errors import AbstractCoreError, ConfigurationError

from .configuration.settings import Settings
from .metrics import SharedFolder
from .process import ABORT, READY, STOP, report_ready

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_ENDS = (signal.SIGINT, signal.SIGTERM)
_LONGEST_WAIT = 30.0
"""How long the replacement of a worker waits at most if the ones before it could not start, in seconds."""
_log = logging.getLogger("abstractcore.server")


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """What a worker starts with. `killed` are names of processes that died, whose leases it ends."""

    settings: Settings
    listening: socket.socket
    control: Connection
    shared: SharedFolder
    killed: tuple[str, ...]


@dataclass(slots=True)
class _Worker:
    name: str
    process: SpawnProcess
    control: Connection
    killed: tuple[str, ...]
    has_answered: bool = False
    is_ready: bool = False


class WorkerProcesses:
    """Runs `settings.server.workers` processes, each of which calls `work`, a function that can be pickled.

    The first SIGINT or SIGTERM lets them end their requests, the second ends them at once, the third kills them. SIGHUP
    gives them the settings that `read` returns. One that dies is replaced.
    """

    def __init__(
        self,
        settings: Settings,
        listening: socket.socket,
        work: Callable[[WorkerStart], None],
        read: Callable[[], Settings],
    ) -> None:
        self._settings = settings
        self._listening = listening
        self._work = work
        self._read = read
        self._workers: list[_Worker] = []
        self._killed: list[str] = []
        """Processes that died, whose leases no other one has ended yet."""
        self._ends = 0
        """How often the processes were asked to end."""
        self._have_served = False
        self._failures = 0
        """How many workers in a row could not start."""
        self._start_at = 0.0

    def run(self) -> None:
        """Returns when all processes have ended. Raises `ConfigurationError` if none can start."""
        if not hasattr(signal, "pthread_sigmask"):
            raise ConfigurationError("this system has no signals", hint="Leave out --workers.")
        with tempfile.TemporaryDirectory(prefix="abstractcore-") as folder, _received_signals() as signals:
            self._folder = Path(folder)
            try:
                while self._workers or not self._ends:
                    self._fill()
                    self._wait(signals)
            finally:
                for worker in self._workers:
                    worker.process.kill()
                    worker.process.join()
        if not self._have_served and self._failures:
            raise ConfigurationError("no worker could start", hint="The line above says why.")

    def _fill(self) -> None:
        if not self._ends and time.monotonic() >= self._start_at:
            while len(self._workers) < self._settings.server.workers:
                self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        pipe: Any = context.Pipe()
        ours, theirs = pipe
        name, killed = uuid4().hex[:12], tuple(self._killed)
        start = WorkerStart(self._settings, self._listening, theirs, SharedFolder(self._folder, name), killed)
        process = context.Process(target=self._work, args=(start,), name=f"worker-{name}")
        with _blocked_signals():  # until the worker handles them
            process.start()
        theirs.close()
        self._workers.append(_Worker(name, process, ours, killed))

    def _wait(self, signals: socket.socket) -> None:
        """Waits until a signal arrives, a worker is ready or has died, or one is to be started again."""
        lacks = not self._ends and len(self._workers) < self._settings.server.workers
        timeout = max(0.0, self._start_at - time.monotonic()) if lacks else None
        starting = [worker.control for worker in self._workers if not worker.has_answered]
        found = wait([signals, *starting, *(worker.process.sentinel for worker in self._workers)], timeout)
        for worker in list(self._workers):
            if worker.control in found:
                self._receive(worker)
            if worker.process.sentinel in found:
                self._replace(worker)
        if signals in found:
            for number in signals.recv(64):
                self._handle_signal(number)

    def _receive(self, worker: _Worker) -> None:
        worker.has_answered = True
        with suppress(EOFError, OSError):  # of one that died before it was ready
            if worker.control.recv() == READY:
                worker.is_ready = True
                if not self._have_served:
                    report_ready()
                self._have_served, self._failures = True, 0
                self._killed = [name for name in self._killed if name not in worker.killed]

    def _replace(self, worker: _Worker) -> None:
        worker.process.join()
        worker.control.close()
        self._workers.remove(worker)
        if self._ends:
            return
        SharedFolder(self._folder, "").bury(worker.name)
        self._killed.append(worker.name)
        if not worker.is_ready:
            self._failures += 1
            self._start_at = time.monotonic() + min(2.0**self._failures, _LONGEST_WAIT)
        if not self._have_served:
            self._end(STOP)
        else:
            code = worker.process.exitcode
            _log.error("the worker process %s has died (exit code %s), and is replaced", worker.process.pid, code)

    def _handle_signal(self, number: int) -> None:
        if number not in _ENDS:
            self._reload()
        elif self._ends < 2:
            self._end(ABORT if self._ends else STOP)
        else:
            for worker in self._workers:
                worker.process.kill()

    def _end(self, message: str) -> None:
        self._ends += 1
        self._listening.close()
        self._send_to_all(message)

    def _reload(self) -> None:
        """Reads the settings again; if they are not valid, that is logged, and nothing changes."""
        try:
            self._settings = self._read()
        except AbstractCoreError as error:
            _log.warning("the configuration was not reloaded: %s", error)
        else:
            self._send_to_all(self._settings)

    def _send_to_all(self, message: str | Settings) -> None:
        for worker in self._workers:
            with suppress(OSError):  # of one that has just died
                worker.control.send(message)


def _ignore_signal(number: int, frame: object) -> None:
    """Handles a signal whose number is read from the socket of `_received_signals`."""


@contextmanager
def _received_signals() -> Generator[socket.socket]:
    """Yields a socket from which the numbers of signals are read."""
    receiving, sending = socket.socketpair()
    with receiving, sending:
        sending.setblocking(False)
        before = [signal.signal(number, _ignore_signal) for number in _SIGNALS]
        signal.set_wakeup_fd(sending.fileno())
        try:
            yield receiving
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in zip(_SIGNALS, before, strict=True):
                signal.signal(number, handler)


@contextmanager
def _blocked_signals() -> Generator[None]:
    """Blocks the signals here and in processes that are started meanwhile."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
