"""Starts the process of a program, reads what it writes, holds it to its limits, and kills all of it in the end."""

from __future__ import annotations

import base64
import binascii
import inspect
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import IO, Any, Literal, TypeAlias, cast

from abstractcore.errors import AbstractCoreError, CallInterruptedError
from abstractcore.ports import Interruption

from . import supervisor
from .bubblewrap import Bubblewrap, system_call_filter
from .processes import KnownProcess, known_process, most_tasks, use_more_memory
from .supervisor import MOST_FILES, descendants, kill_descendants


class SandboxError(AbstractCoreError):
    """Code cannot be run here. What goes wrong in the code is in its `CodeResult`."""


Stopped: TypeAlias = Literal["time", "memory", "processes", "output"]
"""The limit for which a program was killed."""

_CHECK_SECONDS = 0.05
_GRACE_SECONDS = 2.0
"""How long a program that was stopped may take to hand over its files."""
_MOST_OUTPUT = 64 << 20
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "2",  # NumPy would start a thread for each processor, and fail at the limit
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "TMPDIR": "/tmp",
}
_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class Request:
    """A program, its files, and its limits."""

    code: str
    files: Mapping[str, bytes]
    seconds: float
    memory: int
    output: int
    processes: int
    file_bytes: int
    network: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended, and what it left."""

    stdout: str
    stderr: str
    value: str | None
    exit_code: int
    stopped: Stopped | None
    truncated: bool
    files: dict[str, bytes]


def run_process(request: Request, bubblewrap: Bubblewrap | None, interruption: Interruption | None) -> Ending:
    """Runs a program in a process of its own, in bubblewrap if it is given; blocks.

    Raises `SandboxError` if it cannot be started, and `CallInterruptedError` if `interruption` is set.
    """
    with _started(request, bubblewrap) as program:
        reason = program.read_all(interruption)
        code = program.process.wait()
    return program.ending(code, reason)


@dataclass(slots=True)
class _Stream:
    """The beginning and the end of what a program writes, `half` bytes of each at least; the rest is dropped."""

    half: int
    size: int = 0
    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> None:
        """Takes what was read."""
        self.size += len(data)
        room = self.half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self.half:
            del self._tail[: -self.half]

    def whole(self) -> bytes | None:
        """Returns all that was written; None if some of it was dropped."""
        return bytes(self._head + self._tail) if self.size == len(self._head) + len(self._tail) else None

    def text(self, longest: int) -> tuple[str, bool]:
        """Returns at most `longest` characters and a note between them, and whether some are left out."""
        whole = self.whole()
        text = None if whole is None else whole.decode(errors="replace")
        if text is not None and len(text) <= longest:
            return text, False
        head = text if text is not None else self._head.decode(errors="replace")
        tail = text if text is not None else self._tail.decode(errors="replace")
        end = longest // 2
        note = f"\n[... the middle of {self.size:,} bytes is left out ...]\n"
        return head[: longest - end] + note + (tail[-end:] if end else ""), True


@dataclass(slots=True)
class _Program:
    request: Request
    process: subprocess.Popen[bytes]
    lifeline: IO[bytes]
    results: IO[bytes]
    first: KnownProcess | None = None
    """The first process of the namespace, whose end is the end of all of it."""
    supervisor: int | None = None
    """The id of the process that has started the program; None until it is known."""
    streams: dict[str, _Stream] = field(init=False)

    def __post_init__(self) -> None:
        output = _Stream(2 * self.request.output), _Stream(2 * self.request.output)
        self.streams = {"stdout": output[0], "stderr": output[1], "results": _Stream(self._most_results())}

    def read_all(self, interruption: Interruption | None) -> Stopped | None:
        """Reads until the program has ended; returns the limit that ended it. Raises `CallInterruptedError`."""
        deadline = time.monotonic() + self.request.seconds
        reason: Stopped | None = None
        with selectors.DefaultSelector() as selector:
            pipes = {"stdout": self.process.stdout, "stderr": self.process.stderr, "results": self.results}
            for name, pipe in pipes.items():
                selector.register(cast("IO[bytes]", pipe), selectors.EVENT_READ, name)
            next_check = time.monotonic()
            while True:
                if self.process.poll() is not None:
                    self.kill()  # nothing writes any more
                    while self._read(selector, 0.0) and not self._is_flooded():
                        pass
                    return reason
                self._read(selector, _CHECK_SECONDS)
                if interruption is not None and interruption.is_set:
                    raise CallInterruptedError("the code was stopped by its interruption")
                now = time.monotonic()
                if now < next_check:
                    continue
                next_check = now + _CHECK_SECONDS
                if reason is not None:
                    if now > deadline:
                        self.kill()
                elif (reason := self._passed_limit(is_late=now > deadline)) is not None:
                    self.lifeline.close()  # its supervisor kills it, and sends its files
                    deadline = now + _GRACE_SECONDS

    def _read(self, selector: selectors.BaseSelector, timeout: float) -> bool:
        """Reads what is there; returns whether there was anything."""
        if not selector.get_map():
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout)
            return False
        ready = selector.select(timeout)
        for key, _ in ready:
            if data := os.read(key.fd, 1 << 16):
                self.streams[key.data].add(data)
            else:
                selector.unregister(key.fileobj)
        return bool(ready)

    def _is_flooded(self) -> bool:
        written = self.streams["stdout"].size + self.streams["stderr"].size
        return written > _MOST_OUTPUT or self.streams["results"].size > self._most_results()

    def _passed_limit(self, *, is_late: bool) -> Stopped | None:
        request = self.request
        if is_late:
            return "time"
        if self._is_flooded():
            return "output"
        self.supervisor = self.supervisor or self._find_supervisor()
        found = [] if self.supervisor is None else descendants(self.supervisor)
        if len(found) > request.processes:
            return "processes"
        if use_more_memory(found, request.memory):
            return "memory"
        return None

    def _find_supervisor(self) -> int | None:
        pid: int | None = self.process.pid
        for _ in range(0 if self.first is None else 2):  # below that of bubblewrap and the first one of the namespace
            pid = None if pid is None else next(iter(descendants(pid)), None)
        return pid

    def _most_results(self) -> int:
        return 2 * self.request.file_bytes + 12 * self.request.output + MOST_FILES * _BLOCK

    def kill(self) -> None:
        """Kills all processes of the program, and waits until they are dead."""
        found: list[KnownProcess] = []
        if self.first is not None:
            self.first.kill()
            found.append(self.first)
        elif self.process.poll() is None:
            found += filter(None, map(known_process, kill_descendants(self.process.pid)))
        self.process.kill()
        self.process.wait()
        for each in found:
            each.wait()

    def end(self) -> None:
        """Ends the program if it still runs."""
        if self.first is None and self.process.poll() is None:
            self.results.close()  # nobody wants its files
            self.lifeline.close()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_GRACE_SECONDS)
        self.kill()

    def ending(self, code: int, reason: Stopped | None) -> Ending:
        """Returns the ending of a program that has ended; raises `SandboxError` if it has never begun."""
        longest = self.request.output
        stdout, is_out_cut = self.streams["stdout"].text(longest)
        stderr, is_err_cut = self.streams["stderr"].text(longest)
        documents = list(_documents(self.streams["results"].whole() or b""))
        if not any("started" in each for each in documents) and reason is None:
            last = stderr.strip().rpartition("\n")[2] or f"it ended with exit code {code}"
            raise SandboxError(f"the process for the code did not start: {last}")
        value = next((each["value"] for each in documents if isinstance(each.get("value"), str)), None)
        found = next((each for each in reversed(documents) if isinstance(each.get("files"), dict)), None)
        made = _files(found["files"], self.request.file_bytes) if found else {}
        is_cut = is_out_cut or is_err_cut or (value is not None and len(value) > longest)
        are_all = found is not None and found.get("complete") is True and len(made) == len(found["files"])
        return Ending(
            stdout,
            stderr,
            None if value is None else value[:longest],
            code if code >= 0 else 128 - code,
            reason,
            is_cut or not are_all,
            made,
        )


@contextmanager
def _started(request: Request, bubblewrap: Bubblewrap | None) -> Generator[_Program]:
    """Starts a program; kills it in the end, if it still runs. Raises `SandboxError`."""
    with ExitStack() as stack:
        try:
            program = _start(stack, request, bubblewrap)
        except OSError as error:
            raise SandboxError(f"the process for the code cannot be started: {error}") from None
        yield program


def _start(stack: ExitStack, request: Request, bubblewrap: Bubblewrap | None) -> _Program:
    if not sys.executable or getattr(sys, "frozen", False):
        raise SandboxError("this program has no Python interpreter that could run the code")
    results, their_results = _pipe(stack)
    their_lifeline, lifeline = _pipe(stack)
    passed = [their_results, their_lifeline]
    info: IO[bytes] | None = None
    work, environment = "/", _ENVIRONMENT
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", _child_source()]
    if bubblewrap is None:
        folder = tempfile.TemporaryDirectory(prefix="code-", ignore_cleanup_errors=True)
        stack.callback(_remove, folder)
        work = os.path.join(folder.name, "work")
        environment = {**_ENVIRONMENT, "TMPDIR": os.path.join(folder.name, "tmp")}
        os.mkdir(work, 0o700)
        os.mkdir(environment["TMPDIR"], 0o700)
    else:
        info, their_info = _pipe(stack)
        rules = system_call_filter()
        rules_file = None if rules is None else _file_of(stack, rules)
        passed += [their_info] if rules_file is None else [their_info, rules_file]
        command = bubblewrap.command(
            command,
            filter=None if rules_file is None else rules_file.fileno(),
            info=their_info.fileno(),
            file_bytes=request.file_bytes + MOST_FILES * _BLOCK,
            network=request.network,
        )
    message = {
        "code": request.code,
        "files": {name: base64.b64encode(data).decode() for name, data in request.files.items()},
        "seconds": request.seconds,
        "memory": request.memory,
        "output": request.output,
        "file_bytes": request.file_bytes,
        "user": None if bubblewrap is None else bubblewrap.user(),
        "tasks": most_tasks(request.processes, bubblewrap),
        "results": their_results.fileno(),
        "lifeline": their_lifeline.fileno(),
    }
    process = subprocess.Popen(
        command,
        stdin=_file_of(stack, json.dumps(message).encode()),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=work,
        env=environment,
        pass_fds=[each.fileno() for each in passed],
        start_new_session=True,
    )
    stack.enter_context(process)
    for each in passed:
        each.close()
    program = _Program(request, process, lifeline, results)
    stack.callback(program.end)
    if info is not None:
        program.first = _first_process(info.read())
    return program


def _remove(folder: tempfile.TemporaryDirectory[str]) -> None:
    with suppress(RecursionError):  # of very deep folders, before Python 3.13: they stay
        folder.cleanup()


def _pipe(stack: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    reader, writer = os.pipe()
    return (
        stack.enter_context(os.fdopen(reader, "rb", buffering=0)),
        stack.enter_context(os.fdopen(writer, "wb", buffering=0)),
    )


def _file_of(stack: ExitStack, content: bytes) -> IO[bytes]:
    """Returns an open file without a name."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
    stack.callback(file.close)
    file.write(content)
    file.seek(0)
    return file


def _first_process(info: bytes) -> KnownProcess | None:
    """Returns the first process of a namespace, from what bubblewrap says of it; None if it is over."""
    with suppress(ValueError, KeyError):
        return known_process(json.loads(info)["child-pid"])
    return None


def _documents(lines: bytes) -> Generator[dict[str, Any]]:
    """Yields the documents that a supervisor and its program have sent, which may have sent anything."""
    for line in lines.splitlines():
        with suppress(ValueError, RecursionError):
            document: object = json.loads(line) if line.startswith(b"{") else None
            if isinstance(document, dict):
                yield cast("dict[str, Any]", document)


def _files(documents: dict[str, object], most_bytes: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, content in documents.items():
        if not is_file_name(name) or not isinstance(content, str) or len(found) == MOST_FILES:
            continue
        with suppress(binascii.Error, ValueError):
            data = base64.b64decode(content, validate=True)
            most_bytes -= len(data)
            if most_bytes >= 0:
                found[name] = data
    return found


def is_file_name(name: str) -> bool:
    """Returns whether a text is the path of a file below a folder: relative, without `..`, and short enough."""
    parts = name.split("/")
    try:
        sizes = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        return False
    return (
        all(0 < size <= 255 for size in sizes)
        and sum(sizes) <= 1_000
        and "\0" not in name
        and not {".", ".."}.intersection(parts)
    )


@cache
def _child_source() -> str:
    return inspect.getsource(supervisor)
