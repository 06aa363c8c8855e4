"""`Store`: the database, a SQLite file or a server by its URL."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, func, insert, select, update
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from ...errors import ConfigurationError, MissingExtraError
from ...private_files import make_private_folder
from ...schema.install_hints import install_hint
from ...user_folders import data_folder
from .forks import Transactions
from .sqlite_files import make_private
from .tables import VERSION, metadata, versions

_BUSY_SECONDS = 5
"""How long a process waits for another one that writes."""
_READS = "abstractcore_reads"
_LOCK = 0x41624372
"""The number of PostgreSQL's advisory lock while tables are made, and the first one of those of names."""
_SCHEMES = ("sqlite", "postgresql")
_POSTGRESQL_DRIVER = "postgresql+pg8000"
"""The driver of a URL that names none."""


class StoreUnavailable(Exception):  # noqa: N818 - what to do about it is the caller's choice
    """The database cannot be reached, or has failed. Its own message may have addresses, and is only logged."""


def default_file() -> Path:
    """Returns the path of the database if no other is named: a file in the user's data folder."""
    return data_folder() / "server.db"


class Store:
    """Opens a database by its SQLAlchemy URL: `sqlite:///PATH` or `postgresql://...`; makes missing tables, and a
    missing file, which only its owner may read. Forked processes connect again.

    Raises `ConfigurationError` for an invalid URL, and for a database of a newer version; `MissingExtraError` without
    the database's driver; `StoreUnavailable`, which each use of it may raise too.
    """

    def __init__(self, url: str | URL) -> None:
        self._engine = _engine(url)
        self._transactions = Transactions(self._engine.dispose)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    @classmethod
    def at(cls, path: Path) -> Store:
        """Opens a SQLite file; makes it, with its folder, if it is missing. Only its owner may read both."""
        try:
            make_private_folder(path.parent)
        except OSError as error:
            raise ConfigurationError(f"the database {path} cannot be opened: {error.strerror}") from None
        return cls(URL.create("sqlite", database=str(path)))

    def _prepare(self) -> None:
        with self.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            metadata.create_all(connection)
            found = connection.execute(select(func.max(versions.c.version))).scalar()
            if found is None:
                connection.execute(insert(versions).values(version=VERSION))
            elif found < VERSION:
                connection.execute(update(versions).values(version=VERSION))
            elif found > VERSION:
                raise ConfigurationError(
                    f"the database has version {found} of the tables, this AbstractCore knows version {VERSION}",
                    hint="Install a later AbstractCore, or name another database.",
                )

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """Yields a connection for reading; raises `StoreUnavailable`."""
        with self._begun(self._engine.execution_options(**{_READS: True})) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """Yields a connection in a transaction, which is written at the end; raises `StoreUnavailable`.

        In SQLite no other process writes meanwhile. In PostgreSQL rows are locked by `SELECT ... FOR UPDATE`.
        """
        with self._begun(self._engine) as connection:
            yield connection

    @contextmanager
    def _begun(self, engine: Engine) -> Generator[Connection]:
        with _failures(), self._transactions.counted(), engine.begin() as connection:
            yield connection

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


def lock(connection: Connection, name: str) -> None:
    """Waits until no other transaction has locked `name`, and locks it until the end of this one.

    In SQLite a transaction that writes is alone anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK, func.hashtext(name))))


@contextmanager
def _failures() -> Generator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        raise StoreUnavailable(type(error).__name__) from error


def _engine(url: str | URL) -> Engine:
    hint = "Write sqlite:////folder/file.db or postgresql://user@host/database."
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ConfigurationError("the URL of the database is not valid", hint=hint) from None
    if parsed.get_backend_name() not in _SCHEMES:
        raise ConfigurationError(f"{parsed.get_backend_name()!r} is not a database that can be used here", hint=hint)
    is_file = parsed.get_backend_name() == "sqlite"
    if is_file and (parsed.database in (None, "", ":memory:") or "uri" in parsed.query):
        raise ConfigurationError("the URL of the database does not name a file", hint=hint)
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername=_POSTGRESQL_DRIVER)
    limit = "timeout" if is_file or parsed.drivername == _POSTGRESQL_DRIVER else "connect_timeout"
    try:
        # A connection that a database closed when it was started again is replaced before its use.
        engine = create_engine(parsed, connect_args={limit: _BUSY_SECONDS}, pool_pre_ping=not is_file)
    except (ImportError, NoSuchModuleError) as error:
        raise MissingExtraError(
            f"{parsed.drivername} requires a driver that is not installed: {error}",
            hint=install_hint("pg8000", extra="postgresql"),
        ) from None
    if is_file:
        with suppress(OSError):  # which SQLite reports
            make_private(str(parsed.database))
        event.listen(engine, "connect", _prepare_file)
        event.listen(engine, "begin", _begin)
    return engine


def _prepare_file(connection: Any, record: object) -> None:
    """Lets readers go on while another process writes. Transactions begin as `_begin` says, not as sqlite3 would."""
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    """Locks the file before reading what is then changed: two transactions that both read first would collide."""
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
