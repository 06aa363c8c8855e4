"""An event loop in a thread of its own, which runs work of other threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from .functions import cancelled_error, with_timeout

T = TypeVar("T")


class LoopTask(Generic[T]):
    """One call of `make` for `function`. `result` is set when it has ended."""

    def __init__(
        self, function: Callable[..., object], make: Callable[[], Awaitable[T]], timeout: float | None
    ) -> None:
        self.function = function
        self.result: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._make = make
        self._timeout = timeout
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Starts the task in the current context; call it in the loop."""
        if self.result.set_running_or_notify_cancel():
            self._task = asyncio.ensure_future(self._run())
            self._task.add_done_callback(lambda _: self.end())

    def cancel(self) -> None:
        """Cancels the task; call it in the loop."""
        if self._task is not None:
            self._task.cancel()

    def end(self) -> None:
        """Marks the task as ended; as cancelled if it has no result."""
        if not self.result.cancel() and not self.result.done():
            self.result.set_exception(concurrent.futures.CancelledError("the event loop of sync calls was closed"))

    async def _run(self) -> None:
        """Catches every error: a `SystemExit` would end the loop."""
        try:
            value = await with_timeout(self.function, self._make, self._timeout)
        except asyncio.CancelledError:
            if self._task is None or self._task.cancelling():
                raise
            self.result.set_exception(cancelled_error(self.function))
        except BaseException as error:
            self.result.set_exception(error)
        else:
            self.result.set_result(value)


class LoopThread:
    """A daemon thread with an event loop. Does nothing in a forked child, which has the loop but not the thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._process = os.getpid()
        self._has_stopped = False
        self._tasks: set[LoopTask[Any]] = set()
        self._thread = threading.Thread(target=self._serve, name="abstractcore-portal", daemon=True)

    def start(self, owner: object) -> None:
        """Starts the thread, which runs until `owner` is collected or the program ends."""
        try:
            self._thread.start()
        except RuntimeError:
            self.loop.close()
            raise
        weakref.finalize(owner, self.stop)

    def begin(self, task: LoopTask[Any]) -> None:
        """Starts `task` in the loop, in a copy of the current context."""
        self._tasks.add(task)
        task.result.add_done_callback(lambda _: self._tasks.discard(task))
        try:
            self.loop.call_soon_threadsafe(task.begin)
        except RuntimeError:
            task.end()

    def cancel(self, task: LoopTask[Any]) -> None:
        """Cancels `task` in the loop."""
        self._soon(task.cancel)

    def stop(self) -> None:
        """Cancels all tasks, closes the loop and ends the thread. Does not wait."""
        if self._process == os.getpid() and not self._has_stopped:
            self._has_stopped = True  # a second stop would end the cancellation of the tasks
            self._soon(self.loop.stop)

    def join(self, timeout: float) -> None:
        """Waits up to `timeout` seconds for the thread to end."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _soon(self, callback: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed already
            self.loop.call_soon_threadsafe(callback)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.get_loop().run_forever()
        for task in list(self._tasks):
            task.end()
