"""The standard streams of a child process, as the process that started it reads and writes them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from typing import IO, cast


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
