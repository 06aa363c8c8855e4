"""`Files`: files that clients have uploaded, whole or in parts, and name by their ids."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from abstractcore.database import lock, reads, writes

from .room import NoRoom, Room
from .tables import Store, files, upload_parts, upload_pieces, uploads

_FACTS = tuple(column for column in files.c if column.name not in ("owner", "content"))
_MOST_PARAMETERS = 10_000
"""How many values one statement has: PostgreSQL takes 65,535, SQLite 32,766 or what it was built for."""


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
    """Reads and deletes files, which last until they expire. Each belongs to an owner, and no other one sees it.

    Every method raises `DatabaseError`. `now` returns seconds since the epoch.
    """

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self.database = store
        self._now = now

    @reads
    def find(self, connection: Connection, owner: str, id: str) -> StoredFile | None:
        """Returns a file; None if the owner has none with this id."""
        row = connection.execute(select(*_FACTS).where(self._is(owner, id))).first()
        return None if row is None else StoredFile(*row)

    @reads
    def find_all(self, connection: Connection, owner: str, ids: Collection[str]) -> dict[str, StoredFile]:
        """Returns files by their ids; those that the owner has not are left out."""
        named, found = [*ids], list[StoredFile]()
        lasting = (files.c.owner == owner) & (files.c.expires > self._now())
        for start in range(0, len(named), _MOST_PARAMETERS):
            some = files.c.id.in_(named[start : start + _MOST_PARAMETERS])
            found += (StoredFile(*row) for row in connection.execute(select(*_FACTS).where(lasting, some)))
        return {file.id: file for file in found}

    @reads
    def content(self, connection: Connection, owner: str, id: str) -> tuple[bytes, list[str]]:
        """Returns the content of a file of an earlier version, and of others the parts that have it, in their order;
        nothing if there is no file.
        """
        of_file = (uploads.c.owner == owner) & (uploads.c.file == id)
        content = connection.execute(select(files.c.content).where(self._is(owner, id))).scalar()
        parts = connection.execute(select(uploads.c.parts).where(of_file)).scalar()
        return content or b"", parts or []

    @reads
    def piece(self, connection: Connection, part: str, position: int) -> bytes | None:
        """Returns a piece of a part; None after the last one, and if the part is not there any more."""
        named = (upload_pieces.c.part == part) & (upload_pieces.c.position == position)
        return connection.execute(select(upload_pieces.c.content).where(named)).scalar()

    @reads
    def all(self, connection: Connection, owner: str) -> list[StoredFile]:
        """Returns the files of an owner, the oldest first."""
        lasting = (files.c.owner == owner) & (files.c.expires > self._now())
        rows = connection.execute(select(*_FACTS).where(lasting).order_by(files.c.created, files.c.id))
        return [StoredFile(*row) for row in rows]

    @writes
    def delete(self, connection: Connection, owner: str, id: str) -> bool:
        """Removes a file; returns whether there was one."""
        return connection.execute(delete(files).where(self._is(owner, id))).rowcount > 0

    def _is(self, owner: str, id: str) -> ColumnElement[bool]:
        return (files.c.owner == owner) & (files.c.id == id) & (files.c.expires > self._now())


def begin(connection: Connection, owner: str, now: float) -> None:
    """Begins a transaction that changes what an owner has: others of the same owner wait, and what has expired, of all
    owners, is removed.
    """
    lock(connection, owner)
    connection.execute(delete(files).where(files.c.expires <= now))
    connection.execute(delete(uploads).where(uploads.c.expires <= now, uploads.c.file.is_(None)))


def check_bytes(connection: Connection, owner: str, size: int, room: Room) -> None:
    """Raises `NoRoom` if an owner has no room for `size` more bytes, beside files and the parts of uploads that are not
    completed.
    """
    kept = select(func.coalesce(func.sum(files.c.size), 0)).where(files.c.owner == owner)
    pending = select(func.coalesce(func.sum(upload_parts.c.size), 0)).join(uploads)
    pending = pending.where(uploads.c.owner == owner, uploads.c.file.is_(None))
    if connection.execute(kept).scalar_one() + connection.execute(pending).scalar_one() + size > room.bytes:
        raise NoRoom("bytes")


def check_files(connection: Connection, owner: str, room: Room) -> None:
    """Raises `NoRoom` for one more file than an owner may have: also empty ones have rows."""
    counted = select(func.count()).select_from(files).where(files.c.owner == owner)
    if connection.execute(counted).scalar_one() >= room.files:
        raise NoRoom("files")


def insert_file(connection: Connection, owner: str, file: StoredFile) -> None:
    """Writes the row of a file, whose content is in the parts of its upload."""
    facts: dict[str, Any] = {column.name: getattr(file, column.name) for column in _FACTS}
    connection.execute(insert(files).values(owner=owner, content=b"", **facts))
