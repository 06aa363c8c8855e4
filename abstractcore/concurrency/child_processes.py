"""`ChildProcess`: a process for one piece of work, killed with its own children when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import IO, cast

from .pipe_messages import read_message, write_message

_GRACE_SECONDS = 2.0
"""How long a child may take to exit after its last message."""


class ChildProcess:
    """Runs `command` with `request` on its standard input, which stays open: its end means that this process has died.

    The child answers with messages on its standard output (`pipe_messages`); `on_message` gets each, in a thread, and
    returns whether it is the last one. `name` is for the thread.
    """

    def __init__(
        self, command: Sequence[str], request: bytes, on_message: Callable[[bytes], bool], *, name: str
    ) -> None:
        self._command = command
        self._request = request
        self._on_message = on_message
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None
        self._is_killed = False
        self._lock = threading.Lock()
        """Held while signals are sent: the id of a process that has been waited for may belong to another one."""

    async def run(self) -> int:
        """Returns the exit code, negative for a signal. When it is cancelled, the child is killed."""
        ended: Future[int] = Future()
        ended.set_running_or_notify_cancel()
        threading.Thread(target=self._serve, args=(ended,), name=f"abstractcore-{self._name}", daemon=True).start()
        try:
            return await asyncio.wrap_future(ended)
        finally:
            self.kill()

    def kill(self) -> None:
        """Kills the child and its children; later calls do nothing."""
        with self._lock:
            self._is_killed = True
            if self._process is not None:
                _kill_tree(self._process)

    def _serve(self, ended: Future[int]) -> None:
        try:
            ended.set_result(self._code())
        except BaseException as error:
            ended.set_exception(error)

    def _code(self) -> int:
        with self._lock:
            if self._is_killed:
                return -signal.SIGTERM
            self._process = process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=sys.platform != "win32",
            )
        timer: threading.Timer | None = None
        try:
            with suppress(OSError):  # the child died before it read everything: its exit code says why
                write_message(cast("IO[bytes]", process.stdin), self._request)
            while (message := read_message(cast("IO[bytes]", process.stdout))) is not None:
                if self._on_message(message):
                    timer = threading.Timer(_GRACE_SECONDS, self.kill)
                    timer.daemon = True
                    timer.start()
        finally:
            if timer is not None:
                timer.cancel()
            with self._lock:
                _kill_tree(process)
                self._process = None
            code = process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    cast("IO[bytes]", pipe).close()
        return code


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        return
    with suppress(ProcessLookupError, PermissionError):  # it has ended
        os.killpg(process.pid, signal.SIGKILL)
