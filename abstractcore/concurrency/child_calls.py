"""`run_in_child`: one piece of work in a process of its own, which is killed when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future

from .child_processes import ChildProcess

_GRACE_SECONDS = 2.0
"""How long a child may take to exit after its last message."""


async def run_in_child(module: str, request: bytes, on_message: Callable[[bytes], bool], *, name: str) -> int:
    """Runs `main` of a module with `request`, and returns the exit code, negative for a signal.

    `on_message` gets each message, in a thread, and returns whether it is the last one. `name` is for the thread. When
    this is cancelled, the child is killed.
    """
    call = _ChildCall(module, request, on_message)
    ended: Future[int] = Future()
    ended.set_running_or_notify_cancel()
    threading.Thread(target=call.serve, args=(ended,), name=f"abstractcore-{name}", daemon=True).start()
    try:
        return await asyncio.wrap_future(ended)
    finally:
        call.kill()


class _ChildCall:
    def __init__(self, module: str, request: bytes, on_message: Callable[[bytes], bool]) -> None:
        self._module = module
        self._request = request
        self._on_message = on_message
        self._child: ChildProcess | None = None
        self._is_killed = False

    def kill(self) -> None:
        self._is_killed = True
        if self._child is not None:
            self._child.kill()

    def serve(self, ended: Future[int]) -> None:
        try:
            ended.set_result(self._code())
        except BaseException as error:
            ended.set_exception(error)

    def _code(self) -> int:
        self._child = child = ChildProcess(self._module)
        timer: threading.Timer | None = None
        try:
            if self._is_killed:
                child.kill()
            child.send(self._request)
            while (message := child.receive()) is not None:
                if self._on_message(message):
                    timer = threading.Timer(_GRACE_SECONDS, child.kill)
                    timer.daemon = True
                    timer.start()
        finally:
            if timer is not None:
                timer.cancel()
            code = child.end()
        return code
