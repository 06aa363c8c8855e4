"""`SQLiteFile`: a SQLite file that this program makes for itself, by the standard library alone."""

from __future__ import annotations

import errno
import os
import shlex
import sqlite3
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ..errors import AbstractCoreError, InvalidInputError
from ..private_files import private
from ..registry.suggestions import missing_path_hint
from ..schema.base_error import shown

Connection: TypeAlias = sqlite3.Connection
_BUSY_SECONDS: Final = 30.0
_COUNT_TABLES: Final = "SELECT count(*) FROM sqlite_master"
_FAILURES: Final = (OSError, ValueError, sqlite3.Error)
"""What opening a file raises; `ValueError` for a path with a null character."""
_of_other_processes: Final = list[Connection]()
"""Connections of the process that this one was forked from: SQLite requires that they are not even closed here."""


class _OwnConnection(sqlite3.Connection):
    """Closes itself when nobody uses it any more, which Python would warn of, but never in a forked process."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.process = os.getpid()
        super().__init__(*args, **kwargs)

    def __del__(self) -> None:
        if self.process != os.getpid():
            _of_other_processes.append(self)
            return
        with suppress(sqlite3.Error):  # a full disk: the log stays, and is read at the next opening
            self.close()


@dataclass(frozen=True, slots=True)
class SQLiteFileKind:
    """What a file is: `noun` with its article for messages, `application` the id in its header, by which `file` and
    others know it, the `version` of its `tables`, the class of errors, and the hint for a damaged file. `pragmas` are
    those of each connection, beside the common ones.
    """

    noun: str
    application: int
    version: int
    tables: str
    error: type[AbstractCoreError]
    repair: str
    pragmas: tuple[str, ...] = ()


class _Opened(NamedTuple):
    """A connection, for one thread at a time."""

    connection: _OwnConnection
    lock: threading.RLock
    file: tuple[int, int] | None


def checked_path(path: Any) -> Path:
    """Returns the path of a file; raises `InvalidInputError` for anything else."""
    try:
        name = cast("object", os.fspath(path))
    except TypeError:
        name = None
    if not isinstance(name, str):
        raise InvalidInputError(f"expected a path, got {shown(path)}", path="path")
    try:
        has_null = b"\0" in os.fsencode(name)
    except UnicodeEncodeError as error:
        raise InvalidInputError(f"{shown(name)} is not a path: {error}", path="path") from None
    if has_null:
        raise InvalidInputError(f"{shown(name)} is not a path: it has a null character", path="path")
    return Path(name)


def file_identity(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Returns what is another one for another file at a path; None without one."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class SQLiteFile:
    """A file of a kind, readable for its owner only, which is made if it is missing. Several threads and processes may
    use it at once; a forked child opens it for itself. With `read_only`, the file must exist, and is not changed.

    Methods block. They raise errors of the kind for a file that cannot be used, whose messages name it.
    """

    def __init__(self, path: str | os.PathLike[str], kind: SQLiteFileKind, *, read_only: bool = False) -> None:
        self.path = checked_path(path)
        self._kind = kind
        self._read_only = read_only
        self._closed = False
        try:
            self._place = Path(os.path.realpath(path))  # wherever the process goes
        except _FAILURES as error:
            raise self._error("opened", error) from None
        self._opened = self._open()

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """A transaction that only reads: it sees one state of the file."""
        with self._connected("read") as connection, _transaction(connection, "BEGIN"):
            yield connection

    @contextmanager
    def writing(self, *, flush: bool = False) -> Generator[Connection]:
        """A transaction that writes all or nothing, after those of other processes. It survives the death of the
        process; with `flush`, which takes milliseconds, that of the machine too. Without it, the last ones may be
        missing then.
        """
        with self._connected("written") as connection:
            connection.execute(f"PRAGMA synchronous = {'FULL' if flush else 'NORMAL'}")
            with _transaction(connection, "BEGIN IMMEDIATE"):
                yield connection

    def copy_to(self, path: str | os.PathLike[str], change: Callable[[Connection], None]) -> None:
        """Copies the file to a new one, and changes that. The copy is on the disk when this returns."""
        target = Path(path)
        with self._connected("copied") as connection:
            os.close(private(str(target), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            copy = sqlite3.connect(target)
            try:
                copy.execute("PRAGMA synchronous = OFF")  # flushed once, below
                connection.backup(copy)
                with copy:
                    change(copy)
            finally:
                copy.close()
            with open(target, "rb+") as written:
                os.fsync(written.fileno())

    def check_open(self) -> None:
        """Raises an error of the kind if the file was closed."""
        if self._closed:
            raise self._kind.error(f"{self.path} is closed.", hint="Open it again.")

    def is_replaced(self) -> bool:
        """Returns whether the file was deleted since it was opened, or another one is at its path."""
        return file_identity(self._place) != self._opened.file

    def is_used_by_others(self) -> bool:
        """Returns whether there is another connection to the file; if not, its log is now in the file itself."""
        with self._connected("opened") as connection:
            try:
                connection.execute("PRAGMA busy_timeout = 0")
                connection.execute("PRAGMA journal_mode = DELETE")  # which takes that nobody else has it open
            except sqlite3.Error:
                return True
        return False

    def close(self) -> None:
        """Closes the file. May be called again."""
        self._closed = True
        connection, lock, _ = self._opened
        if connection.process == os.getpid():
            with lock, suppress(sqlite3.Error):  # a full disk: the log stays, and is read at the next opening
                connection.close()

    def __repr__(self) -> str:
        return f"SQLiteFile({str(self.path)!r})"

    @contextmanager
    def _connected(self, verb: str) -> Generator[Connection]:
        """Yields the connection, for one thread at a time."""
        self.check_open()
        opened = self._opened
        if opened.connection.process != os.getpid():
            opened = self._opened = self._open()
        elif (found := file_identity(self._place)) != opened.file:
            # SQLite would go on with the one that nobody finds any more.
            what = "deleted" if found is None else "replaced"
            raise self._kind.error(f"{self.path} was {what} while it was open.", hint="Open it again.")
        with opened.lock:
            self.check_open()
            try:
                yield opened.connection
            except (OSError, sqlite3.Error) as error:
                raise self._error(verb, error) from None

    def _open(self) -> _Opened:
        try:
            connection = self._connect()
        except _FAILURES as error:
            raise self._error("opened", error) from None
        return _Opened(connection, threading.RLock(), file_identity(self._place))

    def _connect(self) -> _OwnConnection:
        mode, is_new = "rw", False
        if not self._read_only:
            with suppress(FileExistsError):
                os.close(private(str(self._place), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
                is_new = True
        elif not self._place.exists():
            raise self._kind.error(f"{self.path} does not exist.", hint=missing_path_hint(str(self.path)))
        elif _has_log(self._place):
            mode = "ro"  # else the log would be taken into the file at the end
        uri = f"{self._place.as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            uri,
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=_BUSY_SECONDS,
            factory=_OwnConnection,
        )
        try:
            self._check(connection)
            if self._read_only:  # one that could write removes the files that SQLite makes beside it for reading
                connection.execute("PRAGMA query_only = ON")
            else:
                self._prepare(connection)
        except BaseException:
            is_unwritten = is_new and not _has_tables(connection)
            connection.close()
            if is_unwritten:  # a full disk: the file would be of no kind
                self._place.unlink(missing_ok=True)
            raise
        return connection

    def _check(self, connection: Connection) -> None:
        """Raises an error of the kind for a file of another one, or of a later version."""
        kind = self._kind
        with _transaction(connection, "BEGIN"):  # of one state: another thread or process may make the tables now
            application, version, tables = (
                connection.execute(statement).fetchone()[0]
                for statement in ("PRAGMA application_id", "PRAGMA user_version", _COUNT_TABLES)
            )
        if not application and not tables and self._read_only:
            raise kind.error(f"{self.path} is empty.", hint="Remove it: the process that made it has not written it.")
        if application != kind.application and (tables or self._read_only):
            raise kind.error(f"{self.path} is not {kind.noun}.", hint="Give the path of a new file.")
        if version > kind.version or (tables and version != kind.version):
            message = f"{self.path} has version {version}: this release reads version {kind.version}."
            hint = "Install a later release of AbstractCore." if version > kind.version else kind.repair
            raise kind.error(message, hint=hint)

    def _prepare(self, connection: Connection) -> None:
        """Sets how the connection works, and makes the tables of a new file."""
        kind = self._kind
        for pragma in (*kind.pragmas, "journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}")
        with _transaction(connection, "BEGIN IMMEDIATE"):  # another process may make them now
            if not connection.execute(_COUNT_TABLES).fetchone()[0]:
                connection.execute(f"PRAGMA application_id = {kind.application}")
                connection.execute(f"PRAGMA user_version = {kind.version}")
                for statement in filter(str.strip, kind.tables.split(";")):
                    connection.execute(statement)

    def _error(self, verb: str, error: Exception) -> AbstractCoreError:
        kind, reason = self._kind, getattr(error, "strerror", None) or str(error)
        if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return kind.error(f"{self.path} is damaged, or not {kind.noun}: {reason}.", hint=kind.repair)
        hint = f"See how full it is: df -h {shlex.quote(str(self._place.parent))}" if _is_full(error) else None
        return kind.error(f"{self.path} cannot be {verb}: {reason}.", hint=hint)


def _is_full(error: Exception) -> bool:
    """Returns whether the disk, or the user's part of it, is full."""
    is_of_sqlite = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
    return is_of_sqlite or (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT))


@contextmanager
def _transaction(connection: Connection, begin: str) -> Generator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk has ended the transaction already
            connection.execute("ROLLBACK")
        raise


def _has_tables(connection: Connection) -> bool:
    """Returns whether a file has tables, perhaps of another process that has opened it too."""
    with suppress(sqlite3.Error):
        return bool(connection.execute(_COUNT_TABLES).fetchone()[0])
    return True


def _has_log(path: Path) -> bool:
    """Returns whether changes are beside a file that are not in it: another process has it open, or has crashed."""
    with suppress(FileNotFoundError):
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    return False
