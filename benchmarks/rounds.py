"""Comparing things on a machine that does other work too: in turns, many times, and the best of each counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: `ours` and `bar` in seconds, or a count. `goal` is for the ratio where there is a bar."""

    name: str
    ours: float
    bar: float | None = None
    goal: float | None = None
    is_count: bool = False

    @property
    def ratio(self) -> float | None:
        """Ours to the bar."""
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
    """What every measure is given: the server's address, how many rounds, and how large a batch may be."""

    url: str
    rounds: int
    quick: bool


def best(batches: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The best of each batch over `rounds` rounds; who comes first changes with every round."""
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
    """A batch: the processor time of this process for one of `count` things that `function` does in one go."""

    def batch() -> float:
        began = time.process_time()
        function()
        return (time.process_time() - began) / count

    return batch


def repeated(function: Callable[[], object], count: int) -> Callable[[], None]:
    """`function`, `count` times."""

    def loop() -> None:
        for _ in range(count):
            function()

    return loop
