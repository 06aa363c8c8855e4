"""An empty database for each test, a SQLite file and a PostgreSQL, and a clock that tests move."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from abstractcore import limits
from abstractcore_server.store import Store
from abstractcore_server.store.tables import metadata


class Clock:
    """A clock that tests move. It returns seconds since the epoch."""

    def __init__(self) -> None:
        self.time = 1_800_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.process)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    return f"sqlite:///{tmp_path}/server.db" if request.param == "sqlite" else request.getfixturevalue("postgresql").url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = Store(url)
    yield opened
    with opened.writing() as connection:
        metadata.drop_all(connection)
        connection.execute(text("DROP TABLE abstractcore_version"))
        limits.SCHEMA.tables.drop_all(connection)
        connection.execute(text("DROP TABLE IF EXISTS abstractcore_limits_version"))
    opened.close()
