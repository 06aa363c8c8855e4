"""Runs on a database of their own, with a clock that only tests advance."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete

from abstractcore.testing import VirtualClock
from abstractruntime import Program, Runtime
from abstractruntime.store.tables import metadata
from tests.postgresql import postgresql

__all__ = ["postgresql"]

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


@pytest.fixture(params=["SQLite", pytest.param("PostgreSQL", marks=pytest.mark.process)])
def make_stored(
    request: pytest.FixtureRequest, tmp_path: Path, clock: VirtualClock
) -> Generator[Callable[..., Runtime]]:
    """Returns a function as that of `make_runtime`, for each kind of database."""
    place = tmp_path / "runs.db" if request.param == "SQLite" else request.getfixturevalue("postgresql").url
    with ExitStack() as opened:
        first = opened.enter_context(Runtime(place))
        for table in metadata.sorted_tables:
            first.database.write(lambda connection, table=table: connection.execute(delete(table)))

        def make(*programs: Program, effects: Mapping[str, Any] | None = None, **options: Any) -> Runtime:
            return opened.enter_context(Runtime(place, programs=programs, effects=effects, clock=clock, **options))

        yield make
