"""Background work, done in order in one thread, in batches."""

from __future__ import annotations

import atexit
import logging
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import TypeAlias

from .waiting import AwaitableRunner

GATHERING_SECONDS = 0.05
"""Waking a thread for every item costs more than a small item."""
_log = logging.getLogger("abstractcore")
_Item: TypeAlias = "tuple[Callable[[], object], int]"


class BackgroundWorker:
    """A daemon thread that calls functions. Results may be awaitable; exceptions are logged.

    Finalizers may call `put` at any point of any thread, also inside another `put` or while the worker waits. So it
    uses only `queue.SimpleQueue`, whose `put` is reentrant by contract: with a lock, a thread could wait for itself.
    Work begins `gathering` seconds after its first item was put.

    An item that is put while or after another thread calls `stop` is done too: the thread checks for more after it has
    marked its end, and `put` starts a new thread if the end is marked. There is never more than one thread.
    """

    def __init__(self, name: str, gathering: float = 0.0) -> None:
        self._gathering = gathering
        self._work: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._hurry: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[None] = queue.SimpleQueue()
        """Holds an item if the thread has ended; whoever takes it out continues or starts the next one."""
        self._bytes = 0
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Returns whether the caller runs in this worker."""
        return threading.current_thread() is self._thread

    @property
    def waiting(self) -> int:
        """The number of items that have not begun."""
        return self._work.qsize()

    @property
    def waiting_bytes(self) -> int:
        """The total size of the items that are not done."""
        return self._bytes

    def put(self, item: Callable[[], object], size: int = 0) -> None:
        """Queues `item`, which holds `size` bytes. Returns at once.

        Raises `RuntimeError` if no thread can be started, as when the interpreter shuts down.
        """
        self._bytes += size
        self._work.put((item, size))
        if not self._ended.empty() and self._begins_again():
            self._resume()

    def flush(self, timeout: float | None) -> bool:
        """Waits up to `timeout` seconds until all items so far are done; returns whether they are. A call from this
        worker does not wait."""
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
        """Ends the thread after the queued items. Returns at once. A later `put` starts a new thread."""
        if not self._ended.empty():
            return
        self._work.put(None)
        self._hurry.put(None)

    def _run(self) -> None:
        """Does the work until `stop`, and items put meanwhile. Later items are done by whoever takes the end mark out
        first: this thread, or the one that the next `put` starts.
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
            item = self._work.get()
            if item is not None:
                self._do(item, runner)

    def _resume(self) -> None:
        """Starts a thread to replace one that has ended."""
        self._thread = threading.Thread(target=self._run, name=self._thread.name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._ended.put(None)
            raise

    def _begins_again(self) -> bool:
        """Takes the end mark out; returns False if another thread has done so."""
        try:
            self._ended.get_nowait()
        except queue.Empty:
            return False
        return True

    def _work_off(self, runner: AwaitableRunner) -> bool:
        """Waits for an item and does all that are queued then; returns whether there may be more."""
        item = self._work.get()
        self._gather()
        while item is not None:
            self._do(item, runner)
            try:
                item = self._work.get_nowait()
            except queue.Empty:
                self._bytes = 0  # additions of several threads at once may have been miscounted
                return True
        return False

    def _gather(self) -> None:
        """Lets more items gather, unless a caller waits for them."""
        try:
            if self._gathering:
                self._hurry.get(timeout=self._gathering)
            while True:
                self._hurry.get_nowait()
        except queue.Empty:
            return

    def _do(self, item: _Item, runner: AwaitableRunner) -> None:
        work, size = item
        try:
            runner.finish(work())
        except BaseException:
            _log.exception("background work failed")
        finally:
            self._bytes -= size


class ProcessWorker:
    """A `BackgroundWorker` for each process: a forked child has no threads of its parent.

    It has no locks, which a fork could leave locked forever. At the end of a process, also of one of `multiprocessing`,
    which calls no function of `atexit`, what is queued is done within `last_seconds`, if they are given.
    """

    def __init__(self, name: str, gathering: float = 0.0, last_seconds: float | None = None) -> None:
        self._name = name
        self._gathering = gathering
        self._last_seconds = last_seconds
        self._workers: dict[int, BackgroundWorker] = {}
        if last_seconds is not None:
            atexit.register(self.flush, last_seconds)

    def begun(self) -> BackgroundWorker:
        """Returns this process's worker; raises `RuntimeError` if no thread can start, as at interpreter shutdown."""
        worker = self._workers.get(os.getpid())
        if worker is None:
            new = BackgroundWorker(self._name, self._gathering)
            worker = self._workers.setdefault(os.getpid(), new)
            if worker is not new:
                new.stop()
            elif self._last_seconds is not None and (util := sys.modules.get("multiprocessing.util")) is not None:
                util.Finalize(None, self.flush, (self._last_seconds,), exitpriority=0)
        return worker

    @property
    def is_current(self) -> bool:
        """Returns whether the caller runs in this worker."""
        worker = self._workers.get(os.getpid())
        return worker is not None and worker.is_current

    def flush(self, timeout: float | None) -> bool:
        """Calls `BackgroundWorker.flush`; returns True if the worker has not begun."""
        worker = self._workers.get(os.getpid())
        return worker is None or worker.flush(timeout)

    def stop(self) -> None:
        """Calls `BackgroundWorker.stop` for this process."""
        worker = self._workers.get(os.getpid())
        if worker is not None:
            worker.stop()
