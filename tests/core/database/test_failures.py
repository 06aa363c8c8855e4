"""What fails in a database: what is tried again, and the error that a user sees, with the command to type."""

from __future__ import annotations

import logging
import os
import pwd
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pg8000
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from abstractcore import ConfigurationError, MissingExtraError
from abstractcore.database import CommitUnknownError, ConstraintError, Database, DatabaseError, Retries
from abstractcore.database import failures as module
from abstractcore.database.failures import Place, delay, failure
from tests.core.database.notes import SCHEMA, Notes
from tests.forks import in_fork

SERVER = Place.of(make_url("postgresql://ann:canary@db.example:5433/runs"))


def state(code: str) -> Exception:
    return pg8000.DatabaseError({"S": "ERROR", "C": code, "M": "canary"})


def without_state(cause: BaseException | None = None) -> Exception:
    error = pg8000.InterfaceError("network error" if cause is None else "Can't create a connection to host")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "is_retried", "is_unknown"),
    [
        (state("40001"), True, False),
        (state("40P01"), True, False),
        (state("40003"), False, True),
        (state("08006"), True, True),
        (state("57P01"), True, True),
        (state("57P02"), True, True),
        (state("57P03"), True, True),
        (state("53300"), True, False),
        (state("55P03"), True, False),
        (state("28P01"), False, False),
        (state("3D000"), False, False),
        (state("42601"), False, False),
        (state("23505"), False, False),
        (without_state(), True, True),
        (without_state(ConnectionRefusedError()), True, True),
        (without_state(TimeoutError()), True, True),
        (type("OperationalError", (Exception,), {})("server closed the connection"), True, True),
        (pg8000.InterfaceError("The parameter x is not known"), False, True),
        (pg8000.InterfaceError("in failed transaction block"), False, False),
        (ConnectionResetError(), True, True),
    ],
    ids=str,
)
def test_failure_is_tried_again_unless_it_may_have_been_committed(
    error: BaseException, is_retried: bool, is_unknown: bool
):
    found = failure(error, SERVER)
    assert (found.retryable, isinstance(found, CommitUnknownError)) == (is_retried, False)
    interrupted = failure(error, SERVER, commits=True)
    assert isinstance(interrupted, CommitUnknownError) == is_unknown
    assert interrupted.retryable == (is_retried and not is_unknown)
    assert "canary" not in f"{found!r} {found} {found.hint} {interrupted} {interrupted.hint}"


@pytest.mark.parametrize(
    "error", [sqlite3.OperationalError("closed"), OSError("too many open files"), SQLAlchemyError("no connection")]
)
def test_other_failure_of_a_file_is_not_tried_again(error: BaseException):
    found = failure(error, Place.of(make_url("sqlite:////data/notes.db")))
    assert (found.message, found.retryable) == (f"the database failed ({type(error).__name__})", False)


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (state("57P03"), "db.example:5433 is starting or stopping", "pg_isready -h db.example -p 5433"),
        (without_state(), "db.example:5433 cannot be reached", "pg_isready -h db.example -p 5433"),
        (state("28P01"), "refuses the user 'ann'", "psql -h db.example -p 5433 -U ann runs"),
        (state("3D000"), "no database 'runs'", "createdb -h db.example -p 5433 -U ann runs"),
        (state("42501"), "the user 'ann' has no permission", "GRANT ALL ON SCHEMA public"),
        (state("53100"), "disk", "df -h"),
        (state("99999"), r"the database failed \(99999\)", None),
    ],
)
def test_message_names_the_server_and_the_hint_a_command(error: Exception, message: str, hint: str | None):
    with pytest.raises(DatabaseError, match=message) as caught:
        raise failure(error, SERVER)
    assert (caught.value.hint is None) if hint is None else (hint in (caught.value.hint or ""))


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The sleeps of retries, which pass at once."""
    sleeps: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: sum(sleeps), sleep=sleeps.append)
    monkeypatch.setattr(module, "time", clock)
    return sleeps


def always_failing(calls: list[int]) -> Callable[[], None]:
    def fail() -> None:
        calls.append(1)
        raise failure(state("40001"), SERVER)

    return fail


@pytest.mark.parametrize(("retries", "attempts"), [(Retries(), 5), (Retries(1), 1), (Retries(1000, 3.0), None)])
def test_retries_end_with_their_number_and_their_time(times: list[float], retries: Retries, attempts: int | None):
    calls: list[int] = []
    with pytest.raises(DatabaseError):
        retries.run(always_failing(calls))
    assert len(calls) == attempts or attempts is None
    assert len(times) == len(calls) - 1
    assert sum(times) < retries.seconds


def test_waits_grow_to_a_second_and_half_of_each_is_random():
    for number, longest in ((1, 0.02), (2, 0.04), (4, 0.16), (10, 1.0), (10_000, 1.0)):
        waits = {delay(number) for _ in range(20)}
        assert len(waits) > 1
        assert all(longest / 2 <= wait <= longest for wait in waits)


def test_retry_is_logged(times: list[float], caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "abstractcore.database")
    with pytest.raises(DatabaseError):
        Retries(2).run(always_failing([]))
    assert "transactions that ran at the same time excluded each other" in caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:canary@127.0.0.1:1/runs",
        "postgresql://ann:canary@/runs?unix_sock=/nowhere/.s.PGSQL.1",
        "postgresql://ann:canary@127.0.0.1:1/runs?application_name=a&nothing=canary",
        "postgresql://ann:canary@127.0.0.1:port/runs",
        "postgresql+nothing://ann:canary@127.0.0.1/runs",
        "mysql://ann:canary@127.0.0.1/runs",
    ],
)
def test_password_of_a_url_is_in_no_error_and_no_log(url: str, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    with pytest.raises((DatabaseError, ConfigurationError)) as caught:
        Database(url, schema=SCHEMA)
    shown = "".join(traceback.format_exception(caught.value))
    assert "canary" not in shown + caplog.text + repr(vars(caught.value))


def test_value_of_a_statement_is_in_no_error(database: Database):
    with pytest.raises(ConstraintError) as caught:
        Notes(database).add("canary", None)  # type: ignore[arg-type]
    assert "canary" not in f"{caught.value!r} {caught.value}"


def test_missing_library_is_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("abstractcore.database")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingExtraError, match="pip install sqlalchemy"):
        import abstractcore.database  # noqa: F401


def as_another_user(function: Callable[[], object]) -> None:
    """Runs a function in a process that permissions hold for, as they do not for root."""

    def run() -> None:
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
        function()

    in_fork(run)


@pytest.fixture
def file() -> Iterator[Path]:
    """A database in a folder that every user may enter, as they may not those of pytest."""
    with tempfile.TemporaryDirectory(prefix="database-") as folder:
        path = Path(folder).resolve() / "notes.db"
        database = Database(path, schema=SCHEMA)
        Notes(database).add("a")
        database.close()
        path.parent.chmod(0o755)
        yield path
        path.parent.chmod(0o700)


def fails(path: Path, work: Callable[[Database], object], message: str, hint: str) -> None:
    """Checks that something fails with this error, which is not tried again."""
    with pytest.raises(DatabaseError) as caught:
        work(Database(path, retries=Retries(2)))
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert not caught.value.retryable


def add(database: Database) -> None:
    Notes(database).add("b")


@pytest.mark.process
@pytest.mark.parametrize("folder", [0o555, 0o777])
def test_file_that_may_only_be_read_is_named(file: Path, folder: int):
    file.chmod(0o444)
    file.parent.chmod(folder)
    as_another_user(lambda: fails(file, add, "cannot be written", f"chmod u+w {file}; chmod u+wx {file.parent}"))


@pytest.mark.process
def test_file_and_folder_of_another_user_are_named(file: Path):
    file.chmod(0o600)
    if os.geteuid() != 0:
        file.chmod(0o000)
    as_another_user(lambda: fails(file, add, "unable to open the database file", f"ls -ld {file.parent} {file}"))
    file.chmod(0o600)


def test_file_that_is_no_database_is_left_alone(tmp_path: Path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ann, " * 1000)
    path.chmod(0o600)
    fails(path, add, "is not a SQLite database", f"mv {path} {path}.old")
    assert path.read_text() == "Dear Ann, " * 1000


def test_damaged_file_is_an_error_that_says_how_to_save_it(file: Path):
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)
    fails(file, add, "is damaged", "recover")


def test_folder_that_is_missing_is_named(tmp_path: Path):
    with pytest.raises(DatabaseError, match="unable to open the database file") as caught:
        Database(f"sqlite:///{tmp_path}/nowhere/notes.db", schema=SCHEMA)
    assert f"ls -ld {tmp_path}/nowhere" in (caught.value.hint or "")


def test_full_disk_takes_nothing_of_a_transaction_and_is_used_again_when_there_is_room(file: Path):
    database = Database(file, schema=SCHEMA)

    def limited(connection: Any) -> None:
        connection.execute(text(f"PRAGMA max_page_count = {file.stat().st_size // 4096}"))

    with (
        pytest.raises(DatabaseError, match="disk of the database file") as caught,
        database.writing() as used,
    ):
        limited(used)
        for number in range(1000):
            used.execute(text("INSERT INTO notes VALUES (:id, 0, :facts)"), {"id": f"{number}", "facts": '"x"' * 100})
    assert (caught.value.code, caught.value.hint) == ("SQLITE_FULL", f"See how full it is: df -h {file.parent}")
    assert Notes(database).all() == {"a": 0}
    database.close()
    database = Database(file, schema=SCHEMA)
    Notes(database).add("b")
    assert Notes(database).all() == {"a": 0, "b": 0}
    database.close()
