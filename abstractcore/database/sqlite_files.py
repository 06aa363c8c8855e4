"""The file of a SQLite database: it is made here, and then opened by SQLite only.

POSIX drops all locks of a process on a file when the process closes any descriptor of it. If something else opened and
closed a database that SQLite uses, other processes would take it as unused, and delete the log of what was written.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine

from ..private_files import private
from .failures import DatabaseReplacedError

Synchronous: TypeAlias = Literal["normal", "full"]
READS: Final = "abstractcore_reads"
"""The option of connections for transactions that only read."""
_OF_OTHERS = stat.S_IRWXO
_making = threading.Lock()
"""Held until the descriptor of a new file is closed: only then may another thread let SQLite open it."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)


def make_private(path: str) -> None:
    """Makes a database file if it is missing: only its owner may use it. SQLite gives its other files the same rights.

    One that every user of the machine may read, as of a copied backup, is made private; one that its owner has shared
    with a group stays so. Raises `OSError`.
    """
    file = os.path.realpath(path)  # as SQLite does: of a link that leads nowhere, it makes the target
    with _making:
        try:
            open(file, "xb", opener=private).close()
        except FileExistsError:
            for name in (file, f"{file}-wal", f"{file}-shm"):
                _take_from_others(name)


def file_has_table(file: Path, table: str) -> bool | None:
    """Returns whether a SQLite file has a table, and changes nothing of it; None for one that cannot be read."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        return bool(connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchall())
    return None


def _take_from_others(file: str) -> None:
    """Changes the rights of a file, without opening it."""
    with suppress(FileNotFoundError, PermissionError):  # of a file that another user owns, its rights are theirs
        if os.stat(file).st_mode & _OF_OTHERS:
            os.chmod(file, 0o600)


class DatabaseFile:
    """The file at a path, from its first connection on. SQLite goes on with one that was deleted: nobody would find
    what it writes.
    """

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)
        self._identity: tuple[int, int] | None = None

    def opened(self) -> None:
        """Notes which file it is, the first time."""
        if self._identity is None:
            self._identity = self._found()

    def check(self) -> None:
        """Raises `DatabaseReplacedError` if another file is at the path now, or none."""
        if self._identity is None:
            return
        found = self._found()
        if found != self._identity:
            file = shlex.quote(self._path)
            raise DatabaseReplacedError(
                f"the database file {self._path} was {'replaced' if found else 'deleted'} while it was open",
                hint=f"Stop the processes that use it, restore it, and start them again: fuser -v {file}",
            )

    def _found(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino


def prepare_connections(engine: Engine, synchronous: Synchronous, file: DatabaseFile) -> None:
    """Lets readers go on while another process writes, and transactions begin as `begin` says."""

    def check(*connecting: object) -> None:
        file.check()  # SQLite would make an empty file

    def prepare(connection: Any, record: object) -> None:
        connection.isolation_level = None
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()  # which SQLAlchemy does from 2.1 on
            raise
        file.opened()

    def begin(connection: Connection) -> None:
        """Locks the file before reading what is then changed: two transactions that both read first would collide."""
        file.check()
        reads = connection.get_execution_options().get(READS, False)
        # By the driver: SQLAlchemy's work for a statement is a tenth of a small transaction.
        connection.connection.cursor().execute("BEGIN" if reads else "BEGIN IMMEDIATE").close()

    event.listen(engine, "do_connect", check)
    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", begin)
