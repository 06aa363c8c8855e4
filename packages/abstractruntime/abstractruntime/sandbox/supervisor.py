"""The process that runs code: it starts, limits and ends the program, and returns its files.

`program` gives the text of this module to a new Python, which reads a request from standard input. It imports
the standard library only, and nothing heavy: it is read at the start of every program.
"""

from __future__ import annotations

import ast
import base64
import ctypes
import json
import linecache
import math
import os
import signal
import stat
import sys
import threading
import traceback
import types
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

FILE = "<python>"
"""The file name of the program in its tracebacks."""
MOST_FILES = 1_000
_MOST_ENTRIES = 20_000
_MOST_DESCRIPTORS = 256
_SET_PARENT_DEATH_SIGNAL = 1
_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Runs the program of a request in a child, waits for it, ends its own children, and sends the files it has made.

    The end of the lifeline ends the program: the process that sent the request is dead, or wants no more of it.
    """
    request = json.loads(sys.stdin.buffer.read())
    if request["user"] is not None:
        _become(request["user"])
    for name, content in request["files"].items():
        write_file(".", name, base64.b64decode(content))
    _control(_SET_CHILD_SUBREAPER, 1)  # what the program leaves behind becomes a child of this process
    _control(_SET_DUMPABLE, 0)  # the program cannot write into the memory of this process
    results: int = request["results"]
    _send(results, {"started": True})
    supervisor = os.getpid()
    program = os.fork()
    if program == 0:
        _prepare(request, supervisor)
        _run(request["code"], results, request["output"])
        return
    for descriptor in (0, 1, 2):  # the program has the other copies
        os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
    code = _wait(program, request["lifeline"])
    found, is_complete = read_files(".", request["file_bytes"])
    made = {name: data for name, data in found.items() if _encoded(data) != request["files"].get(name)}
    with suppress(OSError):  # nobody reads it any more
        _send(results, {"files": {name: _encoded(data) for name, data in made.items()}, "complete": is_complete})
    os._exit(code)


def _wait(program: int, lifeline: int) -> int:
    """Waits for the end of the program or of the lifeline, and kills what is left; returns the exit code, as shells
    report it."""
    is_over = threading.Event()

    def end_with_lifeline() -> None:
        os.read(lifeline, 1)
        if not is_over.is_set():
            os.kill(program, signal.SIGKILL)

    threading.Thread(target=end_with_lifeline, daemon=True).start()
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == program:
            break
    is_over.set()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(program, signal.SIGKILL)
    while kill_descendants(os.getpid()):
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _control(option: int, value: int) -> None:
    """Calls `prctl`, on Linux."""
    if sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl failed")


def _prepare(request: dict[str, Any], supervisor: int) -> None:
    """Makes this process the program's: with limits, and without the request's descriptors."""
    import resource  # Windows has none

    os.setsid()
    _control(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(1)
    _control(_SET_DUMPABLE, 1)
    if sys.platform == "linux":
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")  # if memory runs out, the kernel kills programs first
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    results: int = request["results"]
    os.closerange(3, results)
    os.closerange(results + 1, 1 << 16)
    limits = {
        "CORE": 0,
        "CPU": math.ceil(request["seconds"]) + 1,
        "FSIZE": request["file_bytes"],
        "NOFILE": _MOST_DESCRIPTORS,
    }
    if request["tasks"] is not None:
        limits["NPROC"] = request["tasks"]
    if sys.platform == "linux":
        limits["AS"] = request["memory"]
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]


def _run(code: str, results: int, longest: int) -> None:
    """Runs the program as `__main__`, and sends the `repr` of its last expression. `SystemExit` is raised."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv[:] = [FILE]
    linecache.cache[FILE] = (len(code), None, code.splitlines(keepends=True), FILE)
    try:
        tree = ast.parse(code, FILE)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            del tree.body[-1]
        exec(compile(tree, FILE, "exec"), module.__dict__)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), FILE, "eval"), module.__dict__)
            if value is not None:
                _send(results, {"value": repr(value)[: longest + 1]})
    except SystemExit:
        raise
    except BaseException as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != FILE:
            frames = frames.tb_next
        traceback.print_exception(type(error), error, frames)
        sys.exit(1)


def _send(results: int, document: Mapping[str, object]) -> None:
    """Writes a line of JSON. The program may have written half a line before."""
    line = f"\n{json.dumps(document)}\n".encode()
    while line:
        line = line[os.write(results, line) :]


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def write_file(folder: str, name: str, data: bytes) -> None:
    """Writes a file below `folder`, in folders that are made. A link of that name is replaced, not followed."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = f"{path}.{os.getpid()}-{threading.get_ident()}.new"
    with open(draft, "xb") as file:
        file.write(data)
    os.replace(draft, path)


def read_files(folder: str, most_bytes: int) -> tuple[dict[str, bytes], bool]:
    """Returns the regular files below a folder, and whether these are all.

    Links, also hard ones, are not followed, and what is no file is not opened. Files past `most_bytes` in all are left
    out, as are those that cannot be read.
    """
    found: dict[str, bytes] = {}
    is_complete = True
    for path in _paths(folder):
        data = None
        if path is not None and len(found) < MOST_FILES:
            with suppress(OSError):
                data = _read(path, most_bytes)
        if path is None or data is None:
            is_complete = False
        else:
            most_bytes -= len(data)
            found[os.path.relpath(path, folder)] = data
    return found, is_complete


def _paths(folder: str) -> Iterator[str | None]:
    """Yields the paths of what is below a folder; None for a folder that cannot be read, and where it gives up."""
    left, entries = [folder], 0
    while left:
        try:
            with os.scandir(left.pop()) as listing:
                for entry in listing:
                    entries += 1
                    if entries > _MOST_ENTRIES:
                        yield None
                        return
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
                    else:
                        yield entry.path
        except OSError:
            yield None


def _read(path: str, most_bytes: int) -> bytes | None:
    """Returns the bytes of a regular file with one name; None if it is none, or larger."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_size > most_bytes:
            return None
        data = file.read(most_bytes + 1)
        return data if len(data) <= most_bytes else None


def descendants(pid: int) -> list[int]:
    """Returns the ids of the processes below one, on Linux; also of those that nobody has waited for."""
    found: list[int] = []
    left = [pid]
    while left:
        folder = f"/proc/{left.pop()}/task"
        with suppress(OSError):  # it has ended
            for task in os.listdir(folder):
                with open(f"{folder}/{task}/children") as file:
                    children = [int(child) for child in file.read().split()]
                found += children
                left += children
    return found


def kill_descendants(pid: int) -> list[int]:
    """Kills the processes below one, and returns their ids. They are stopped first, or those that fork would escape."""
    stopped: set[int] = set()
    while found := set(descendants(pid)) - stopped:
        _signal(found, signal.SIGSTOP)
        stopped |= found
    _signal(stopped, signal.SIGKILL)
    return sorted(stopped)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


if __name__ == "__main__":
    main()
