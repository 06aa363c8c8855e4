"""`abstractcore runs work`: a worker until a signal stops it, with lines for who watches it."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from abstractcore.errors import InvalidInputError
from abstractcore.ports import Interruption
from abstractcore_cli.toolkit import note, reported

from ..worker import Worker, WorkerMetrics
from .stores import open_store, programs_and_effects

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class WorkOptions:
    """The options of the command."""

    concurrency: int
    until_idle: bool
    poll: float
    grace: float
    lease: float
    metrics: float
    quiet: bool


def work(options: WorkOptions, names: Sequence[str] | None, store: str) -> None:
    """Works on runs until a signal, or until none is due."""
    with reported():
        programs, effects = programs_and_effects(names or ())
        if not programs:
            hint = "Name them: --programs MODULE:ATTRIBUTE, or ABSTRACTRUNTIME_PROGRAMS."
            raise InvalidInputError("there are no programs to work on", path="--programs", hint=hint)
        with open_store(store, make=True, programs=programs, effects=effects, lease_seconds=options.lease) as runtime:
            asyncio.run(_work(runtime.worker(), options))


async def _work(worker: Worker, options: WorkOptions) -> None:
    stop, lines = Interruption(), _Lines(worker, options)
    running = asyncio.ensure_future(
        worker.run(
            concurrency=options.concurrency,
            until="idle" if options.until_idle else None,
            stop=stop,
            poll=options.poll,
            grace=options.grace,
            report=lines.report,
            report_every=options.metrics,
        )
    )
    with _signals(stop, running), suppress(asyncio.CancelledError):
        await running
    lines.end()


@contextmanager
def _signals(stop: Interruption, running: asyncio.Future[Any]) -> Generator[None]:
    """In its body, a first signal stops the worker, a second one ends its effects at once, and a third one ends the
    process: a step that does not end keeps the worker from stopping.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone gets signals
        yield
        return
    loop = asyncio.get_running_loop()

    def handle(number: int, frame: object) -> None:
        if stop.is_set:
            loop.call_soon_threadsafe(running.cancel)
            for each in _SIGNALS:
                signal.signal(each, signal.SIG_DFL)
        else:
            stop.set()

    before = [signal.signal(each, handle) for each in _SIGNALS]
    try:
        yield
    finally:
        for each, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(each, handler)


class _Lines:
    """The line that says that the worker is ready, and those of its metrics."""

    def __init__(self, worker: Worker, options: WorkOptions) -> None:
        self._worker = worker
        self._options = options
        self._is_ready = False

    def report(self, metrics: WorkerMetrics) -> None:
        """Prints that the worker is ready, and then its metrics."""
        if not self._is_ready:
            self._is_ready = True
            note(f"ready: {', '.join(self._worker.programs)}; {self._options.concurrency} runs at once")
        elif not self._options.quiet:
            note(json.dumps(metrics.to_data()))

    def end(self) -> None:
        """Prints what was done."""
        if not self._options.quiet:
            note(json.dumps({**self._worker.metrics.to_data(), "ended": True}))
