"""`Files`: files that clients have uploaded and name by their ids; `Uploads`: files that they upload in parts, each
written in pieces; and the `Quota` of an owner.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import ColumnElement, Connection, Update, delete, func, insert, select, update

from abstractcore.database import lock, reads, writes
from abstractcore.errors import InvalidInputError, NotFoundError

from .tables import ExpiringRows, Store, files, upload_parts, upload_pieces, uploads

_FILE_FACTS = tuple(column for column in files.c if column.name not in ("owner", "content"))
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
        row = connection.execute(select(*_FILE_FACTS).where(self._is(owner, id))).first()
        return None if row is None else ClientFile(*row)

    @reads
    def find_all(self, connection: Connection, owner: str, ids: Collection[str]) -> dict[str, ClientFile]:
        """Returns files by their ids; those that the owner has not are left out."""
        named, found = [*ids], list[ClientFile]()
        lasting = (files.c.owner == owner) & (files.c.expires > self._now())
        for start in range(0, len(named), _MOST_PARAMETERS):
            some = files.c.id.in_(named[start : start + _MOST_PARAMETERS])
            found += (ClientFile(*row) for row in connection.execute(select(*_FILE_FACTS).where(lasting, some)))
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
        rows = connection.execute(select(*_FILE_FACTS).where(lasting).order_by(files.c.created, files.c.id))
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
    facts: dict[str, Any] = {column.name: getattr(file, column.name) for column in _FILE_FACTS}
    connection.execute(insert(files).values(owner=owner, content=b"", **facts))


PIECE_BYTES: Final = 1024 * 1024
"""The size of a piece. PostgreSQL's driver needs 12 times of it, and a transaction keeps others waiting for as long."""
MOST_PARTS: Final = 10_000
"""How many parts an upload may have."""
_FREED_BY_WRITE: Final = 2
_FREED_AT_ONCE: Final = 8
_SECONDS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class StoredUpload:
    """An upload without its parts. `size` is the number of bytes that the file is to have, `media_type` what the client
    calls it. Times are in seconds since the epoch.
    """

    id: str
    name: str
    purpose: str
    media_type: str
    size: int
    created: float
    expires: float
    file_seconds: float | None
    """How long the file is to last; None for as long as others."""


_UPLOAD_FACTS: Final = tuple(
    column for column in uploads.c if column.name not in ("owner", "cancelled", "file", "parts")
)


class Uploads(ExpiringRows):
    """Keeps uploads for an hour, and at most for `seconds`; a completed one is a file. Each belongs to an owner, and no
    other one sees it.

    Every method raises `DatabaseError`; those that change an upload raise `NotFoundError` if there is none, and
    `InvalidInputError` if it is not pending any more.
    """

    @writes
    def create(
        self,
        connection: Connection,
        owner: str,
        id: str,
        *,
        name: str,
        purpose: str,
        media_type: str,
        size: int,
        quota: Quota,
        seconds: float | None = None,
    ) -> StoredUpload:
        """Makes an upload. Its file will last for `seconds`.

        Raises `QuotaExceeded` if the owner has no room for it and its file; it reserves no bytes.
        """
        now = self._now()
        made = StoredUpload(id, name, purpose, media_type, size, now, now + min(_SECONDS, self._seconds), seconds)
        facts: dict[str, Any] = {column.name: getattr(made, column.name) for column in _UPLOAD_FACTS}
        begin(connection, owner, now)
        check_bytes(connection, owner, size, quota)
        check_files(connection, owner, quota)
        _check_uploads(connection, owner, quota)
        connection.execute(insert(uploads).values(owner=owner, cancelled=False, **facts))
        return made

    @writes
    def begin_part(self, connection: Connection, owner: str, id: str, part: str, size: int, quota: Quota) -> None:
        """Begins a part of `size` bytes, of which the pieces come next; raises `QuotaExceeded` if it is too much."""
        self._pending(connection, owner, id)
        if len(_part_ids(connection, id)) >= MOST_PARTS:
            raise InvalidInputError(f"the upload {id} has {MOST_PARTS} parts, which is the most: send larger ones")
        check_bytes(connection, owner, size, quota)
        connection.execute(insert(upload_parts).values(id=part, upload=id, size=size, whole=False))

    @writes
    def write_piece(self, connection: Connection, part: str, position: int, content: bytes) -> bool:
        """Writes a piece of a part that was begun; returns False if the part is not needed any more.

        It takes the place of pieces that are not needed any more.
        """
        _free(connection, _FREED_BY_WRITE)
        needed = select(upload_parts.c.id).where(upload_parts.c.id == part, upload_parts.c.upload.is_not(None))
        if connection.execute(needed.with_for_update()).first() is None:
            return False
        connection.execute(insert(upload_pieces).values(part=part, position=position, content=content))
        return True

    @writes
    def free(self, connection: Connection) -> bool:
        """Removes some pieces that are not needed any more; returns whether there may be others."""
        return _free(connection, _FREED_AT_ONCE)

    @writes
    def end_part(self, connection: Connection, owner: str, id: str, part: str) -> None:
        """Lets a part count as a part of the upload: all its pieces are written."""
        self._pending(connection, owner, id)
        connection.execute(update(upload_parts).where(upload_parts.c.id == part).values(whole=True))

    @writes
    def drop_part(self, connection: Connection, part: str) -> None:
        """Takes a part that could not be written from its upload."""
        connection.execute(_drop_statement(upload_parts.c.id == part))

    @writes
    def check(self, connection: Connection, owner: str, id: str, parts: Sequence[str]) -> StoredUpload:
        """Returns the upload, which the parts, in this order, complete; raises `InvalidInputError` if they do not."""
        return self._check_parts(connection, owner, id, parts)

    @writes
    def complete(
        self,
        connection: Connection,
        owner: str,
        id: str,
        parts: Sequence[str],
        file: str,
        media_type: str,
        quota: Quota,
    ) -> ClientFile:
        """Makes the parts, in this order, the content of a file; raises `InvalidInputError` if they do not complete the
        upload, and `QuotaExceeded` for a file too many. Its other parts are dropped.
        """
        now = self._now()
        upload = self._check_parts(connection, owner, id, parts)
        check_files(connection, owner, quota)
        seconds = self._seconds if upload.file_seconds is None else min(upload.file_seconds, self._seconds)
        made = ClientFile(file, upload.name, upload.purpose, media_type, upload.size, now, now + seconds)
        insert_file(connection, owner, made)
        completed = update(uploads).where(uploads.c.id == id)
        connection.execute(completed.values(file=file, parts=list(parts)))
        connection.execute(_drop_statement(upload_parts.c.id.in_(_part_ids(connection, id) - {*parts})))
        return made

    @writes
    def cancel(self, connection: Connection, owner: str, id: str) -> StoredUpload:
        """Cancels an upload, whose parts are not needed any more."""
        upload = self._pending(connection, owner, id)
        connection.execute(update(uploads).where(uploads.c.id == id).values(cancelled=True))
        connection.execute(_drop_statement(upload_parts.c.upload == id))
        return upload

    def _pending(self, connection: Connection, owner: str, id: str) -> StoredUpload:
        """Returns an upload that may be changed until the end of the transaction."""
        begin(connection, owner, self._now())
        asked = (uploads.c.owner == owner) & (uploads.c.id == id)
        row: Any = connection.execute(select(uploads).where(asked)).first()
        if row is None:
            raise NotFoundError(f"there is no upload {id[:100]!r} here: it was not created, or has expired")
        if row.file is not None:
            raise InvalidInputError(f"the upload {id} is completed: its file is {row.file}")
        if row.cancelled:
            raise InvalidInputError(f"the upload {id} was cancelled")
        return StoredUpload(*(getattr(row, column.name) for column in _UPLOAD_FACTS))

    def _check_parts(self, connection: Connection, owner: str, id: str, parts: Sequence[str]) -> StoredUpload:
        upload = self._pending(connection, owner, id)
        whole = select(upload_parts.c.id, upload_parts.c.size).where(upload_parts.c.upload == id, upload_parts.c.whole)
        sizes: dict[str, int] = dict(connection.execute(whole).all())
        total = 0
        for index, part in enumerate(parts):
            size = sizes.pop(part, None)
            if size is None:
                named = "is named twice" if part in parts[:index] else f"is not a part of the upload {id}"
                raise InvalidInputError(f"{part[:100]!r} {named}", path=f"part_ids[{index}]")
            total += size
        if total != upload.size:
            message = f"the parts have {total} bytes together, but the upload was created for {upload.size}"
            raise InvalidInputError(message, path="part_ids")
        return upload


def _check_uploads(connection: Connection, owner: str, quota: Quota) -> None:
    """Raises `QuotaExceeded` for one more upload than an owner may have. Cancelled ones count until they expire: their
    rows stay.
    """
    counted = select(func.count()).where(uploads.c.owner == owner, uploads.c.file.is_(None))
    if connection.execute(counted).scalar_one() >= quota.uploads:
        raise QuotaExceeded("uploads")


def _drop_statement(which: ColumnElement[bool]) -> Update:
    return update(upload_parts).where(which).values(upload=None)


def _free(connection: Connection, count: int) -> bool:
    """Removes up to `count` pieces of a part that no upload has, or the part after its pieces; returns whether there
    was one.
    """
    unused = select(upload_parts.c.id).where(upload_parts.c.upload.is_(None)).limit(1)
    part = connection.execute(unused.with_for_update(skip_locked=True)).scalar()
    if part is None:
        return False
    of_part = upload_pieces.c.part == part
    pieces = select(upload_pieces.c.position).where(of_part).order_by(upload_pieces.c.position).limit(count)
    positions = list(connection.execute(pieces).scalars())
    if positions:
        connection.execute(delete(upload_pieces).where(of_part, upload_pieces.c.position.in_(positions)))
    else:
        connection.execute(delete(upload_parts).where(upload_parts.c.id == part))
    return True


def _part_ids(connection: Connection, id: str) -> set[str]:
    """Returns the ids of all parts of an upload, also of those that are being written."""
    return {*connection.execute(select(upload_parts.c.id).where(upload_parts.c.upload == id)).scalars()}
