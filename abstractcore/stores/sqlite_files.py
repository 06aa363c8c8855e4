"""`SQLiteFile`: a SQLite file that this program makes for itself, by the standard library alone."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from ..errors import AbstractCoreError, InvalidInputError
from ..private_files import private
from ..schema.base_error import shown

Connection: TypeAlias = sqlite3.Connection
_BUSY_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class SQLiteFileKind:
    """What a file is: `noun` in messages, `application` the id in its header, by which `file` and others know it, the
    `version` of its `tables`, and the class of errors.
    """

    noun: str
    application: int
    version: int
    tables: str
    error: type[AbstractCoreError]


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
        raise InvalidInputError(f"{shown(name)} is no path: {error}", path="path") from None
    if has_null:
        raise InvalidInputError(f"{shown(name)} is no path: it has a null character", path="path")
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
    use it at once; a forked child opens it for itself.

    Methods block. They raise errors of the kind for a file that cannot be used, whose messages name it.
    """

    def __init__(self, path: str | os.PathLike[str], kind: SQLiteFileKind) -> None:
        self.path = checked_path(path)
        self._kind = kind
        self._lock = threading.RLock()
        self._closed = False
        self._process = os.getpid()
        self._connection: Connection | None = self._opened()
        self._identity = file_identity(self.path)

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """A transaction that only reads: it sees one state of the file."""
        with self._working("read", "BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """A transaction that writes all or nothing, after those of other processes. It survives the death of the
        process; of the machine, the last ones may be missing.
        """
        with self._working("written", "BEGIN IMMEDIATE") as connection:
            yield connection

    def is_used_by_others(self) -> bool:
        """Returns whether there is another connection to the file; if not, its log is now in the file itself."""
        with self._lock:
            connection = self._current()
            try:
                connection.execute("PRAGMA busy_timeout = 0")
                connection.execute("PRAGMA journal_mode = DELETE")  # which takes that nobody else has it open
            except sqlite3.Error:
                return True
        return False

    def close(self) -> None:
        """Closes the file. May be called again."""
        with self._lock:
            self._closed = True
            connection, self._connection = self._connection, None
            if connection is not None and os.getpid() == self._process:
                with suppress(sqlite3.Error):  # a full disk: the log stays, and is read at the next opening
                    connection.close()

    def __repr__(self) -> str:
        return f"SQLiteFile({str(self.path)!r})"

    @contextmanager
    def _working(self, verb: str, begin: str) -> Generator[Connection]:
        with self._lock:
            try:
                connection = self._current()
                connection.execute(begin)
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):  # a full disk has ended the transaction already
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise self._error(f"cannot be {verb}", error) from None

    def _current(self) -> Connection:
        if self._closed:
            raise self._kind.error(f"{self.path} was closed.", hint="Open it again.")
        if os.getpid() != self._process or self._connection is None:
            self._process = os.getpid()
            self._connection = self._opened()  # SQLite's connections do not survive a fork; the parent's is left alone
            self._identity = file_identity(self.path)
        elif (found := file_identity(self.path)) != self._identity:
            # SQLite would go on with the one that nobody finds any more.
            what = "deleted" if found is None else "replaced"
            raise self._kind.error(f"{self.path} was {what} while it was open.", hint="Open it again.")
        return self._connection

    def _opened(self) -> Connection:
        connection: Connection | None = None
        try:
            with suppress(FileExistsError):
                os.close(private(str(self.path), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            uri = f"{self.path.resolve().as_uri()}?mode=rw"
            connection = sqlite3.connect(
                uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
            )
            self._check_or_make(connection)
        except (OSError, sqlite3.Error) as error:
            if connection is not None:
                connection.close()
            raise self._error("cannot be opened", error) from None
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return connection

    def _check_or_make(self, connection: Connection) -> None:
        kind = self._kind
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != kind.application and tables:
            raise kind.error(f"{self.path} is no {kind.noun}.", hint="Give the path of a new file.")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                connection.execute(f"PRAGMA application_id = {kind.application}")
                connection.execute(f"PRAGMA user_version = {kind.version}")
                for statement in filter(str.strip, kind.tables.split(";")):
                    connection.execute(statement)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > kind.version:
            message = f"{self.path} has version {version}: this release reads version {kind.version}."
            raise kind.error(message, hint="Install a later release of AbstractCore.")

    def _error(self, what: str, error: OSError | sqlite3.Error) -> AbstractCoreError:
        if isinstance(error, OSError):
            return self._kind.error(f"{self.path} {what}: {error.strerror or error}.")
        if isinstance(error, sqlite3.OperationalError):
            return self._kind.error(f"{self.path} {what}: {error}.")
        noun = self._kind.noun
        hint = f"Give the path of another file, or remove this one and make the {noun} anew."
        return self._kind.error(f"{self.path} is damaged, or no {noun}: {error}.", hint=hint)
