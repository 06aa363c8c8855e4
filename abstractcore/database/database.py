"""`Database`: a SQLite file or a server by its URL, and its transactions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar, get_args

from sqlalchemy import Connection, String, bindparam, create_engine, func, select
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import Pool

from ..errors import ConfigurationError, InvalidInputError, MissingExtraError
from ..private_files import make_private_folder
from ..schema.base_error import install_hint
from .failures import Place, Retries, failure, recognize_lost_connections
from .forks import Transactions
from .notifications import Listener
from .schemas import Schema
from .sqlite_files import READS, DatabaseFile, Synchronous, make_private, prepare_connections
from .statements import Statement

T = TypeVar("T")
P = ParamSpec("P")
_WAIT_SECONDS = 5
"""How long one statement waits for another process that writes, or for the server."""
_LOCK = 0x41624372
"""The number of PostgreSQL's advisory lock while tables are made, and the first one of those of names."""
_SCHEMES = ("sqlite", "postgresql")
_POSTGRESQL_DRIVER = "postgresql+pg8000"
"""The driver of a URL that names none."""
_LOCK_TABLES = Statement(select(func.pg_advisory_xact_lock(_LOCK)))
_LOCK_NAME = Statement(select(func.pg_advisory_xact_lock(_LOCK, func.hashtext(bindparam("name", type_=String)))))


class Database:
    """Opens the SQLite file at a path, or a database by its SQLAlchemy URL: `sqlite:///PATH` or `postgresql://...`.

    A missing file is made, of a path with its folders, which only their owner may read, and the tables of `schema`.
    Threads and forked processes share it. Every method waits for the database: no event loop may call one.

    `synchronous="full"` lets SQLite wait for the disk at every commit, so that a power failure takes nothing that was
    committed; PostgreSQL has a setting of its own. `retries` says how often a transaction is made again.

    Raises `ConfigurationError` for an invalid URL, and for tables of a newer version; `MissingExtraError` without the
    database's driver; `DatabaseError`, which each use of it may raise too: `DatabaseReplacedError` once a SQLite file
    was deleted or replaced.
    """

    def __init__(
        self,
        place: str | URL | Path,
        *,
        schema: Schema | None = None,
        synchronous: Synchronous = "normal",
        retries: Retries | None = None,
    ) -> None:
        if synchronous not in get_args(Synchronous):
            raise InvalidInputError(f"expected 'normal' or 'full', got {synchronous!r}", path="synchronous")
        url = _made(place) if isinstance(place, Path) else _check_url(place)
        self._place = Place.of(url)
        self._engine = _engine(url, synchronous)
        self._reader = self._engine.execution_options(**{READS: True})
        self._errors = (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error)
        self._retries = retries or Retries()
        self._transactions = Transactions(self._engine.dispose)
        if schema is not None:
            try:
                self.migrate(schema)
            except BaseException:
                self.close()
                raise

    @property
    def dialect(self) -> str:
        """The kind of database: "sqlite" or "postgresql"."""
        return self._engine.dialect.name

    def migrate(self, schema: Schema) -> None:
        """Makes the tables of a schema, or brings them to its version, once for all processes."""
        if self.read(schema.is_current):
            return

        def change(connection: Connection) -> None:
            if connection.dialect.name == "postgresql":
                _LOCK_TABLES.all(connection)
            schema.migrate(connection)

        self.write(change)

    def read(self, work: Callable[[Connection], T], *, retries: Retries | None = None) -> T:
        """Returns the result of `work`, which reads in one transaction; called again if the database fails."""
        return (retries or self._retries).run(partial(self._once, self._reader, work))

    def write(self, work: Callable[[Connection], T], *, retries: Retries | None = None) -> T:
        """Returns the result of `work` in a transaction: committed if it returns, and rolled back if it raises.

        In SQLite no other process writes meanwhile. In PostgreSQL rows are locked by `SELECT ... FOR UPDATE`.

        A transaction that collided with another one, or whose connection was lost, is made again, by calling `work`
        again: it has no effects elsewhere. Never one that may have been committed, which is a `CommitUnknownError`.
        """
        return (retries or self._retries).run(partial(self._once, self._engine, work))

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """Yields a connection in a transaction that reads. Only its begin is tried again."""
        with self._transaction(self._reader, self._retries) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """Yields a connection in a transaction, as `write` has it. Only its begin is tried again."""
        with self._transaction(self._engine, self._retries) as connection:
            yield connection

    def listen(self, channel: str, notified: Callable[[], object]) -> Listener | None:
        """Calls `notified`, in a thread, soon after a transaction that called `notify` for this channel; returns what
        stops that. None for SQLite, which has no notifications.

        It is called as well when it begins to listen, and when it does so again after its connection was lost: what
        happened before is not known. If it raises exceptions, the first in a row is logged, and it is called again.
        Pools that share one connection between clients, as PgBouncer's by transaction, pass no notifications on.
        """
        if self._engine.dialect.name != "postgresql":
            return None
        return Listener(self._engine, self._place, self._transactions, channel, notified)

    def close(self) -> None:
        """Closes all connections, those of transactions at their end; but not that of a listener, which is stopped.

        What is dropped without it closes them as well.
        """
        self._transactions.disconnect()

    def _once(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        with self._transaction(engine) as connection:
            return work(connection)

    @contextmanager
    def _transaction(self, engine: Engine, begins: Retries | None = None) -> Generator[Connection]:
        begin = partial(self._begun, engine)
        connection, pool = begin() if begins is None else begins.run(begin)
        commits = False
        try:
            try:
                yield connection
            except BaseException:
                with suppress(*self._errors):  # of a lost connection, whose first error counts
                    connection.rollback()
                raise
            commits = engine is self._engine
            connection.commit()
        except self._errors as error:
            raise failure(error, self._place, commits=commits) from error
        finally:
            self._end(connection, pool)

    def _begun(self, engine: Engine) -> tuple[Connection, Pool]:
        """Returns a connection, and its pool, in a transaction that has begun: no fork happens before `_end`."""
        self._transactions.begin()
        pool = self._engine.pool
        connection: Connection | None = None
        try:
            connection = engine.connect()
            connection.begin()
        except BaseException as error:
            self._end(connection, pool)
            if isinstance(error, TypeError):
                problem = "the URL of the database has an option that its driver does not know"
                raise ConfigurationError(problem) from None
            if isinstance(error, (*self._errors, OSError)):
                raise failure(error, self._place) from error
            raise
        return connection, pool

    def _end(self, connection: Connection | None, pool: Pool) -> None:
        """Gives a connection back."""
        try:
            if connection is not None:
                connection.close()
            if pool is not self._engine.pool:  # `close` was called meanwhile
                pool.dispose()
        finally:
            self._transactions.end()


class _UsesDatabase(Protocol):
    @property
    def database(self) -> Database: ...


U = TypeVar("U", bound=_UsesDatabase)


def reads(method: Callable[Concatenate[U, Connection, P], T]) -> Callable[Concatenate[U, P], T]:
    """Makes a method, which takes a connection first, one that does without: it reads in a transaction of
    `self.database`, as `Database.read`.
    """

    @wraps(method)
    def transaction(self: U, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.database.read(lambda connection: method(self, connection, *args, **kwargs))

    return transaction


def writes(method: Callable[Concatenate[U, Connection, P], T]) -> Callable[Concatenate[U, P], T]:
    """Makes a method, which takes a connection first, one that does without: it is a transaction of `self.database`,
    as `Database.write`.
    """

    @wraps(method)
    def transaction(self: U, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.database.write(lambda connection: method(self, connection, *args, **kwargs))

    return transaction


def lock(connection: Connection, name: str) -> None:
    """Waits until no other transaction has locked `name`, and locks it until the end of this one, also by the death of
    its process.

    In SQLite a transaction that writes is alone anyway.
    """
    if connection.dialect.name == "postgresql":
        _LOCK_NAME.all(connection, name=name)


def _made(path: Path) -> URL:
    """Makes the folder of a file; returns the URL of the file."""
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise ConfigurationError(f"the database {path} cannot be opened: {error.strerror}") from None
    return URL.create("sqlite", database=str(path))


def _check_url(url: str | URL) -> URL:
    """Returns a URL with its driver; raises `ConfigurationError` for one that names no database which is used here."""
    hint = "Write sqlite:////folder/file.db or postgresql://user@host/database."
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise ConfigurationError("the URL of the database is not valid", hint=hint) from None
    if parsed.get_backend_name() not in _SCHEMES:
        raise ConfigurationError(f"{parsed.get_backend_name()!r} is not a database that can be used here", hint=hint)
    is_file = parsed.get_backend_name() == "sqlite"
    if is_file and (parsed.database in (None, "", ":memory:") or "uri" in parsed.query):
        raise ConfigurationError("the URL of the database does not name a file", hint=hint)
    return parsed.set(drivername=_POSTGRESQL_DRIVER) if parsed.drivername == "postgresql" else parsed


def _engine(url: URL, synchronous: Synchronous) -> Engine:
    is_file = url.get_backend_name() == "sqlite"
    limit = "timeout" if is_file or url.drivername == _POSTGRESQL_DRIVER else "connect_timeout"
    try:
        # A connection that a database closed when it was started again is replaced before its use.
        engine = create_engine(
            url, connect_args={limit: _WAIT_SECONDS}, pool_pre_ping=not is_file, hide_parameters=True
        )
    except (ImportError, NoSuchModuleError) as error:
        raise MissingExtraError(
            f"{url.drivername} requires a driver that is not installed: {error}",
            hint=install_hint("pg8000", extra="postgresql"),
        ) from None
    if is_file:
        with suppress(OSError):  # which SQLite reports
            make_private(str(url.database))
        prepare_connections(engine, synchronous, DatabaseFile(str(url.database)))
    else:
        recognize_lost_connections(engine)
    return engine
