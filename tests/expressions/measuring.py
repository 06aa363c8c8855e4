"""How the work of a regular expression grows with its text, by processor time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from tests.expressions.collecting import ANCHORED
from tests.expressions.pumping import Pump, pumps

SIZE = 10_000
_FIRST_SIZES = (20, 25, 30, 35, 40, 45, 50, 60, 80, 120, 200, 400, 1000, 2500)
_TOO_LONG = 0.2
"""Seconds for any of the first sizes; one that takes longer has shown enough."""
_NOTICEABLE = 0.004
"""Seconds for `SIZE` characters from which growth is measured: a quadratic search takes ten times as many."""
_MOST_GROWTH = 8.0
"""How much longer a text of four times the size may take."""
_ENOUGH = 0.3
"""Seconds after which a measurement needs no other."""


def complaint(pattern: re.Pattern[Any], methods: frozenset[str]) -> str | None:
    """Returns what is slow about a pattern, None if its work grows with the size of a text."""
    for pump in pumps(pattern):
        for run in _runs(pattern, methods):
            problem = _complaint(run, pump, isinstance(pattern.pattern, bytes))
            if problem is not None:
                return f"{problem} with {pump}"
    return None


def _runs(pattern: re.Pattern[Any], methods: frozenset[str]) -> list[Callable[[Any], object]]:
    runs: list[Callable[[Any], object]] = [getattr(pattern, each) for each in sorted(methods & ANCHORED)]
    if methods - ANCHORED:
        runs.append(lambda text: sum(1 for _ in pattern.finditer(text)))
    return runs


def _complaint(run: Callable[[Any], object], pump: Pump, is_bytes: bool) -> str | None:
    def seconds(size: int, times: int = 1) -> float:
        text: Any = pump.text(size)
        return _seconds(run, text.encode("latin-1", "replace") if is_bytes else text, times)

    for size in _FIRST_SIZES:
        if seconds(size) > _TOO_LONG and (taken := seconds(size, 2)) > _TOO_LONG:
            return f"{size} characters take {taken:.2f} s"
    whole = seconds(SIZE)
    if whole < _NOTICEABLE or whole <= _MOST_GROWTH * seconds(SIZE // 4):
        return None
    growth = 0.0
    for first in (SIZE // 4, SIZE // 2, SIZE):  # what is bounded, or was disturbed, is linear at last
        longer = seconds(4 * first, 3)
        growth = longer / seconds(first, 5)
        if growth <= _MOST_GROWTH:
            return None
        if longer > _ENOUGH:
            break
    return f"{growth:.0f} times the time for 4 times the size, {whole:.2f} s for {SIZE} characters"


def _seconds(run: Callable[[Any], object], text: Any, times: int) -> float:
    """Returns the least processor time of some runs."""
    least = total = _timed(run, text)
    for _ in range(times - 1):
        if total > _ENOUGH:
            break
        taken = _timed(run, text)
        least, total = min(least, taken), total + taken
    return least


def _timed(run: Callable[[Any], object], text: Any) -> float:
    begun = time.process_time()
    run(text)
    return time.process_time() - begun
