"""`Sandbox`: the settings under which code is run, and the choice of what isolates it."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from abstractcore import Interruption
from abstractcore.errors import CallInterruptedError, InvalidInputError
from abstractcore.ports import current_interruption

from .bubblewrap import Bubblewrap
from .program import Ending, Request, Stopped, is_file_name, run_process
from .program import SandboxError as SandboxError
from .supervisor import read_files, write_file

_NO_FILES: Mapping[str, bytes] = MappingProxyType({})
_TEST_SECONDS = 30.0
_TEST = "import os, sys; [os.listdir(path) for path in sys.path if os.path.exists(path)]; import wave"
"""Fails if the folders of Python cannot be read."""


class UntrustedCodeError(SandboxError):
    """Code that is not trusted was not run: bubblewrap is not installed, or does not work here."""


@dataclass(frozen=True, slots=True)
class CodeResult:
    """What a program printed, returned and made.

    `value` is the `repr` of its last line, if that is an expression and not None. `exit_code` is 128 and the number of
    the signal for a program that was killed, as shells report it. `files` are those that it has made or changed, by
    their paths below its working folder; links are left out. `stopped` names the limit for which it was killed.
    """

    stdout: str
    """What the code printed."""
    stderr: str
    """What it wrote to the standard error."""
    value: str | None
    exit_code: int
    stopped: Stopped | None = None
    truncated: bool = False
    """Whether output, the value or files are left out."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    @property
    def timed_out(self) -> bool:
        """Whether the program was killed at its time limit."""
        return self.stopped == "time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """Runs Python code in a process of its own, with limits: no code is ever run in this process.

    In bubblewrap, code has no network, no environment, no home, and sees nothing of the machine but /usr, this Python
    and its packages, which it cannot change. Where bubblewrap does not work, only code that is `trusted` is run, in a
    process with limits that has the rights of this program. Neither keeps variables from one run to the next.

    This is not a virtual machine: all programs share the kernel, and a defect of the kernel is a way out. On x86-64 and
    64-bit ARM, system calls that few programs need, and attacks often, are refused. Limits on memory do not count what
    the kernel holds for a program, such as the buffers of sockets. Run the whole worker in a container or a virtual
    machine with limits of its own if that matters. Without bubblewrap, limits hold for code that goes wrong, not for
    code that attacks: it can read your files, and kill the process that supervises it.

    Raises `InvalidInputError` for a setting that is not valid.
    """

    seconds: float = 30.0
    """Time limit of a run, from the start of its process."""
    memory: int = 1 << 30
    """Bytes of address space of each process, and of the memory of all of them together, checked 20 times a second."""
    output: int = 20_000
    """Characters that are kept of standard output, of standard error and of the value: the first and the last ones."""
    processes: int = 64
    """Processes and threads at one time."""
    file_bytes: int = 32 << 20
    """Bytes of the files of a run, given and made. In bubblewrap, files are kept in memory, as are those in /tmp."""
    folder: Path | None = None
    """A folder of files that each run is given, and to which those are written that it makes or changes."""
    network: bool = False
    """Whether code may use the network, with the services of this machine and of its own network. Code that is run
    without bubblewrap always can."""
    trusted: bool = False
    """Whether code may be run without isolation where bubblewrap does not work."""

    def __post_init__(self) -> None:
        for name in ("memory", "output", "processes", "file_bytes"):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidInputError(f"expected a whole number above 0, got {value!r}", path=name)
        seconds: object = self.seconds
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected seconds above 0, got {seconds!r}", path="seconds")
        for name in ("network", "trusted"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidInputError(f"expected True or False, got {getattr(self, name)!r}", path=name)

    @property
    def changes_nothing(self) -> bool:
        """Whether runs change nothing outside: code may be run again after a crash, and without asking anybody."""
        return not (self.trusted or self.network or self.folder)

    @property
    def isolation(self) -> Literal["bubblewrap", "process"]:
        """What code is run in here. Raises `UntrustedCodeError` if nothing is safe enough for it."""
        return "process" if self._bubblewrap() is None else "bubblewrap"

    def run(
        self, code: str, *, files: Mapping[str, bytes] = _NO_FILES, interruption: Interruption | None = None
    ) -> CodeResult:
        """Runs a program, and blocks until it has ended. What goes wrong in it is in the result.

        `files` are in its working folder when it begins. Without `interruption`, that of the current call ends it.

        Raises `UntrustedCodeError` if bubblewrap does not work here and code is not trusted, `SandboxError` if no
        process can be started or `folder` cannot be read or written, `CallInterruptedError` if it is interrupted, and
        `InvalidInputError` for code and files that are not valid.
        """
        if not isinstance(code, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected text, got {type(code).__name__}", path="code")
        bubblewrap = self._bubblewrap()
        given = {**self._read_folder(), **files}
        self._check(given)
        interruption = interruption or current_interruption()
        if interruption is not None and interruption.is_set:
            raise CallInterruptedError("the code was not run: its interruption is set")
        ending = run_process(_request(self, code, given), bubblewrap, interruption)
        self._write_folder(ending.files)
        return _result(ending)

    def _bubblewrap(self) -> Bubblewrap | None:
        if sys.platform == "win32":
            raise SandboxError("code is not run on Windows", hint="Run it on Linux or macOS, or in a container.")
        found = _find_bubblewrap(shutil.which("bwrap"))
        if isinstance(found, Bubblewrap):
            return found
        if self.trusted:
            return None
        raise UntrustedCodeError(
            f"code that is not trusted is not run: {found.reason}",
            hint=f"{found.remedy}, or use Sandbox(trusted=True) for code that you trust.",
        )

    def _check(self, files: Mapping[str, bytes]) -> None:
        for name, data in files.items():
            if not isinstance(name, str) or not is_file_name(name):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidInputError(
                    f"expected a relative path without '..', got {name!r}",
                    path="files",
                    hint="Write for example 'data/table.csv'.",
                )
            if not isinstance(data, bytes):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidInputError(f"expected bytes, got {type(data).__name__}", path=f"files[{name!r}]")
        size = sum(map(len, files.values()))
        if size > self.file_bytes:
            raise InvalidInputError(
                f"expected at most {self.file_bytes:,} bytes, got {size:,}",
                path="files",
                hint="Sandbox(file_bytes=...) is the limit.",
            )

    def _read_folder(self) -> dict[str, bytes]:
        if self.folder is None or not self.folder.exists():
            return {}
        found, is_complete = read_files(str(self.folder), self.file_bytes)
        if not is_complete:
            raise SandboxError(
                f"not all of {self.folder} can be given to code: it has links, files that cannot be read, or more than "
                f"{self.file_bytes:,} bytes",
                hint="Sandbox(file_bytes=...) is the limit.",
            )
        return found

    def _write_folder(self, files: Mapping[str, bytes]) -> None:
        if self.folder is None:
            return
        try:
            for name, data in files.items():
                write_file(str(self.folder), name, data)
        except OSError as error:
            raise SandboxError(f"the files of the code cannot be written to {self.folder}: {error}") from None


def _request(sandbox: Sandbox, code: str, files: Mapping[str, bytes]) -> Request:
    return Request(
        code,
        files,
        seconds=sandbox.seconds,
        memory=sandbox.memory,
        output=sandbox.output,
        processes=sandbox.processes,
        file_bytes=sandbox.file_bytes,
        network=sandbox.network,
    )


def _result(ending: Ending) -> CodeResult:
    return CodeResult(
        ending.stdout,
        ending.stderr,
        ending.value,
        ending.exit_code,
        stopped=ending.stopped,
        truncated=ending.truncated,
        files=ending.files,
    )


@dataclass(frozen=True, slots=True)
class _Unavailable:
    reason: str
    remedy: str


@cache
def _find_bubblewrap(path: str | None) -> Bubblewrap | _Unavailable:
    """Returns how bubblewrap works on this machine, by trying it once."""
    if sys.platform != "linux":
        return _Unavailable("bubblewrap needs Linux", "Run it on Linux")
    if path is None:
        return _Unavailable("bubblewrap is not installed", "Install it: apt-get install bubblewrap")
    reason = ""
    for by_root in (True, False) if os.geteuid() == 0 else (False,):
        bubblewrap = Bubblewrap(path, by_root=by_root)
        try:
            ending = run_process(_request(Sandbox(seconds=_TEST_SECONDS), _TEST, {}), bubblewrap, None)
        except SandboxError as error:
            reason = error.message
            continue
        if ending.exit_code == 0:
            return bubblewrap
        reason = ending.stderr.strip().rpartition("\n")[2] or f"a test ended with exit code {ending.exit_code}"
    return _Unavailable(
        f"bubblewrap does not work here: {reason}",
        "Install bubblewrap 0.8 or later, and allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; on "
        "Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0)",
    )
