"""Runs a program in a pseudo-terminal, typed to and read like by a person."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

PATIENCE_SECONDS = 60.0
_IN_TERMINAL = """
import os, signal, sys
os.login_tty(0)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""A shell that runs the tests in the background has Ctrl-C ignored, and children inherit that."""


class Terminal:
    """Runs Python with `arguments` from `with` to the end of it. `screen` is all that was shown."""

    def __init__(self, arguments: Sequence[str], environment: dict[str, str], columns: int = 80) -> None:
        self.screen = ""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _IN_TERMINAL, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**environment, "TERM": "xterm"},
        )
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._master)

    @property
    def pid(self) -> int:
        """The program's process."""
        return self._process.pid

    def type(self, keys: str) -> None:
        """Press keys; `\\x03` is Ctrl-C and `\\x04` Ctrl-D."""
        os.write(self._master, keys.encode())

    def wait_for(self, text: str, after: int = 0) -> int:
        """Return where `text` ends on the screen, once it is shown at `after` or later."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.screen[after:]:
            assert self._read(deadline), f"{text!r} was not shown:\n{self.screen}"
        return self.screen.index(text, after) + len(text)

    def wait_until_idle(self) -> None:
        """Return once the program waits for something. Python misses a Ctrl-C that comes just before."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
            assert time.monotonic() < deadline, "the program is never idle"

    def wait_for_end(self) -> int:
        """The exit code, once the program has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._read(deadline):
            pass
        return self._process.wait(PATIENCE_SECONDS)

    def _read(self, deadline: float) -> bool:
        """Reads more output; returns False at the end of the program or of the timeout."""
        if not select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False  # Linux says so when nobody has the terminal open any more
        self.screen += data.decode(errors="replace")
        return bool(data)
