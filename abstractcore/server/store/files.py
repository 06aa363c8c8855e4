"""`Files`: files that clients upload once, and name by their ids."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select

from .store import Store
from .tables import files

_FACTS = tuple(column for column in files.c if column.name not in ("owner", "content"))


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file without its content. `size` is in bytes, times are in seconds since the epoch."""

    id: str
    name: str
    purpose: str
    media_type: str
    size: int
    created: float
    expires: float


class Files:
    """Keeps files until they expire. Each belongs to an owner, and no other one sees it.

    Every method raises `StoreUnavailable`. `now` returns seconds since the epoch.
    """

    def __init__(self, store: Store, seconds: float, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._seconds = seconds
        self._now = now

    def add(
        self,
        owner: str,
        id: str,
        content: bytes,
        *,
        name: str,
        purpose: str,
        media_type: str,
        most: int,
        seconds: float | None = None,
    ) -> StoredFile | None:
        """Keeps a file for `seconds`, and removes those that have expired.

        Returns None if the owner's files would have more than `most` bytes with it.
        """
        now = self._now()
        expires = now + min(self._seconds if seconds is None else seconds, self._seconds)
        stored = StoredFile(id, name, purpose, media_type, len(content), now, expires)
        facts: dict[str, Any] = {column.name: getattr(stored, column.name) for column in _FACTS}
        with self._store.writing() as connection:
            connection.execute(delete(files).where(files.c.expires <= now))
            used = select(func.coalesce(func.sum(files.c.size), 0)).where(files.c.owner == owner)
            if connection.execute(used).scalar_one() + len(content) > most:
                return None
            connection.execute(insert(files).values(owner=owner, content=content, **facts))
        return stored

    def find(self, owner: str, id: str) -> StoredFile | None:
        """Returns a file; None if the owner has none with this id."""
        with self._store.reading() as connection:
            row = connection.execute(select(*_FACTS).where(self._is(owner, id))).first()
        return None if row is None else StoredFile(*row)

    def with_content(self, owner: str, ids: Collection[str]) -> dict[str, tuple[StoredFile, bytes]]:
        """Returns files with their content, by their ids; those that the owner has not are left out."""
        lasting = (files.c.owner == owner) & files.c.id.in_(ids) & (files.c.expires > self._now())
        with self._store.reading() as connection:
            rows: Any = connection.execute(select(files.c.content, *_FACTS).where(lasting)).all()
        found = [(StoredFile(*facts), content) for content, *facts in rows]
        return {file.id: (file, content) for file, content in found}

    def all(self, owner: str) -> list[StoredFile]:
        """Returns the files of an owner, the oldest first."""
        lasting = (files.c.owner == owner) & (files.c.expires > self._now())
        with self._store.reading() as connection:
            rows = connection.execute(select(*_FACTS).where(lasting).order_by(files.c.created, files.c.id))
            return [StoredFile(*row) for row in rows]

    def delete(self, owner: str, id: str) -> bool:
        """Removes a file; returns whether there was one."""
        with self._store.writing() as connection:
            return connection.execute(delete(files).where(self._is(owner, id))).rowcount > 0

    def _is(self, owner: str, id: str) -> ColumnElement[bool]:
        return (files.c.owner == owner) & (files.c.id == id) & (files.c.expires > self._now())
