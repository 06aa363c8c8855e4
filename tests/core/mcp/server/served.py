"""`abstractcore mcp serve` in a process, for tests."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

COMMAND = (sys.executable, "-W", "error", "-c", "from abstractcore_cli import main; main()", "mcp", "serve")
NO_MODEL = ("--no-ask", "--no-transcribe", "--no-describe", "--no-extract")
PATIENCE_SECONDS = 120.0
FOLDER = Path(__file__).parent
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def environment(**variables: str) -> dict[str, str]:
    """The environment of a server, without the keys of this one."""
    return {**{name: value for name, value in os.environ.items() if name != "ABSTRACTCORE_SERVER_KEY"}, **variables}


def request(number: int | str, method: str, **params: Any) -> dict[str, Any]:
    """A request of the revision without sessions."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META, **params}}


def call(number: int | str, name: str, *, token: str | None = None, **arguments: Any) -> dict[str, Any]:
    """A request to call a tool; with a token, its progress is wanted."""
    made = request(number, "tools/call", name=name, arguments=arguments)
    if token is not None:
        made["params"]["_meta"] = {**META, "progressToken": token}
    return made


def _take_ctrl_c() -> None:
    """A background job inherits SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Served:
    """A server in a process. What it writes to stderr is collected; `ended` returns its exit code."""

    def __init__(self, *arguments: str, cwd: Path = FOLDER, **variables: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=cwd,
            env=environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=_take_ctrl_c if os.name == "posix" else None,
        )
        self.errors: list[str] = []
        self._has_line = threading.Condition()
        self._reader = threading.Thread(target=self._read_errors)
        self._reader.start()

    def __enter__(self) -> Served:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:  # the process ended before it had read all
                continue
        self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        assert self.process.stderr is not None
        self.process.stderr.close()

    @property
    def stderr(self) -> str:
        """What the server wrote to stderr so far."""
        return "".join(self.errors)

    def error_line(self, pattern: str) -> re.Match[str]:
        """Waits for a line on stderr that the pattern matches."""
        found: list[re.Match[str]] = []

        def is_there() -> bool:
            found[:] = [match for line in [*self.errors] if (match := re.search(pattern, line))]
            return bool(found) or not self._reader.is_alive()

        with self._has_line:
            self._has_line.wait_for(is_there, PATIENCE_SECONDS)
        assert found, f"no line like {pattern!r} in:\n{self.stderr}"
        return found[0]

    def send(self, *messages: Any) -> None:
        """Writes messages to stdin, each in a line; bytes as they are."""
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self.process.stdin.write(line)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """Returns the next message of stdout, of which every line is one."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"stdout has ended; stderr:\n{self.stderr}"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def answers(self, numbers: Sequence[int | str]) -> dict[int | str, dict[str, Any]]:
        """Returns the answers to these requests, in whatever order they come."""
        found: dict[int | str, dict[str, Any]] = {}
        while set(found) != set(numbers):
            message = self.receive()
            if "id" in message and "method" not in message:
                found[message["id"]] = message
        return found

    def interrupt(self) -> None:
        """Presses Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def ended(self) -> int:
        """Closes stdin, and returns the exit code; stdout has nothing left but messages."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        for line in self.process.stdout:
            assert json.loads(line)["jsonrpc"] == "2.0"
        code = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        return code

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._has_line:
                self.errors.append(line.decode("utf-8", "replace"))
                self._has_line.notify_all()
        with self._has_line:
            self._has_line.notify_all()


@contextmanager
def serving_http(*arguments: str, cwd: Path = FOLDER, **variables: str) -> Iterator[tuple[Served, str]]:
    """Yields a server at a free port of this machine, and its URL."""
    with Served("--http", "127.0.0.1:0", *arguments, cwd=cwd, **variables) as served:
        yield served, served.error_line(r"listening at (\S+)")[1]
