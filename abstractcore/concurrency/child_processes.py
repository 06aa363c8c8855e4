"""`ChildProcess`: a process that messages are exchanged with, killed with its own children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, cast

from .pipe_messages import InvalidMessageError, read_message, write_message

_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[1:]; del sys.argv[1:]; from {module} import main; main()"
_KEPT_BYTES = 1 << 14
_PIPE_BYTES = 1 << 18


def has_interpreter() -> bool:
    """Whether there is a Python that children can run: a frozen program would start itself."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


class ChildProcess:
    """Runs `main` of a module in a new Python process, which imports what this one can import, but not its `__main__`.

    The process ends itself when its standard input ends: then this process has died. `on_exit` is called, in a thread,
    when it has ended; with it, the last lines of its standard error are kept instead of shown. `environment` is added
    to that of this process. Raises `OSError` if it cannot be started.
    """

    def __init__(
        self,
        module: str,
        *,
        environment: Mapping[str, str] | None = None,
        on_exit: Callable[[], object] | None = None,
    ) -> None:
        self._lock = threading.Lock()
        """Held while signals are sent: the id of a process that has been waited for may belong to another one."""
        self._is_over = False
        self._errors = b""
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP.format(module=module), *map(str, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if on_exit is not None else None,
            bufsize=0,
            env={**os.environ, **environment} if environment else None,
            start_new_session=sys.platform != "win32",
        )
        for pipe in (self._process.stdin, self._process.stdout):
            _widen(cast("IO[bytes]", pipe))
        self._listener: threading.Thread | None = None
        if on_exit is not None:
            self._listener = threading.Thread(
                target=self._listen, args=(on_exit,), name="abstractcore-child-stderr", daemon=True
            )
            self._listener.start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def send(self, message: bytes) -> None:
        """Writes a message. Does nothing if the process has ended: `receive` says so."""
        with suppress(OSError, ValueError):
            write_message(cast("IO[bytes]", self._process.stdin), message)

    def receive(self, max_bytes: int | None = None) -> bytes | None:
        """Returns the next message; None when the process has ended. Raises `InvalidMessageError` for a longer one."""
        try:
            return read_message(cast("IO[bytes]", self._process.stdout), max_bytes)
        except InvalidMessageError:
            raise
        except (OSError, ValueError):  # it is closed: by `end`, or in a forked process
            return None

    def kill(self) -> None:
        """Kills the process and its children, from any thread; later calls do nothing."""
        with self._lock:
            if not self._is_over:
                _kill_tree(self._process)

    def end(self) -> int:
        """Kills the process if it still runs, and frees what it holds; returns its exit code, negative for a signal.

        Only the thread that exchanges messages may call it.
        """
        with self._lock:
            if not self._is_over:
                _kill_tree(self._process)
                self._is_over = True
        code = self._process.wait()
        if self._listener is not None and self._listener is not threading.current_thread():
            self._listener.join()
        self._close()
        return code

    def abandon(self) -> None:
        """In a forked process: closes the copies of the pipes, and leaves the process to its parent."""
        self._is_over = True
        self._process.returncode = 0  # it is no child of this process: no wait, no ResourceWarning
        self._close()

    def last_errors(self) -> str:
        """Returns the end of what the process wrote to its standard error."""
        return self._errors.decode(errors="replace").strip()

    def _listen(self, on_exit: Callable[[], object]) -> None:
        with suppress(OSError, ValueError):
            while piece := cast("IO[bytes]", self._process.stderr).read(_KEPT_BYTES):
                self._errors = (self._errors + piece)[-_KEPT_BYTES:]
        on_exit()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _widen(pipe: IO[bytes]) -> None:
    """Lets a pipe hold more, so that the processes take turns less often."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # the user's limit for all pipes
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        return
    with suppress(ProcessLookupError, PermissionError):  # it has ended
        os.killpg(process.pid, signal.SIGKILL)
