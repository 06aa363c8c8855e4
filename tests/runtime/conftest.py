"""Runs on a database of their own, with a clock that only tests advance."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from abstractcore.testing import VirtualClock
from abstractruntime import Program, Runtime

BEGIN = 1_800_000_000.0
"""The time of day at which tests begin."""


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(time_of_day=BEGIN)


@pytest.fixture
def make_runtime(tmp_path: Path, clock: VirtualClock) -> Generator[Callable[..., Runtime]]:
    """Returns a function that opens the database of the test with other programs and effects, as a new process does."""
    with ExitStack() as opened:

        def make(*programs: Program, effects: Mapping[str, Any] | None = None, **options: Any) -> Runtime:
            runtime = Runtime(tmp_path / "runs.db", programs=programs, effects=effects, clock=clock, **options)
            return opened.enter_context(runtime)

        yield make
