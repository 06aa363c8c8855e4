"""Processes of workers, forked of one that has loaded the runtime: each starts in milliseconds, and may be killed."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

from abstractcore.ports import Clock
from abstractruntime import Runtime
from tests.chaos_server import PATIENCE_SECONDS
from tests.leftovers import wait_until
from tests.runtime.crashes import boundaries
from tests.runtime.crashes.checking import answer
from tests.runtime.crashes.programs import PROGRAMS, Outside
from tests.runtime.crashes.treasurers import treasurers

FORKS: Final = multiprocessing.get_context("forkserver")
"""A process without threads, of which all others are forked."""
FORKS.set_forkserver_preload(["tests.runtime.crashes.preloaded"])


@contextmanager
def running(function: Callable[..., object], *arguments: Any) -> Generator[BaseProcess]:
    """Runs a function in a process of its own during `with`; kills the process if it is still there then."""
    process = FORKS.Process(target=function, args=arguments)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()
        process.close()


def exit_code(function: Callable[..., object], *arguments: Any) -> int:
    """Runs a function in a process of its own; returns how that ended: below 0, by which signal."""
    with running(function, *arguments) as process:
        return ended(process)


def ended(process: BaseProcess) -> int:
    """Waits for the end of a process; returns how it ended."""
    process.join(PATIENCE_SECONDS)
    assert process.exitcode is not None, "the process has not ended"
    return process.exitcode


def is_stopped(process: BaseProcess) -> bool:
    """Waits until a process is stopped by a signal."""
    stat = Path(f"/proc/{process.pid}/stat")
    return bool(wait_until(lambda: stat.read_text(encoding="utf-8").rpartition(") ")[2].startswith("T")))


def open_runtime(url: str, outside: Outside, *, seconds: float = 30.0, clock: Clock | None = None) -> Runtime:
    """Returns a runtime with the programs of the matrix."""
    programs = [*PROGRAMS.values(), *treasurers(outside)]
    return Runtime(url, programs=programs, effects=outside.effects(), lease_seconds=seconds, clock=clock)


def story(
    url: str,
    outside: Outside,
    program: str,
    id: str,
    kills: tuple[str, int] | None = None,
    trace: Path | None = None,
    work: Callable[[Runtime], int] = Runtime.work,
) -> None:
    """Does all of `tell`, or what comes before this process is killed."""
    boundaries.install()
    if kills is not None:
        boundaries.at(*kills, boundaries.kill)
    with open_runtime(url, outside) as runtime:
        tell(runtime, outside, program, id, work)
    if trace is not None:
        boundaries.write_trace(trace)


def work_in_a_loop(runtime: Runtime) -> int:
    """Works on many runs at once, in an event loop."""
    return asyncio.run(runtime.worker().run(until="idle"))


def tell(
    runtime: Runtime, outside: Outside, program: str, id: str, work: Callable[[Runtime], int] = Runtime.work
) -> None:
    """Begins a run, works on it, answers what it and its children ask, and goes on until nothing is due."""
    run = runtime.start(program, id, id=id)
    while work(runtime):
        for each in [run, *run.children]:
            answer(each, outside)


def worker(url: str, outside: Outside, meets: tuple[str, int], test: Connection, seconds: float = 30.0) -> None:
    """Works on what is due. At one boundary it stops until the test has sent something."""
    boundaries.install()
    boundaries.at(*meets, lambda: meet(test))
    with open_runtime(url, outside, seconds=seconds) as runtime:
        runtime.work()


class Reports(logging.Handler):
    """Reports each retry of a transaction to the test."""

    def __init__(self, test: Connection) -> None:
        super().__init__()
        self._test = test

    def emit(self, record: logging.LogRecord) -> None:
        """Sends a word."""
        if "tried again" in record.msg:
            self._test.send("retry")


def reporting_worker(url: str, outside: Outside, meets: tuple[str, int], test: Connection) -> None:
    """Works on what is due, and reports retries."""
    log = logging.getLogger("abstractcore.database")
    log.setLevel(logging.INFO)
    log.addHandler(Reports(test))
    worker(url, outside, meets, test)


def stopped_worker(url: str, outside: Outside, name: str, number: int) -> None:
    """Works on what is due. At one boundary it stands still, as a machine that is suspended."""
    boundaries.install()
    boundaries.at(name, number, lambda: os.kill(os.getpid(), signal.SIGSTOP))
    with open_runtime(url, outside) as runtime:
        runtime.work()


def meet(test: Connection) -> None:
    """Lets the test know that this process has come here, and waits for its answer."""
    test.send("here")
    test.recv()


def received(process: Any, expected: object = "here") -> None:
    """Waits until a process has sent something."""
    assert process.poll(PATIENCE_SECONDS), "the process has sent nothing"
    assert process.recv() == expected
