"""`ModelProcess`: one child process that serves a model: its start, health, cause of death and end."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from abstractcore.errors import ConfigurationError, ModelCrashedError

from .child_main import LOAD_FAILED
from .gguf import ModelKind
from .memory import memory_hint

_CHILD = Path(__file__).with_name("child_main.py")
_GRACE = 1.0
_LOG_LINES = 8
_LOG_BYTES = 4096
_OUT_OF_MEMORY = re.compile(r"(failed|unable) to allocate|cannot allocate memory|bad_alloc", re.IGNORECASE)
_MISSING_LIBRARY = re.compile(r"(lib\S{1,255}): cannot open shared object file")
_SMALLER = "Use a smaller `context_size` or a smaller model, or end other programs."


@dataclass(frozen=True, slots=True)
class ServerKey:
    """Calls with equal keys share a process: the weights, the context size in tokens, the threads, what the model is
    for. `pools` is whether vectors of tokens are averaged, since the file does not say how they become one.
    """

    weights: Path
    context_size: int
    threads: int
    kind: ModelKind = "chat"
    pools: bool = False


class ModelProcess:
    """A child process that serves one model at `url`, with the API key `key`."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes], key: str, weights: Path) -> None:
        self.url = ""
        self.key = key
        self.abandoned = False
        self._process = process
        self._log = log
        self._weights = weights

    @classmethod
    def start(cls, settings: ServerKey, alias: str, limit: float) -> ModelProcess:
        """Loads the weights in a new child, within `limit` seconds. Raises `ModelCrashedError`."""
        if not sys.executable or getattr(sys, "frozen", False):
            raise ConfigurationError(
                "a local model runs in a separate Python interpreter, which this frozen program does not have",
                hint="Run the program with an installed Python, or use a model server such as Ollama.",
            )
        log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the child runs
        process = subprocess.Popen(
            [sys.executable, "-I", str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        server = cls(process, log, secrets.token_urlsafe(32), settings.weights)
        try:
            server._await_url(settings, alias, limit)
        except BaseException:
            server.end()
            raise
        return server

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def alive(self, patience: float = 0.0) -> bool:
        """Returns whether the child still runs; waits up to `patience` seconds for one that is exiting."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return (self._process.wait(patience) if patience else self._process.poll()) is None
        return True

    def death(self) -> tuple[str, str]:
        """Returns the cause of a child's death, and a hint."""
        code = self._process.returncode
        lines = self._last_lines()
        if code == LOAD_FAILED and _OUT_OF_MEMORY.search(lines):
            text = "llama.cpp ran out of memory while it loaded the weights"
            hint = _sentences(_SMALLER, memory_hint(self._weights))
        elif code == LOAD_FAILED and (missing := _MISSING_LIBRARY.search(lines)):
            text = f"llama.cpp requires {missing[1]}, which this system does not have"
            hint = f"Install the system's package that has {missing[1]}: on Debian, libgomp.so.1 is in libgomp1."
        elif code == LOAD_FAILED:
            text = "llama.cpp could not load the weights"
            hint = (
                "The file may be corrupt, not supported by this llama.cpp, or too large for the memory. "
                "If the store downloaded it, `abstractcore models remove` it and pull it again."
            )
        elif code is not None and code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            text, hint = f"the model's process was killed by {name}", "The next call starts a new one."
            if name == "SIGKILL":
                hint = _sentences(f"It probably ran out of memory. {_SMALLER}", memory_hint(self._weights), hint)
        else:
            text, hint = f"the model's process exited with code {code}", "The next call starts a new one."
        return (f"{text}; its last log lines:\n{lines}\n" if lines else text), hint

    def end(self) -> None:
        """Ends the child and waits for it. May be called again."""
        if not self.abandoned:
            self._close(self._process.stdin)
            try:
                self._process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._close(self._process.stdout)
        self._close(self._log)

    def abandon(self) -> None:
        """In a forked process: closes the copies of the pipes, and leaves the child to its parent."""
        self.abandoned = True
        self._process.returncode = 0  # it is not our child: no wait, no ResourceWarning
        for stream in (self._process.stdin, self._process.stdout, self._log):
            self._close(stream)

    def _await_url(self, settings: ServerKey, alias: str, limit: float) -> None:
        line = json.dumps(
            {
                "weights": str(settings.weights),
                "alias": alias,
                "context_size": settings.context_size,
                "threads": settings.threads,
                "kind": settings.kind,
                "pools": settings.pools,
                "key": self.key,
                "search_path": sys.path,
            }
        )
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(limit, give_up)
        timer.daemon = True
        timer.start()
        try:
            with contextlib.suppress(BrokenPipeError):
                stdin = cast("IO[bytes]", self._process.stdin)
                stdin.write(line.encode() + b"\n")
                stdin.flush()
            answer = cast("IO[bytes]", self._process.stdout).readline()
        finally:
            timer.cancel()
        if late.is_set():
            raise ModelCrashedError(
                f"loading the model timed out after {limit:g} s",
                hint=_sentences(
                    "Use a smaller model, or retry when the machine is less busy.", memory_hint(settings.weights)
                ),
            )
        if not answer:
            self._process.wait()
            message, hint = self.death()
            raise ModelCrashedError(message, hint=hint)
        self.url = json.loads(answer)["url"]

    def _last_lines(self) -> str:
        try:
            size = self._log.seek(0, 2)
            self._log.seek(max(0, size - _LOG_BYTES))
            text = self._log.read().decode(errors="replace")
        except (OSError, ValueError):
            return ""
        return "\n".join(f"  {line}" for line in text.splitlines()[-_LOG_LINES:])

    @staticmethod
    def _close(stream: IO[bytes] | None) -> None:
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))
