"""`EmbeddingCache`: vectors in a SQLite file that processes share, found by the content that they are of."""

from __future__ import annotations

import json
import logging
import math
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, NamedTuple, TypeVar, cast

from ..copying import NotCopied
from ..errors import EmbeddingCacheError, InvalidInputError, SchemaError
from ..private_files import make_private_folder
from ..schema import Vectors, shown
from ..stores.sqlite_files import Connection, SQLiteFile, SQLiteFileKind, checked_path
from ..user_folders import cache_folder

T = TypeVar("T")
_log = logging.getLogger("abstractcore")
_MAX_BYTES: Final = 2 * 1024**3
_LEAST_BYTES: Final = 1024**2
_PAUSE_SECONDS: Final = 10.0
"""How long a file that failed is not used."""
_EVICTED: Final = 0.1
"""The part of the largest size that is free after the oldest vectors were removed."""
_TABLES: Final = """
CREATE TABLE vectors (id INTEGER PRIMARY KEY, rest BLOB, numbers BLOB, tokens INTEGER, stored_at REAL,
    truncated INTEGER);
CREATE INDEX by_age ON vectors (stored_at);
"""
_KIND: Final = SQLiteFileKind(
    "a cache of embeddings",
    0x41434531,
    1,
    _TABLES,
    EmbeddingCacheError,
    "Remove it: the vectors are asked for again.",
    pragmas=("page_size = 8192", "mmap_size = 1073741824"),
)


class CachedVector(NamedTuple):
    """A vector as bytes of float32, about how many tokens its input had, when it was stored, and 1 if its input was
    cut.
    """

    numbers: bytes
    tokens: int
    stored_at: float
    truncated: int


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
        self._file: SQLiteFile | None = None
        self._failed_at: float | None = None

    def find(self, keys: Sequence[bytes]) -> dict[bytes, CachedVector]:
        """Returns the vectors that are stored of these keys; blocks. Raises `EmbeddingCacheError`."""
        by_id = {_id(key): key for key in keys}
        statement = "SELECT * FROM vectors WHERE id IN (SELECT value FROM json_each(?))"
        found: dict[bytes, CachedVector] = {}
        with self._transaction(SQLiteFile.reading) as connection:
            for id, rest, *row in connection.execute(statement, (json.dumps(sorted(by_id)),)):
                if rest == by_id[id][8:]:
                    found[by_id[id]] = CachedVector(*row)
        if _are_vectors(found.values()):
            return found
        return {key: each for key, each in found.items() if _are_vectors([each])}

    def put(self, vectors: Mapping[bytes, CachedVector]) -> None:
        """Stores vectors by key; blocks. Raises `EmbeddingCacheError`."""
        rows = [(_id(key), key[8:], *each) for key, each in vectors.items()]
        with self._transaction(SQLiteFile.writing) as connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._make_room(connection)

    def clear(self) -> None:
        """Removes all vectors; blocks. Raises `EmbeddingCacheError`."""
        with self._transaction(SQLiteFile.writing) as connection:
            connection.execute("DELETE FROM vectors")

    def count(self) -> int:
        """Returns how many vectors are stored; blocks. Raises `EmbeddingCacheError`."""
        with self._transaction(SQLiteFile.reading) as connection:
            return connection.execute("SELECT count(*) FROM vectors").fetchone()[0]

    def close(self) -> None:
        """Closes the file; it is opened again when it is used."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def unless_failed(self, function: Callable[..., T], *arguments: object) -> tuple[T | None, str | None]:
        """Returns the result of one of the methods, and None; or None and what has failed. A file that failed is not
        used for some seconds. `function` is the method.
        """
        failed_at = self._failed_at
        if failed_at is not None and abs(time.monotonic() - failed_at) < _PAUSE_SECONDS:
            return None, f"{self.path} failed a moment ago"
        try:
            result = function(*arguments)
        except (EmbeddingCacheError, SchemaError) as error:
            self.close()
            if failed_at is None:
                _log.warning("the cache of embeddings does not work: %s", error.message)
            self._failed_at = time.monotonic()
            return None, error.message
        self._failed_at = None
        return result, None

    @contextmanager
    def _transaction(self, begin: Callable[[SQLiteFile], AbstractContextManager[Connection]]) -> Generator[Connection]:
        """A transaction in the file, which is opened again if another thread has closed it."""
        with ExitStack() as stack:
            while True:
                file = self._opened()
                try:
                    connection = stack.enter_context(begin(file))
                except EmbeddingCacheError:
                    if file is self._file:
                        raise
                else:
                    break
            yield connection

    def _opened(self) -> SQLiteFile:
        """Returns the file; one that was deleted is made again."""
        file = self._file
        if file is not None and file.is_replaced():
            file.close()
            file = None
        if file is None:
            try:
                make_private_folder(self.path.absolute().parent)
            except OSError as error:
                raise EmbeddingCacheError(f"{self.path} cannot be made: {error.strerror or error}.") from None
            file = self._file = SQLiteFile(self.path, _KIND)
        return file

    def _make_room(self, connection: Connection) -> None:
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
