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

    A piece that comes while or after another thread calls `stop` is done too: the thread looks for more after it has
    marked its end, and `put` starts another where the end is marked. There is never more than one.
    """

    def __init__(self, name: str, gathering: float = 0.0) -> None:
        self._gathering = gathering
        self._work: queue.SimpleQueue[_Piece | None] = queue.SimpleQueue()
        self._hurry: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[None] = queue.SimpleQueue()
        """Marks the thread's end with an item; who takes that out is or starts the next one."""
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
        """Have `piece`, which holds `size` bytes, done soon. Returns at once.

        Raises `RuntimeError` if the thread has ended and none can be started, as when the program is ending.
        """
        self._bytes += size
        self._work.put((piece, size))
        if not self._ended.empty() and self._begins_again():
            self._resume()

    def flush(self, timeout: float | None) -> bool:
        """Wait until all pieces so far are done, `timeout` seconds at most; whether they are. Work in it does not wait
        for itself."""
        if self.is_current:
            return self._work.empty()
        if not self._ended.empty() and self._work.empty():
            return True
        reached: queue.SimpleQueue[None] = queue.SimpleQueue()
        try:
            self.put(lambda: reached.put(None))
            self._hurry.put(None)
            reached.get(timeout=timeout)
        except (queue.Empty, RuntimeError):
            return False
        return True

    def stop(self) -> None:
        """End the thread after what is waiting. Returns at once. A later `put` starts another."""
        if not self._ended.empty():
            return
        self._work.put(None)
        self._hurry.put(None)

    def _run(self) -> None:
        """Do the work until `stop`, and what has come meanwhile. What comes after that is done by whoever takes the end
        back first: this thread, or the one that the next `put` starts.
        """
        with AwaitableRunner() as runner:
            while self._work_off(runner):
                pass
            while True:
                self._work_off_rest(runner)
                self._ended.put(None)
                if self._work.empty() or not self._begins_again():
                    return

    def _work_off_rest(self, runner: AwaitableRunner) -> None:
        while not self._work.empty():
            piece = self._work.get()
            if piece is not None:
                self._do(piece, runner)

    def _resume(self) -> None:
        """Start a thread in the place of one that has ended."""
        self._thread = threading.Thread(target=self._run, name=self._thread.name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._ended.put(None)
            raise

    def _begins_again(self) -> bool:
        """Take the end back; whether nobody else has done so before."""
        try:
            self._ended.get_nowait()
        except queue.Empty:
            return False
        return True

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
        """As `BackgroundWorker.stop`, for this process."""
        worker = self._workers.get(os.getpid())
        if worker is not None:
            worker.stop()
