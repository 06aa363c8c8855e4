"""`ChildProcess`: a process that messages are exchanged with, killed with its own children.

`run_in_child`: one piece of work in a process of its own, which is killed when nobody waits for it any more. The
standard streams of a child process, as the process that started it reads and writes them.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from .pipe_messages import InvalidMessageError, read_message, write_message


class SocketStreams:
    """Sockets: unlike a read of a pipe, one of a socket can be ended, whatever process holds the other end.

    Messages go both ways through one; standard error has another, if it is wanted.
    """

    def __init__(self, *, with_errors: bool) -> None:
        self._messages, self._theirs = socket.socketpair()
        self._errors, self._their_errors = socket.socketpair() if with_errors else (None, None)
        self._their_lifeline, self._lifeline = _pipe() if sys.platform == "linux" else (None, None)
        self.lifeline = None if self._their_lifeline is None else self._their_lifeline.fileno()
        """A descriptor for the child, which ends with this process; see `parent_exit`."""
        self.stdin = self.stdout = self._theirs.fileno()
        self.stderr = None if self._their_errors is None else self._their_errors.fileno()
        self.reader = self.writer = cast("IO[bytes]", self._messages.makefile("rwb", buffering=0))

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        """Closes the ends of a process that has started with copies of them."""
        self._theirs.close()
        if self._their_errors is not None:
            self._their_errors.close()
        if self._their_lifeline is not None:
            self._their_lifeline.close()

    def read_errors(self, size: int) -> bytes:
        """Returns the child's standard error; nothing at its end."""
        return b"" if self._errors is None else self._errors.recv(size)

    def end_messages(self) -> None:
        """Ends reads and writes of messages, from any thread."""
        with suppress(OSError):
            self._messages.shutdown(socket.SHUT_RDWR)

    def end_errors(self) -> None:
        """Ends reads of standard error, from any thread."""
        if self._errors is not None:
            with suppress(OSError):
                self._errors.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes all ends that this process has."""
        ours = self.reader, self._messages, self._errors, self._lifeline
        for each in (*ours, self._theirs, self._their_errors, self._their_lifeline):
            if each is not None:
                each.close()


class PipeStreams:
    """Pipes, on Windows: they end when a child has been killed with all of its own children."""

    lifeline = None
    stdin = stdout = subprocess.PIPE

    def __init__(self, *, with_errors: bool) -> None:
        self.stderr = subprocess.PIPE if with_errors else None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def reader(self) -> IO[bytes]:
        """What the child writes."""
        return cast("IO[bytes]", cast("subprocess.Popen[bytes]", self._process).stdout)

    @property
    def writer(self) -> IO[bytes]:
        """What the child reads."""
        return cast("IO[bytes]", cast("subprocess.Popen[bytes]", self._process).stdin)

    def attach(self, process: subprocess.Popen[bytes]) -> None:
        """Takes the pipes of a process that has started."""
        self._process = process

    def read_errors(self, size: int) -> bytes:
        """Returns the child's standard error; nothing at its end."""
        errors = None if self._process is None else self._process.stderr
        return b"" if errors is None else errors.read(size)

    def end_messages(self) -> None:
        """Does nothing: a read ends with the children."""

    def end_errors(self) -> None:
        """Does nothing: a read ends with the children."""

    def close(self) -> None:
        """Closes this process's ends."""
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


def _pipe() -> tuple[IO[bytes], IO[bytes]]:
    reader, writer = os.pipe()
    return os.fdopen(reader, "rb", buffering=0), os.fdopen(writer, "wb", buffering=0)


_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[1:]; del sys.argv[1:]; {lifeline}from {module} import main; main()"
_EXIT_WITH_PARENT = f"from {__package__}.parent_exit import exit_with_parent; exit_with_parent({{}}); "
_KEPT_BYTES = 1 << 14
_LAST_WORDS_SECONDS = 0.2
"""How long the standard error of a process that has ended is read, if another process still holds it."""


def has_interpreter() -> bool:
    """Whether there is a Python that children can run: a frozen program would start itself."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


class ChildProcess:
    """Runs `main` of a module in a new Python process, which imports what this one can import, but not its `__main__`.

    The process ends itself when its standard input ends: then this process has died. On Linux it is also killed then,
    whatever it does. `on_exit` is called, in a thread, when it has ended; with it, the last lines of its standard error
    are kept instead of shown. `environment` is added to that of this process. Raises `OSError` if it cannot be started.
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
        kind = PipeStreams if sys.platform == "win32" else SocketStreams
        self._streams = kind(with_errors=on_exit is not None)
        try:
            self._process = _start_process(module, self._streams, environment)
        except OSError:
            self._streams.close()
            raise
        self._streams.attach(self._process)
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
            write_message(self._streams.writer, message)

    def receive(self, max_bytes: int | None = None) -> bytes | None:
        """Returns the next message; None when the process has ended. Raises `InvalidMessageError` for a longer one."""
        try:
            return read_message(self._streams.reader, max_bytes)
        except InvalidMessageError:
            raise
        except (OSError, ValueError):  # it is closed: by `end`, or in a forked process
            return None

    def kill(self) -> None:
        """Kills the process and its children, from any thread, and ends `receive`; later calls do nothing."""
        with self._lock:
            if not self._is_over:
                _kill_tree(self._process)
                self._streams.end_messages()

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
            self._listener.join(_LAST_WORDS_SECONDS)
            self._streams.end_errors()
            self._listener.join()
        self._streams.close()
        return code

    def abandon(self) -> None:
        """In a forked process: closes the copies of the pipes, and leaves the process to its parent."""
        self._is_over = True
        self._process.returncode = 0  # it is not a child of this process: no wait, no ResourceWarning
        self._streams.close()

    def last_errors(self) -> str:
        """Returns the end of what the process wrote to its standard error."""
        return self._errors.decode(errors="replace").strip()

    def _listen(self, on_exit: Callable[[], object]) -> None:
        with suppress(OSError, ValueError):
            while piece := self._streams.read_errors(_KEPT_BYTES):
                self._errors = (self._errors + piece)[-_KEPT_BYTES:]
        on_exit()


def _start_process(
    module: str, streams: SocketStreams | PipeStreams, environment: Mapping[str, str] | None
) -> subprocess.Popen[bytes]:
    lifeline = streams.lifeline
    code = _BOOTSTRAP.format(module=module, lifeline="" if lifeline is None else _EXIT_WITH_PARENT.format(lifeline))
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, sys.path)],
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        bufsize=0,
        env={**os.environ, **environment} if environment else None,
        pass_fds=() if lifeline is None else (lifeline,),
        start_new_session=sys.platform != "win32",
    )


def _kill_tree(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
        return
    descendants = _stopped_descendants(process.pid) if sys.platform == "linux" else []
    for kill, each in [(os.killpg, process.pid), *((os.kill, each) for each in descendants)]:
        with suppress(ProcessLookupError, PermissionError):  # it has ended
            kill(each, signal.SIGKILL)


def _stopped_descendants(pid: int) -> list[int]:
    """Stops a process and its descendants, and returns these, also those in groups of their own."""
    found: list[int] = []
    left = [pid]
    while left:
        each = left.pop()
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGSTOP)  # it starts no further ones while its children are looked up
        children = _children(each)
        found += children
        left += children
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):  # it has ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


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
