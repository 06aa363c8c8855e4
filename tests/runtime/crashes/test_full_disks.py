"""Disks that are full for a while: that of a file, of a server's tables, and of its write-ahead log."""

from __future__ import annotations

import re
import resource
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

from abstractcore.database import DatabaseError
from abstractruntime import Runtime
from tests.postgresql import PostgreSQL, running_postgresql
from tests.runtime.crashes import boundaries
from tests.runtime.crashes.checking import check, end_leases, finish
from tests.runtime.crashes.conftest import Place, opened_place
from tests.runtime.crashes.processes import (
    FORKS,
    ended,
    exit_code,
    open_runtime,
    received,
    reporting_worker,
    running,
)
from tests.runtime.crashes.programs import Outside
from tests.small_disks import fill, small_disk

pytestmark = pytest.mark.process
BOUNDARIES = [("in the effect, after its work", 20), ("started", 20), ("claimed", 1)]
COUNT = 60
"""So many payments have more bytes than the pages of a full disk have left."""


def limit_files(folder: Path) -> Callable[[], None]:
    """Lets no file of this process grow beyond that of the log; returns what ends that."""
    size, (_, most) = (folder / "runs.db-wal").stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def limit_pages(folder: Path) -> Callable[[], None]:
    """Lets the database have no more pages; returns what ends that."""
    pages = [1]

    def limit(connection: sqlite3.Connection, *_: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages[0]}")

    event.listen(Engine, "checkout", limit)
    return lambda: pages.insert(0, 1_000_000)


def worker_on_a_full_disk(
    url: str, outside: Outside, folder: Path, fill: Callable[[Path], Callable[[], None]], at: tuple[str, int]
) -> None:
    """Works until the disk is full; then it gets room, and goes on."""
    empty: list[Callable[[], None]] = []
    boundaries.install()
    boundaries.at(*at, lambda: empty.append(fill(folder)))
    with open_runtime(url, outside) as runtime:
        with pytest.raises(DatabaseError) as caught:
            runtime.work()
        check_error(caught.value, folder)
        empty[0]()
        end_leases(runtime)
        runtime.work()


def check_error(error: DatabaseError, folder: Path) -> None:
    """Asserts that an error says what is wrong, and what to type."""
    assert error.hint is not None
    assert error.code in ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "53100")
    if error.code == "SQLITE_IOERR_WRITE":
        assert error.message.endswith(f"the disk of the database file {folder / 'runs.db'} has failed")
    else:
        assert error.message.endswith("is full")
        assert "df -h" in error.hint


def check_payments(place: Place) -> None:
    """Takes the run to its end, and asserts that nothing was lost or done twice."""
    finish(place.runtime, place.runtime.run("a"), place.outside)
    check(place.runtime, "a")
    assert place.runtime.run("a").status == "completed"
    assert set(place.outside.done().values()) == {1}
    assert len(place.outside.done()) == COUNT


@pytest.mark.parametrize("place", ["SQLite"], indirect=True)
@pytest.mark.parametrize("fill", [limit_files, limit_pages])
@pytest.mark.parametrize("at", BOUNDARIES)
def test_full_disk_ends_a_worker_and_loses_nothing(
    place: Place, fill: Callable[[Path], Callable[[], None]], at: tuple[str, int]
):
    place.crash("a full disk")
    place.runtime.start("payments", {"name": "a" * 150, "count": COUNT}, id="a")
    assert exit_code(worker_on_a_full_disk, place.url, place.outside, place.folder, fill, at) == 0
    check_payments(place)
    place.survived()


@pytest.fixture(scope="module")
def small_folder() -> Iterator[Path]:
    """A folder on a disk of its own, on which a new database and little else has room."""
    with small_disk(64 * 2**20) as folder:
        yield folder


@pytest.fixture(scope="module")
def server_on_a_small_disk(small_folder: Path) -> Iterator[PostgreSQL]:
    """A server whose tables are on the small disk; its write-ahead log has room."""
    with running_postgresql(data=small_folder / "data") as server:
        yield server


@pytest.mark.parametrize("at", BOUNDARIES)
def test_full_disk_of_a_server_ends_a_worker_and_loses_nothing(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    small_folder: Path,
    server_on_a_small_disk: PostgreSQL,
    at: tuple[str, int],
):
    with opened_place(request, tmp_path, server_on_a_small_disk) as place:
        place.crash("a full disk")
        place.runtime.start("payments", {"name": "a" * 150, "count": COUNT}, id="a")
        assert exit_code(worker_on_a_full_disk, place.url, place.outside, small_folder, fill, at) == 0
        check_payments(place)
        place.survived()


def use_up_log(runtime: Runtime, folder: Path) -> None:
    """Writes to the log of a server until its last file, of a megabyte, is almost full."""
    while True:
        with runtime.database.writing() as connection:
            position = connection.execute(
                text("SELECT file_name, file_offset FROM pg_walfile_name_offset(pg_current_wal_insert_lsn())")
            ).one()
            if position.file_name == max(file.name for file in folder.glob("0*")) and position.file_offset > 1_000_000:
                return
            connection.execute(text("SELECT pg_logical_emit_message(false, '', repeat('x', 20000))"))


def test_server_that_a_full_disk_of_its_log_ends_is_waited_for(
    request: pytest.FixtureRequest, tmp_path: Path, small_folder: Path
):
    """PostgreSQL cannot go on without its write-ahead log: it ends at once, as by `kill -9`."""
    with (
        running_postgresql(wal=small_folder / "wal") as server,
        opened_place(request, tmp_path, server) as place,
    ):
        place.crash("a full disk of the write-ahead log")
        run = place.runtime.start("payments", {"name": "a" * 150, "count": COUNT}, id="a")
        ours, theirs = FORKS.Pipe()
        boundary = ("in the effect, after its work", 2)
        with running(reporting_worker, place.url, place.outside, boundary, theirs) as process:
            received(ours)
            empty = fill(small_folder)
            use_up_log(place.runtime, small_folder / "wal")
            ours.send("go on")
            received(ours, "retry")
            log = server.log.read_text(encoding="utf-8")
            assert re.search("PANIC:  could not write .*: No space left on device", log)
            empty()
            server.start()
            assert ended(process) == 0
        assert run.info.fence == 1
        check_payments(place)
        place.survived()
