"""What tests leave behind in this process: child processes, threads of this package and file descriptors."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from abstractcore.concurrency import workers
from tests.chaos_server import PATIENCE_SECONDS

_POLL_SECONDS = 0.01


def wait_until(condition: Callable[[], Any]) -> Any:
    """Returns the condition's value as soon as it holds, or after a long time."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return value


def children() -> list[str]:
    """Returns the ids of the child processes of this one, also of those that nobody has waited for."""
    found: list[str] = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            found += (task / "children").read_text().split()
    return found


def portals() -> list[threading.Thread]:
    """Returns the threads with an event loop for sync calls."""
    return [thread for thread in threading.enumerate() if thread.name == "abstractcore-portal"]


def threads() -> list[threading.Thread]:
    """Returns the threads of this package, but for the portal of sync calls, which stays."""
    names = ((thread, thread.name) for thread in threading.enumerate())
    return [thread for thread, name in names if name.startswith("abstractcore-") and name != "abstractcore-portal"]


def descriptors() -> dict[str, str]:
    """Returns the open file descriptors, and what they are."""
    found: dict[str, str] = {}
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the folder itself
            found[number] = os.readlink(f"/proc/self/fd/{number}")
    return found


@contextmanager
def nothing_left(most_descriptors: int) -> Generator[None]:
    """Fails if a process, a thread, or more than so many file descriptors are left after the body.

    Threads that are kept for their next work end at once.
    """
    gc.collect()
    files, before = descriptors(), {*children(), *threads()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "_IDLE_SECONDS", 0.0)
        yield

    def left() -> list[object]:
        gc.collect()
        now = descriptors()
        opened = [what for number, what in now.items() if files.get(number) != what]
        too_many = len(now) - len(files) > most_descriptors
        return [*({*children(), *threads()} - before), *(opened if too_many else [])]

    assert wait_until(lambda: not left()), left()


@pytest.fixture(scope="module", autouse=True)
def _module_leaves_nothing() -> Iterator[None]:
    """A test module leaves nothing behind, once the portal of sync calls is closed. Import it to use it."""
    from abstractcore.client.services import default_services

    default_services().sync_runtime.close()
    with nothing_left(0):
        yield
        default_services().sync_runtime.close()
