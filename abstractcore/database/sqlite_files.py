"""The file of a SQLite database: it is made here, and then opened by SQLite only.

POSIX drops all locks of a process on a file when the process closes any descriptor of it. If something else opened and
closed a database that SQLite uses, other processes would take it as unused, and delete the log of what was written.
"""

from __future__ import annotations

import os
import stat
import threading
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Connection, event
from sqlalchemy.engine import Engine

from ..private_files import private

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


def _take_from_others(file: str) -> None:
    """Changes the rights of a file, without opening it."""
    with suppress(FileNotFoundError, PermissionError):  # of a file that another user owns, its rights are theirs
        if os.stat(file).st_mode & _OF_OTHERS:
            os.chmod(file, 0o600)


def prepare_connections(engine: Engine, synchronous: Synchronous) -> None:
    """Lets readers go on while another process writes, and transactions begin as `_begin` says."""

    def prepare(connection: Any, record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("PRAGMA foreign_keys = ON")

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", _begin)


def _begin(connection: Connection) -> None:
    """Locks the file before reading what is then changed: two transactions that both read first would collide."""
    reads = connection.get_execution_options().get(READS, False)
    # By the driver: SQLAlchemy's work for a statement is a tenth of a small transaction.
    connection.connection.cursor().execute("BEGIN" if reads else "BEGIN IMMEDIATE").close()
