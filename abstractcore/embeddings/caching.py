"""`EmbeddingCache`: vectors in a SQLite file that processes share, found by the content that they are of."""

from __future__ import annotations

import json
import logging
import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple, TypeVar, cast

from ..copying import NotCopied
from ..errors import InvalidInputError, SchemaError
from ..private_files import make_private_folder, private
from ..schema import Vectors, shown
from ..stores.sqlite_files import checked_path, file_identity
from ..user_folders import cache_folder

T = TypeVar("T")
_log = logging.getLogger("abstractcore")
_MAX_BYTES: Final = 2 * 1024**3
_LEAST_BYTES: Final = 1024**2
_BUSY_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 10.0
"""How long a file that failed is not used."""
_KEY_BYTES: Final = 16
_FORMAT: Final = 1
_EVICTED: Final = 0.1
"""The part of the largest size that is free after the oldest vectors were removed."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, rest BLOB, numbers BLOB, tokens INTEGER, stored_at REAL,
    truncated INTEGER);
CREATE INDEX IF NOT EXISTS by_age ON vectors (stored_at);
"""

_opening = threading.Lock()
"""Held while a file is opened."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_opening.release)


class CachedVector(NamedTuple):
    """A vector as bytes of float32, about how many tokens its input had, when it was stored, and 1 if its input was
    cut.
    """

    numbers: bytes
    tokens: int
    stored_at: float
    truncated: int


class _Opened(NamedTuple):
    connection: sqlite3.Connection
    lock: threading.Lock
    process: int
    file: tuple[int, int] | None


class EmbeddingCache(NotCopied):
    """Keeps vectors in a SQLite file: `create_llm(..., embed_cache=EmbeddingCache("vectors.db"))`.

    `path` is the file; None for one in the user's cache folder. Beyond `max_bytes`, the oldest vectors are removed.
    Threads and processes may share it. A vector is found by its model, the server, the settings of its request and its
    content, of which only a hash is stored. A file that fails never fails a call: it is left out, with a warning, and
    tried again after some seconds. Raises `InvalidInputError` for invalid arguments.
    """

    _holds = "an open file"
    _instead = "Make one with the same path in the other process."

    def __init__(self, path: str | os.PathLike[str] | None = None, *, max_bytes: int = _MAX_BYTES) -> None:
        if not isinstance(max_bytes, int) or isinstance(max_bytes, bool) or max_bytes < _LEAST_BYTES:  # pyright: ignore[reportUnnecessaryIsInstance]
            message = f"expected at least {_LEAST_BYTES:,}, got {shown(max_bytes)}"
            raise InvalidInputError(message, path="max_bytes")
        self.path = cache_folder() / "embeddings.db" if path is None else checked_path(path)
        self.max_bytes = max_bytes
        self._opened: _Opened | None = None
        self._failed_at: float | None = None

    def find(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """Returns the vectors that are stored of these keys; blocks. Raises `OSError` and `sqlite3.Error`."""
        by_id = {_id(key): key for key in keys}
        statement = "SELECT * FROM vectors WHERE id IN (SELECT value FROM json_each(?))"
        found: dict[bytes, CachedVector] = {}
        with self._connected() as connection:
            for id, rest, *row in connection.execute(statement, (json.dumps(sorted(by_id)),)):
                if rest == by_id[id][8:]:
                    found[by_id[id]] = CachedVector(*row)
        if _are_vectors(found.values()):
            return found
        return {key: each for key, each in found.items() if _are_vectors([each])}

    def put(self, vectors: Mapping[bytes, CachedVector]) -> None:
        """Stores vectors by key; blocks. Raises `OSError` and `sqlite3.Error`."""
        rows = [(_id(key), key[8:], *each) for key, each in vectors.items()]
        with self._connected() as connection, _transaction(connection):
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._make_room(connection)

    def clear(self) -> None:
        """Removes all vectors; blocks. Raises `OSError` and `sqlite3.Error`."""
        with self._connected() as connection, _transaction(connection):
            connection.execute("DELETE FROM vectors")

    def count(self) -> int:
        """Returns how many vectors are stored; blocks. Raises `OSError` and `sqlite3.Error`."""
        with self._connected() as connection:
            return connection.execute("SELECT count(*) FROM vectors").fetchone()[0]

    def close(self) -> None:
        """Closes the file; it is opened again when it is used."""
        opened, self._opened = self._opened, None
        if opened is not None and opened.process == os.getpid():
            with opened.lock, suppress(sqlite3.Error):
                opened.connection.close()

    def unless_failed(self, function: Callable[..., T], *arguments: object) -> tuple[T | None, str | None]:
        """Returns the result of one of the methods, and None; or None and what has failed. A file that failed is not
        used for some seconds.
        """
        failed_at = self._failed_at
        if failed_at is not None and abs(time.monotonic() - failed_at) < _PAUSE_SECONDS:
            return None, f"{self.path} failed a moment ago"
        try:
            result = function(*arguments)
        except (OSError, sqlite3.Error, SchemaError) as error:
            self.close()
            if failed_at is None:
                _log.warning("the cache of embeddings at %s does not work: %s", self.path, error)
            self._failed_at = time.monotonic()
            return None, f"{self.path}: {error}"
        self._failed_at = None
        return result, None

    @contextmanager
    def _connected(self) -> Generator[sqlite3.Connection]:
        """Yields the connection, for one thread at a time; a forked process has one of its own, and so has a file that
        was deleted and is made again.
        """
        while True:
            opened = self._usable()
            with opened.lock:
                if opened is self._opened:  # it was not closed meanwhile
                    yield opened.connection
                    return

    def _usable(self) -> _Opened:
        with _opening:
            opened = self._opened
            if opened is None or opened.process != os.getpid() or opened.file != file_identity(self.path):
                self.close()
                connection = self._connect()
                self._opened = opened = _Opened(connection, threading.Lock(), os.getpid(), file_identity(self.path))
            return opened

    def _connect(self) -> sqlite3.Connection:
        """Opens the file, which only its owner may read, and makes its table."""
        make_private_folder(self.path.absolute().parent)
        with suppress(FileExistsError), open(self.path, "xb", opener=private):
            pass  # SQLite gives its other files the same rights
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=16
        )
        try:
            connection.executescript("PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
            connection.execute("PRAGMA mmap_size=1073741824")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, _FORMAT):
                raise sqlite3.DatabaseError("it was written by a later version")
            connection.executescript(f"{_TABLES} PRAGMA user_version={_FORMAT};")
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_room(self, connection: sqlite3.Connection) -> None:
        """Removes the oldest vectors if the file has more bytes than it may have, free ones left out."""
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
        used = (pages - free) * size
        if used <= self.max_bytes:
            return
        (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
        removed = math.ceil(count * (1 - (1 - _EVICTED) * self.max_bytes / used))
        statement = "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY stored_at LIMIT ?)"
        connection.execute(statement, (removed,))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def checked_cache(given: Any) -> EmbeddingCache | None:
    """Returns the cache that the option `embed_cache` means; raises `InvalidInputError`."""
    if given is None or given is False:
        return None
    if given is True:
        return EmbeddingCache()
    if isinstance(given, EmbeddingCache):
        return given
    if isinstance(given, str | os.PathLike):
        return EmbeddingCache(cast("str | os.PathLike[str]", given))
    message = f"expected True, a path or an EmbeddingCache, got {type(given).__name__}"
    raise InvalidInputError(message, path="embed_cache")


def _id(key: bytes) -> int:
    """Returns the part of a key that the table is sorted by; the rest is compared."""
    return int.from_bytes(key[:8], "big", signed=True)


def _are_vectors(found: Iterable[CachedVector]) -> bool:
    """Returns whether bytes that were read can be vectors: others are as if they were not there."""
    rows: list[Any] = []
    for numbers, tokens, stored_at, truncated in cast("Iterable[tuple[Any, ...]]", found):
        if not (isinstance(numbers, bytes) and numbers and len(numbers) % 4 == 0):
            return False
        if not (isinstance(tokens, int) and tokens >= 0 and isinstance(stored_at, float) and truncated in (0, 1)):
            return False
        rows.append(numbers)
    try:
        Vectors(b"".join(rows), 1)
    except SchemaError:
        return False
    return True
