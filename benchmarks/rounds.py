"""Interleaved benchmark rounds, robust on a busy machine: the best of each counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One table row: `ours` and `bar` (the baseline) in seconds, or a count. With a baseline, `goal` is a ratio."""

    name: str
    ours: float
    bar: float | None = None
    goal: float | None = None
    is_count: bool = False

    @property
    def ratio(self) -> float | None:
        """The ratio of ours to the baseline."""
        return None if self.bar is None else self.ours / self.bar

    @property
    def verdict(self) -> str:
        """Whether the goal is met; empty without one."""
        if self.goal is None:
            return ""
        measured = self.ours if self.ratio is None else self.ratio
        return "ok" if measured <= self.goal else "MISSED"


@dataclass(frozen=True, slots=True)
class Setup:
    """The settings of every measurement: the server's URL, the number of rounds, and the batch size."""

    url: str
    rounds: int
    quick: bool


def best(batches: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Returns the best of each batch over `rounds` rounds; their order changes with every round."""
    names = list(batches)
    times: dict[str, list[float]] = {name: [] for name in names}
    for batch in batches.values():
        batch()
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            gc.collect()
            times[name].append(batches[name]())
    return {name: min(values) for name, values in times.items()}


def cpu_seconds(function: Callable[[], object], count: int) -> Callable[[], float]:
    """Returns a batch: the CPU time of this process per item, for the `count` items of one call of `function`."""

    def batch() -> float:
        start = time.process_time()
        function()
        return (time.process_time() - start) / count

    return batch


def repeated(function: Callable[[], object], count: int) -> Callable[[], None]:
    """Returns a function that calls `function` `count` times."""

    def loop() -> None:
        for _ in range(count):
            function()

    return loop
