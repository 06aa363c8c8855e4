"""The databases of the crash matrix, and its rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import delete

from abstractruntime import Runtime
from abstractruntime.store.tables import metadata
from tests.postgresql import PostgreSQL, postgresql
from tests.runtime.crashes.processes import open_runtime
from tests.runtime.crashes.programs import Outside
from tests.runtime.crashes.table import PROPERTY

__all__ = ["postgresql"]


@dataclass
class Place:
    """A database without runs, the runtime of the test on it, and the world outside. `server` is None for a file."""

    database: str
    url: str
    runtime: Runtime
    outside: Outside
    folder: Path
    server: PostgreSQL | None = None
    cells: list[tuple[str, str, int, int]] = field(default_factory=list[tuple[str, str, int, int]])

    def crash(self, row: str) -> None:
        """Counts a crash in a row of the table, which is survived if this test goes on to `survived`."""
        self.cells.append((row, self.database, 0, 1))

    def survived(self) -> None:
        """Counts the last crash as survived."""
        row, database, _, count = self.cells.pop()
        self.cells.append((row, database, 1, count))


@contextmanager
def opened_place(request: pytest.FixtureRequest, folder: Path, server: PostgreSQL | None) -> Generator[Place]:
    """Opens a database without runs: that of a server, or a file. What is counted becomes a property of the test."""
    url = f"sqlite:///{folder / 'runs.db'}" if server is None else server.url
    outside = Outside(folder / "outside")
    with open_runtime(url, outside) as runtime:
        for table in metadata.sorted_tables:
            runtime.database.write(lambda connection, table=table: connection.execute(delete(table)))
        place = Place("SQLite" if server is None else "PostgreSQL", url, runtime, outside, folder, server)
        yield place
    request.node.user_properties += [(PROPERTY, cell) for cell in place.cells]


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place for runs, in each kind of database."""
    server = None if request.param == "SQLite" else request.getfixturevalue("postgresql")
    with opened_place(request, tmp_path, server) as place:
        yield place
