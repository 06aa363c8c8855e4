"""What Linux says of processes that are no children of this one: whether they live, and what they take."""

from __future__ import annotations

import os
import platform
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .bubblewrap import Bubblewrap

_LONGEST_DEATH_SECONDS = 2.0
_WAIT_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class KnownProcess:
    """A process that is no child of this one: another one may get its id later."""

    pid: int
    started: str

    def is_alive(self) -> bool:
        """Returns whether it still runs."""
        return known_process(self.pid) == self

    def kill(self) -> None:
        """Kills it, if it still runs."""
        if self.is_alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        """Waits until it is dead, which takes milliseconds once it is killed."""
        latest = time.monotonic() + _LONGEST_DEATH_SECONDS
        while self.is_alive() and time.monotonic() < latest:
            time.sleep(_WAIT_SECONDS)
        with suppress(ChildProcessError):  # it is one of this process if that takes orphans, as the first one does
            os.waitpid(self.pid, os.WNOHANG)


def known_process(pid: int) -> KnownProcess | None:
    """Returns a process, or None if it is dead."""
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "XZ" else KnownProcess(pid, fields[19])
    return None


def use_more_memory(pids: Sequence[int], most_bytes: int) -> bool:
    """Returns whether processes have more memory together that is no file's; what they share counts once."""
    return sum(map(_anonymous_bytes, pids)) > most_bytes and sum(map(_own_bytes, pids)) > most_bytes


def _anonymous_bytes(pid: int) -> int:
    """Returns the memory of a process that is no file's. Pages that it shares with a parent count for both."""
    with suppress(OSError, ValueError, IndexError):
        resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _own_bytes(pid: int) -> int:
    """Returns the memory of a process, with its part of what it shares. Linux takes long for it."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss_Anon:"):
                return int(line.split()[1]) << 10
    return _anonymous_bytes(pid)


def most_tasks(processes: int, bubblewrap: Bubblewrap | None) -> int | None:
    """Returns the threads that the user of a program may have, with those that are not the program's. None for root,
    whom the kernel does not limit."""
    supervisor, first, bubblewraps_own = 2, 1, 1
    if bubblewrap is not None and bubblewrap.by_root:
        return processes + supervisor
    if os.geteuid() == 0:
        return None
    if bubblewrap is not None and _counts_per_namespace():
        return processes + supervisor + first
    return processes + supervisor + first + bubblewraps_own + _tasks_of(os.getuid())


def _counts_per_namespace() -> bool:
    """Returns whether the kernel counts the threads of a user in each user namespace by itself: since Linux 5.14."""
    numbers = platform.release().split("-")[0].split(".")[:2]
    return [int(number) for number in numbers if number.isdigit()] >= [5, 14]


def _tasks_of(user: int) -> int:
    """Returns the number of threads of a user, on Linux."""
    found = 0
    with suppress(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    found += len(os.listdir(f"/proc/{name}/task"))
    return found
