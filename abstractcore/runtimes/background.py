"""Work that can wait, done in order in a thread of its own, many pieces at a time."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable
from typing import TypeAlias

from .awaiting import AwaitableRunner

GATHERING_SECONDS = 0.05
"""Waking a thread for every piece costs the process more than a small piece does."""
_log = logging.getLogger("abstractcore")
_Piece: TypeAlias = "tuple[Callable[[], object], int]"


class BackgroundWorker:
    """One daemon thread. A piece of work is a function; what it returns may be awaitable, what it raises is logged.

    Finalizers may call `put`, at any point of any thread, also in the middle of another `put` or of the worker's own
    waiting. So there is nothing here but `queue.SimpleQueue`, whose `put` is reentrant by contract: a lock would be
    waited for by the thread that holds it. Work begins `gathering` seconds after the first piece of it has come.
    """

    def __init__(self, name: str, gathering: float = 0.0) -> None:
        self._gathering = gathering
        self._work: queue.SimpleQueue[_Piece | None] = queue.SimpleQueue()
        self._hurry: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._bytes = 0
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Whether it is the work in it that asks."""
        return threading.current_thread() is self._thread

    @property
    def waiting(self) -> int:
        """How many pieces are still to be begun."""
        return self._work.qsize()

    @property
    def waiting_bytes(self) -> int:
        """The size of the pieces that are not done yet."""
        return self._bytes

    def put(self, piece: Callable[[], object], size: int = 0) -> None:
        """Have `piece`, which holds `size` bytes, done soon. Returns at once."""
        self._bytes += size
        self._work.put((piece, size))

    def flush(self, timeout: float | None) -> bool:
        """Wait until all pieces so far are done, `timeout` seconds at most; whether they are. Work in it does not wait
        for itself."""
        if self.is_current:
            return self._work.empty()
        reached: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.put(lambda: reached.put(None))
        self._hurry.put(None)
        try:
            reached.get(timeout=timeout)
        except queue.Empty:
            return False
        return True

    def stop(self) -> None:
        """End the thread after what is waiting. Returns at once."""
        self._work.put(None)
        self._hurry.put(None)

    def _run(self) -> None:
        with AwaitableRunner() as runner:
            while self._work_off(runner):
                pass

    def _work_off(self, runner: AwaitableRunner) -> bool:
        """Wait for a piece and do all that are there then; whether there may be more."""
        piece = self._work.get()
        self._gather()
        while piece is not None:
            self._do(piece, runner)
            try:
                piece = self._work.get_nowait()
            except queue.Empty:
                self._bytes = 0  # additions of several threads at once may have been miscounted
                return True
        return False

    def _gather(self) -> None:
        """Let more pieces come together, unless somebody waits for them."""
        try:
            if self._gathering:
                self._hurry.get(timeout=self._gathering)
            while True:
                self._hurry.get_nowait()
        except queue.Empty:
            return

    def _do(self, piece: _Piece, runner: AwaitableRunner) -> None:
        work, size = piece
        try:
            runner.finish(work())
        except BaseException:
            _log.exception("work in the background failed")
        finally:
            self._bytes -= size


class ProcessWorker:
    """A `BackgroundWorker` for each process that asks for one: a forked child has no threads of its parent.

    There are no locks in it, which a fork could leave locked for ever.
    """

    def __init__(self, name: str, gathering: float = 0.0) -> None:
        self._name = name
        self._gathering = gathering
        self._workers: dict[int, BackgroundWorker] = {}

    def begun(self) -> BackgroundWorker:
        """This process's worker; raises `RuntimeError` if no thread can be started, as when the program is ending."""
        worker = self._workers.get(os.getpid())
        if worker is None:
            new = BackgroundWorker(self._name, self._gathering)
            worker = self._workers.setdefault(os.getpid(), new)
            if worker is not new:
                new.stop()
        return worker

    @property
    def is_current(self) -> bool:
        """Whether it is the work in it that asks."""
        worker = self._workers.get(os.getpid())
        return worker is not None and worker.is_current

    def flush(self, timeout: float | None) -> bool:
        """As `BackgroundWorker.flush`; there is nothing to wait for if it was not begun."""
        worker = self._workers.get(os.getpid())
        return worker is None or worker.flush(timeout)

    def stop(self) -> None:
        """End this process's thread after what is waiting. Returns at once."""
        worker = self._workers.pop(os.getpid(), None)
        if worker is not None:
            worker.stop()
