"""One event loop in one thread, to which other threads give work."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from .functions import in_time

T = TypeVar("T")


class LoopTask(Generic[T]):
    """One piece of work: `make` on behalf of `function`. `result` is there when it has really ended."""

    def __init__(
        self, function: Callable[..., object], make: Callable[[], Awaitable[T]], timeout: float | None
    ) -> None:
        self.function = function
        self.result: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._make = make
        self._timeout = timeout
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """In the loop: begin, in the context of now."""
        if self.result.set_running_or_notify_cancel():
            self._task = asyncio.ensure_future(self._run())
            self._task.add_done_callback(lambda _: self.end())

    def cancel(self) -> None:
        """In the loop: have it end soon."""
        if self._task is not None:
            self._task.cancel()

    def end(self) -> None:
        """It will not go on; without a result it was cancelled."""
        if not self.result.cancel() and not self.result.done():
            self.result.set_exception(concurrent.futures.CancelledError("the event loop behind plain code was closed"))

    async def _run(self) -> None:
        """No error leaves here: the loop would end on a `SystemExit`."""
        try:
            value = await in_time(self.function, self._make, self._timeout)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self.result.set_exception(error)
        else:
            self.result.set_result(value)


class LoopThread:
    """A daemon thread with an event loop. In a forked child, which has the loop and not the thread, it does nothing."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._process = os.getpid()
        self._tasks: set[LoopTask[Any]] = set()
        self._thread = threading.Thread(target=self._serve, name="abstractcore-portal", daemon=True)

    def start(self, owner: object) -> None:
        """Begin to work off what is given, until `owner` is collected or the program ends."""
        try:
            self._thread.start()
        except RuntimeError:
            self.loop.close()
            raise
        weakref.finalize(owner, self.stop)

    def begin(self, task: LoopTask[Any]) -> None:
        """Have the loop begin `task`, in a copy of the context of now."""
        self._tasks.add(task)
        task.result.add_done_callback(lambda _: self._tasks.discard(task))
        try:
            self.loop.call_soon_threadsafe(task.begin)
        except RuntimeError:
            task.end()

    def cancel(self, task: LoopTask[Any]) -> None:
        """Have the loop cancel `task`."""
        self._soon(task.cancel)

    def stop(self) -> None:
        """Have the loop cancel everything, close, and the thread end. Does not wait for it."""
        if self._process == os.getpid():
            self._soon(self.loop.stop)

    def join(self, timeout: float) -> None:
        """Wait for the thread's end, `timeout` seconds at most."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _soon(self, callback: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # it is closed already
            self.loop.call_soon_threadsafe(callback)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.get_loop().run_forever()
        for task in list(self._tasks):
            task.end()
