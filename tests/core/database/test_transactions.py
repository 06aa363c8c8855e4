"""Transactions of several threads and processes, and what is made again."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, func, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from abstractcore.database import CommitUnknownError, ConstraintError, Database, DatabaseError, Retries, lock
from tests.chaos_server import PATIENCE_SECONDS
from tests.core.database.cut_connections import cutting
from tests.core.database.notes import SCHEMA, Notes, notes
from tests.documents import ROOT
from tests.postgresql import PostgreSQL, running_postgresql

OPENED = "from tests.core.database.notes import SCHEMA, Notes, notes; from abstractcore.database import Database, lock"


@contextmanager
def other_process(url: str, *lines: str) -> Generator[subprocess.Popen[str]]:
    """Runs lines with `database` in another process during `with`, which begins once it prints something."""
    code = "\n".join([OPENED, f"database = Database({url!r}, schema=SCHEMA)", *lines])
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            yield process
        finally:
            process.kill()


@pytest.mark.process
def test_increments_of_two_processes_and_of_their_threads_all_count(database: Database, url: str):
    counter = Notes(database)
    counter.add("a")
    both = "with ThreadPoolExecutor(4) as pool: [*pool.map(Notes(database).increment, ['a'] * 40)]"
    lines = ("from concurrent.futures import ThreadPoolExecutor", "print('begun', flush=True)", both)
    with other_process(url, *lines) as process:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(counter.increment, ["a"] * 40))
        assert process.wait(PATIENCE_SECONDS) == 0
    assert counter.all() == {"a": 80}


@pytest.mark.process
def test_killed_writer_leaves_nothing_and_its_locks_are_free(database: Database, url: str):
    lines = (
        "with database.writing() as connection:",
        "    lock(connection, 'name')",
        "    connection.execute(notes.insert().values(id='killed', count=0))",
        "    print('begun', flush=True)",
        "    input()",
    )
    with other_process(url, *lines) as process:
        process.kill()
        process.wait(PATIENCE_SECONDS)

    def add(connection: Connection) -> None:
        lock(connection, "name")
        connection.execute(insert(notes).values(id="later", count=0))

    database.write(add)
    assert Notes(database).all() == {"later": 0}


@pytest.mark.process
def test_lock_of_a_name_excludes_transactions_that_want_the_same_one(server: Database):
    begun, order = threading.Event(), list[str]()

    def second(connection: Connection) -> None:
        begun.set()
        lock(connection, "a")
        order.append("second")

    with server.writing() as connection, ThreadPoolExecutor(1) as pool:
        lock(connection, "a")
        waiting = pool.submit(server.write, second)
        assert begun.wait(PATIENCE_SECONDS)
        server.write(lambda other: lock(other, "b"))
        order.append("first")
        connection.rollback()
        waiting.result(PATIENCE_SECONDS)
    assert order == ["first", "second"]


@pytest.mark.parametrize("error", [ValueError("no"), OSError("of a file"), KeyboardInterrupt()])
def test_transaction_that_raises_is_rolled_back_and_not_made_again(database: Database, error: BaseException):
    attempts = list[int]()

    def work(connection: Connection) -> None:
        attempts.append(1)
        connection.execute(insert(notes).values(id="a", count=0))
        raise error

    with pytest.raises(type(error)) as caught:
        database.write(work)
    assert caught.value is error
    with pytest.raises(type(error)), database.writing() as connection:
        work(connection)
    assert len(attempts) == 2
    assert Notes(database).all() == {}


def test_second_row_with_a_key_violates_a_constraint_and_is_not_tried_again(database: Database):
    counter = Notes(database)
    counter.add("a", 1)
    with pytest.raises(ConstraintError) as caught:
        counter.add("a", 2)
    assert not caught.value.retryable
    assert caught.value.code in ("SQLITE_CONSTRAINT_PRIMARYKEY", "23505")
    assert counter.all() == {"a": 1}


def test_snapshot_that_another_writer_has_overtaken_is_read_again(tmp_path: Path):
    database, attempts = Database(tmp_path / "notes.db", schema=SCHEMA), list[int]()
    counter = Notes(database)

    def work(connection: Connection) -> None:
        attempts.append(len(connection.execute(select(notes)).all()))
        if len(attempts) == 1:
            counter.add("other")
        connection.execute(insert(notes).values(id="mine", count=0))

    database.read(work)
    assert attempts == [0, 1]
    assert counter.all() == {"other": 0, "mine": 0}
    database.close()


def test_file_that_stays_locked_is_an_error_that_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("abstractcore.database.database._WAIT_SECONDS", 0.01)
    database = Database(tmp_path / "notes.db", schema=SCHEMA, retries=Retries(attempts=2))
    with database.writing():
        with pytest.raises(DatabaseError, match="locked by another process") as caught:
            Notes(database).add("a")
        with pytest.raises(DatabaseError, match="locked by another process"), database.writing():
            pytest.fail("it has begun")
    assert (caught.value.code, caught.value.retryable) == ("SQLITE_BUSY", True)
    assert caught.value.hint == f"See which one it is: fuser -v {tmp_path}/notes.db"
    database.close()


@pytest.mark.process
def test_deadlock_of_two_transactions_is_resolved_by_making_one_again(server: Database):
    counter, barrier, attempts = Notes(server), threading.Barrier(2), list[str]()
    counter.add("a")
    counter.add("b")

    def work(names: str, connection: Connection) -> None:
        is_first = names not in attempts
        attempts.append(names)
        for name in names:
            connection.execute(update(notes).where(notes.c.id == name).values(count=notes.c.count + 1))
            if is_first and name == names[0]:
                barrier.wait(PATIENCE_SECONDS)

    with ThreadPoolExecutor(2) as pool:
        both = [
            pool.submit(server.write, lambda connection, names=names: work(names, connection)) for names in ("ab", "ba")
        ]
        for each in both:
            each.result(PATIENCE_SECONDS)
    assert len(attempts) == 3
    assert counter.all() == {"a": 2, "b": 2}


@pytest.mark.process
def test_transaction_that_cannot_be_serialized_is_made_again(server: Database):
    counter, attempts = Notes(server), list[int]()
    counter.add("a")

    def work(connection: Connection) -> None:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"))
        found = connection.execute(select(notes.c.count)).scalar_one()
        attempts.append(found)
        if len(attempts) == 1:
            counter.increment("a")
        connection.execute(update(notes).values(count=found + 1))

    server.write(work)
    assert attempts == [0, 1]
    assert counter.all() == {"a": 2}


def lost(server: Database, times: int, attempts: list[int]) -> Callable[[Connection], None]:
    """Returns a transaction whose connection the server ends, in the first attempts."""

    def work(connection: Connection) -> None:
        connection.execute(insert(notes).values(id="a", count=0))
        attempts.append(connection.execute(select(func.pg_backend_pid())).scalar_one())
        if len(attempts) <= times:
            server.read(lambda other: other.execute(select(func.pg_terminate_backend(attempts[-1]))).all())
        connection.execute(insert(notes).values(id="b", count=0))

    return work


@pytest.mark.process
def test_transaction_whose_connection_is_lost_is_made_again_with_another_one(server: Database):
    attempts = list[int]()
    server.write(lost(server, 1, attempts))
    assert len({*attempts}) == len(attempts) == 2
    assert Notes(server).all() == {"a": 0, "b": 0}


@pytest.mark.process
def test_transaction_whose_connections_are_always_lost_ends_with_an_error(server: Database):
    attempts = list[int]()
    with pytest.raises(DatabaseError, match="cannot be reached, or has closed the connection") as caught:
        server.write(lost(server, 9, attempts), retries=Retries(attempts=3))
    assert len(attempts) == 3
    assert "pg_isready" in (caught.value.hint or "")
    assert not isinstance(caught.value, CommitUnknownError)
    with pytest.raises(DatabaseError), server.writing() as connection:
        lost(server, 9, attempts)(connection)
    assert len(attempts) == 4
    assert Notes(server).all() == {}


@pytest.mark.process
@pytest.mark.parametrize("is_committed", [False, True])
def test_transaction_that_may_have_been_committed_is_not_made_again(
    server: Database, postgresql: PostgreSQL, is_committed: bool
):
    attempts = list[int]()

    def work(connection: Connection) -> None:
        attempts.append(1)
        connection.execute(insert(notes).values(id="a", count=0))

    with cutting(postgresql, "COMMIT" if is_committed else "commit") as url:
        database = Database(url)
        with pytest.raises(CommitUnknownError, match="not known whether") as caught:
            database.write(work)
        assert not caught.value.retryable
        assert len(attempts) == 1
        assert Notes(database).all() == ({"a": 0} if is_committed else {})
        database.close()


def test_transaction_with_a_failed_statement_is_not_committed(database: Database):
    def work(connection: Connection) -> None:
        connection.execute(insert(notes).values(id="a", count=0))
        with suppress(SQLAlchemyError):
            connection.execute(text("SELECT nothing FROM nowhere"))

    if database.read(lambda connection: connection.dialect.name) == "sqlite":  # where a failed statement ends nothing
        database.write(work)
        assert Notes(database).all() == {"a": 0}
    else:
        with pytest.raises(DatabaseError, match="25P02"):
            database.write(work)
        assert Notes(database).all() == {}


@pytest.mark.process
def test_what_was_read_is_read_again_if_the_connection_is_lost_at_the_end(server: Database, postgresql: PostgreSQL):
    with cutting(postgresql, "commit") as url:
        database = Database(url)
        assert Notes(database).all() == {}
        database.close()


@pytest.mark.filterwarnings(r"ignore:unclosed <socket\.socket \[closed\]:ResourceWarning")  # of handshakes, by pg8000
@pytest.mark.process
def test_server_that_starts_again_is_waited_for():
    with running_postgresql() as server:
        database = Database(server.url, retries=Retries(attempts=1000, seconds=PATIENCE_SECONDS))
        assert database.read(lambda connection: connection.execute(select(1)).scalar()) == 1
        server.stop()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(database.read, lambda connection: connection.execute(select(2)).scalar())
            server.start()
            assert waiting.result(PATIENCE_SECONDS) == 2
        database.close()
    gc.collect()


@pytest.mark.parametrize("ending", ["dropped", "dropped in a cycle", "closed in a transaction"])
def test_database_that_nobody_uses_has_no_open_connection(url: str, ending: str, caplog: pytest.LogCaptureFixture):
    opened, closed = list[object](), list[object]()
    database = Database(url, schema=SCHEMA)
    engine = database._engine  # pyright: ignore[reportPrivateUsage]
    event.listen(engine, "connect", lambda connection, record: opened.append(connection))
    event.listen(engine, "close", lambda connection, record: closed.append(connection))
    database.close()
    assert Notes(database).all() == {}
    assert (len(opened), len(closed)) == (1, 1)
    if ending == "closed in a transaction":
        with database.reading():
            database.close()
            assert len(closed) == 1
    elif ending == "dropped in a cycle":
        database.itself = database  # pyright: ignore[reportAttributeAccessIssue]
    if ending != "closed in a transaction":
        del database
        gc.collect()
    assert closed[1:] == opened
    assert caplog.records == []


@pytest.mark.process
def test_lost_connection_is_closed_without_a_word(caplog: pytest.LogCaptureFixture):
    with running_postgresql() as server:
        closed, dropped = Database(server.url), Database(server.url)
        for database in (closed, dropped):
            assert database.read(lambda connection: connection.execute(select(1)).scalar()) == 1
    closed.close()
    del database, dropped
    gc.collect()
    assert caplog.records == []
