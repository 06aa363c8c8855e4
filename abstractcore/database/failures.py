"""What failed in a database, by its SQLSTATE or SQLite's code: the error that users see, and what is tried again."""

from __future__ import annotations

import logging
import random
import shlex
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlalchemy import event
from sqlalchemy.engine import URL, Dialect, Engine, ExceptionContext
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError

from ..errors import AbstractCoreError

T = TypeVar("T")
_log = logging.getLogger("abstractcore.database")


class DatabaseError(AbstractCoreError):
    """A transaction failed, and nothing of it was committed. If it is `retryable`, the same one may succeed later.

    `code` is the SQLSTATE, or SQLite's name of the error.
    """


class ConstraintError(DatabaseError):
    """A row violates a constraint, such as a second one with the same key."""


class CommitUnknownError(DatabaseError):
    """The connection was lost while a transaction was committed: it may be in the database, and is not tried again."""


class DatabaseReplacedError(DatabaseError):
    """The SQLite file at the path is gone, or another one, while the database is open: nothing is read or written."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a transaction is made: at most `attempts` times, none begun later than `seconds` after the first."""

    attempts: int = 5
    seconds: float = 5.0

    def run(self, function: Callable[[], T]) -> T:
        """Calls a function again while it raises a `DatabaseError` that is retryable; raises the last one."""
        begun = time.monotonic()
        number = 1
        while True:
            try:
                return function()
            except DatabaseError as error:
                wait = delay(number)
                is_last = number >= self.attempts or time.monotonic() + wait - begun >= self.seconds
                if not error.retryable or is_last:
                    raise
                _log.info("a transaction is tried again in %.3f s: %s", wait, error.message)
            time.sleep(wait)
            number += 1


def delay(number: int) -> float:
    """Returns how long to wait after an attempt, the first one being 1: half of it is random, so that transactions
    which have collided do not collide again.
    """
    return min(0.02 * 2 ** min(number - 1, 10), 1.0) * random.uniform(0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a database is, as messages and the commands of hints name it: without its password."""

    values: Mapping[str, str]

    @classmethod
    def of(cls, url: URL) -> Place:
        """Returns the place of a URL."""
        name = str(url.database or "")
        if url.get_backend_name() == "sqlite":
            folder = name.rpartition("/")[0] or "." if not name.startswith("/") else name.rpartition("/")[0] or "/"
            return cls({"place": name, "file": shlex.quote(name), "folder": shlex.quote(folder)})
        query = {key: value if isinstance(value, str) else value[0] for key, value in url.query.items()}
        socket = query.get("unix_sock", "").rpartition("/.s.PGSQL.")
        host = url.host or query.get("host") or socket[0] or "localhost"
        port = str(url.port or query.get("port") or socket[2] or 5432)
        at = f"-h {shlex.quote(host)} -p {shlex.quote(port)}"
        user = f" -U {shlex.quote(url.username)}" if url.username else ""
        values = {"server": at, "user": user, "name": shlex.quote(name), "who": url.username or "", "place": name}
        return cls({**values, "address": f"{host}:{port}"})


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of failure: its message and hint, in which the values of a `Place` are filled in."""

    message: str
    hint: str | None = None
    is_retried: bool = False
    is_lost: bool = False
    """The connection ended: if it was committing, nobody knows whether it did."""
    error: type[DatabaseError] = DatabaseError


_OTHER: Final = _Kind("the database failed ({code})")
_LOST: Final = _Kind(
    "the database at {address} cannot be reached, or has closed the connection",
    "See whether it runs: pg_isready {server}",
    is_retried=True,
    is_lost=True,
)
_BUSY: Final = _Kind(
    "the database file {place} is locked by another process", "See which one it is: fuser -v {file}", is_retried=True
)
_SQLITE: Final = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_CANTOPEN: _Kind(
        "unable to open the database file {place}", "See whether its folder exists and is yours: ls -ld {folder} {file}"
    ),
    sqlite3.SQLITE_PERM: _Kind("no permission to open the database file {place}", "See whose it is: ls -l {file}"),
    sqlite3.SQLITE_READONLY: _Kind(
        "the database file {place} cannot be written",
        "Make it and its folder writable: chmod u+w {file}; chmod u+wx {folder}",
    ),
    sqlite3.SQLITE_FULL: _Kind("the disk of the database file {place} is full", "See how full it is: df -h {folder}"),
    sqlite3.SQLITE_NOTADB: _Kind(
        "{place} is not a SQLite database", "Name another file, or move this one away: mv {file} {file}.old"
    ),
    sqlite3.SQLITE_CORRUPT: _Kind(
        "the database file {place} is damaged",
        "Restore a backup, or save what is readable: sqlite3 {file} .recover | sqlite3 recovered.db",
    ),
    sqlite3.SQLITE_IOERR: _Kind(
        "the disk of the database file {place} has failed", "See the system's log: dmesg", is_lost=True
    ),
    sqlite3.SQLITE_CONSTRAINT: _Kind("a row violates a constraint of the database ({code})", error=ConstraintError),
}
"""By SQLite's primary code: `SQLITE_BUSY_SNAPSHOT` is a `SQLITE_BUSY`. What has is_lost was perhaps written."""
_SQLSTATES: Final = {
    "08": _LOST,
    "57P01": _LOST,
    "57P02": _LOST,
    "57P03": _Kind(
        "the database at {address} is starting or stopping", "See when it is ready: pg_isready {server}", True, True
    ),
    "40003": _Kind("the connection was lost: it is not known what a statement did", is_lost=True),
    "40001": _Kind("transactions that ran at the same time excluded each other", is_retried=True),
    "40P01": _Kind("transactions that ran at the same time waited for each other", is_retried=True),
    "28": _Kind(
        "the database at {address} refuses the user {who!r}", "Try its name and password: psql {server}{user} {name}"
    ),
    "3D000": _Kind(
        "there is no database {place!r} at {address}", "Create it: createdb {server}{user} {name}; or name another one."
    ),
    "42501": _Kind(
        "the user {who!r} has no permission for what the database {place!r} is to do",
        "As its owner: GRANT ALL ON SCHEMA public TO the user, in psql {server} {name}",
    ),
    "25006": _Kind("the database at {address} is read-only", "Give the URL of the primary server, not of a replica."),
    "53100": _Kind("the disk of the database at {address} is full", "See how full it is, on the server: df -h"),
    "53300": _Kind(
        "the database at {address} has too many connections", "Raise max_connections in postgresql.conf.", True
    ),
    "55P03": _Kind("a row of the database is locked by another transaction", is_retried=True),
    "23": _Kind("a row violates a constraint of the database ({code})", error=ConstraintError),
}
"""By SQLSTATE, or its class."""
_LOST_CONNECTIONS: Final = {"network error", "communication error", "connection is closed"}
"""Messages of pg8000 that have no SQLSTATE. Those of psycopg are an `OperationalError`."""


def lost_connection(dialect: Dialect) -> Exception:
    """Returns the driver's error for an `OSError` that it has let through, which is not one of a transaction's body."""
    return dialect.loaded_dbapi.InterfaceError("network error")


def recognize_lost_connections(engine: Engine) -> None:
    """Lets SQLAlchemy take every `OSError` of a driver as the end of a connection, and close one that has ended without
    a word: it would log the driver's error with its traceback.
    """
    errors = engine.dialect.loaded_dbapi.Error, OSError
    close_in_driver = engine.dialect.do_close

    def recognize(context: ExceptionContext) -> BaseException | None:
        if not isinstance(context.original_exception, OSError):
            return None
        context.is_disconnect = True
        return lost_connection(context.dialect)

    def close(dbapi_connection: DBAPIConnection) -> None:
        stream: Any = getattr(dbapi_connection, "_sock", None)
        with suppress(*errors):
            close_in_driver(dbapi_connection)
        if stream is not None:  # of pg8000, which leaves it open in a lost connection
            with suppress(OSError):
                stream.close()

    event.listen(engine, "handle_error", recognize)
    engine.dialect.do_close = close


def failure(error: BaseException, place: Place, *, commits: bool = False) -> DatabaseError:
    """Returns the error to raise for one of the driver, or of SQLAlchemy; `commits` is True if it interrupted a COMMIT.

    It quotes neither the database nor its URL, whose texts may have credentials.
    """
    of_driver = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    code, kind = _of_file(of_driver) if "file" in place.values else _of_server(of_driver)
    message = kind.message.format(code=code or type(of_driver).__name__, **place.values)
    hint = None if kind.hint is None else kind.hint.format(**place.values)
    if commits and (kind.is_lost or code is None):
        return CommitUnknownError(
            f"it is not known whether a transaction was committed: {message}", hint=hint, code=code
        )
    found = kind.error(message, hint=hint, code=code)
    found.retryable = kind.is_retried
    return found


def _of_file(error: BaseException) -> tuple[str | None, _Kind]:
    """Returns the code of an error of SQLite, and its kind."""
    number: int | None = getattr(error, "sqlite_errorcode", None)
    kind = _OTHER if number is None else _SQLITE.get(number & 0xFF, _OTHER)
    return getattr(error, "sqlite_errorname", None), kind


def _of_server(error: BaseException) -> tuple[str | None, _Kind]:
    """Returns the SQLSTATE of an error of a server's driver, and its kind."""
    state = _sqlstate(error)
    if state is not None:
        return state, _SQLSTATES.get(state) or _SQLSTATES.get(state[:2], _OTHER)
    if str(error) == "in failed transaction block":  # as pg8000 reports a COMMIT that PostgreSQL answers by ROLLBACK
        return "25P02", _OTHER
    is_lost = isinstance(error, OSError) or isinstance(error.__cause__, OSError) or str(error) in _LOST_CONNECTIONS
    return None, _LOST if is_lost or type(error).__name__ == "OperationalError" else _OTHER


def _sqlstate(error: Any) -> str | None:
    """Returns the SQLSTATE of an error of pg8000 or psycopg."""
    if error.args and isinstance(error.args[0], dict):
        return error.args[0].get("C")
    return getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
