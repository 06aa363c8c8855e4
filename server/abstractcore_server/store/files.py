"""`Files`: files that clients have uploaded, whole or in parts, and name by their ids; and the `Quota` of an owner."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from abstractcore.database import lock, reads, writes

from .tables import Store, files, upload_parts, upload_pieces, uploads

_FACTS = tuple(column for column in files.c if column.name not in ("owner", "content"))
_MOST_PARAMETERS = 10_000
"""How many values one statement has: PostgreSQL takes 65,535, SQLite 32,766 or what it was built for."""
Limit: TypeAlias = Literal["bytes", "files", "uploads"]


@dataclass(frozen=True, slots=True)
class Quota:
    """The limits of one owner: of the bytes of files and of parts of uploads together, of files, and of uploads that
    are not completed.
    """

    bytes: int
    files: int
    uploads: int


class QuotaExceeded(Exception):  # noqa: N818 - what the owner has is not wrong
    """An owner would have more than one limit, `limit`, allows."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit)
        self.limit: Limit = limit


@dataclass(frozen=True, slots=True)
class ClientFile:
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
    def find(self, connection: Connection, owner: str, id: str) -> ClientFile | None:
        """Returns a file; None if the owner has none with this id."""
        row = connection.execute(select(*_FACTS).where(self._is(owner, id))).first()
        return None if row is None else ClientFile(*row)

    @reads
    def find_all(self, connection: Connection, owner: str, ids: Collection[str]) -> dict[str, ClientFile]:
        """Returns files by their ids; those that the owner has not are left out."""
        named, found = [*ids], list[ClientFile]()
        lasting = (files.c.owner == owner) & (files.c.expires > self._now())
        for start in range(0, len(named), _MOST_PARAMETERS):
            some = files.c.id.in_(named[start : start + _MOST_PARAMETERS])
            found += (ClientFile(*row) for row in connection.execute(select(*_FACTS).where(lasting, some)))
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
    def all(self, connection: Connection, owner: str) -> list[ClientFile]:
        """Returns the files of an owner, the oldest first."""
        lasting = (files.c.owner == owner) & (files.c.expires > self._now())
        rows = connection.execute(select(*_FACTS).where(lasting).order_by(files.c.created, files.c.id))
        return [ClientFile(*row) for row in rows]

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


def check_bytes(connection: Connection, owner: str, size: int, quota: Quota) -> None:
    """Raises `QuotaExceeded` if an owner has no room for `size` more bytes, beside files and the parts of uploads
    that are not completed.
    """
    kept = select(func.coalesce(func.sum(files.c.size), 0)).where(files.c.owner == owner)
    pending = select(func.coalesce(func.sum(upload_parts.c.size), 0)).join(uploads)
    pending = pending.where(uploads.c.owner == owner, uploads.c.file.is_(None))
    if connection.execute(kept).scalar_one() + connection.execute(pending).scalar_one() + size > quota.bytes:
        raise QuotaExceeded("bytes")


def check_files(connection: Connection, owner: str, quota: Quota) -> None:
    """Raises `QuotaExceeded` for one more file than an owner may have: also empty ones have rows."""
    counted = select(func.count()).select_from(files).where(files.c.owner == owner)
    if connection.execute(counted).scalar_one() >= quota.files:
        raise QuotaExceeded("files")


def insert_file(connection: Connection, owner: str, file: ClientFile) -> None:
    """Writes the row of a file, whose content is in the parts of its upload."""
    facts: dict[str, Any] = {column.name: getattr(file, column.name) for column in _FACTS}
    connection.execute(insert(files).values(owner=owner, content=b"", **facts))
