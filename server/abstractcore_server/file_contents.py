"""The contents of stored files, written and read in pieces: neither needs memory for a whole file."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from abstractcore.errors import InvalidInputError, NotFoundError, RateLimitError

from .exchange import Exchange
from .failures import RequestRefused, refused
from .items import new_id

if TYPE_CHECKING:
    from .store.files import StoredFile
    from .store.room import Limit, Room
    from .store.uploads import StoredUpload
    from .stored_state import StoredTables

T = TypeVar("T")


async def create_upload(
    exchange: Exchange, *, name: str, purpose: str, media_type: str, size: int, seconds: float | None
) -> StoredUpload:
    """Makes an upload, whose file will last for `seconds`; raises `RequestRefused` if there is no room for it."""
    owner, id = exchange.grant.owner, new_id("upload_")
    facts: dict[str, Any] = {"name": name, "purpose": purpose, "media_type": media_type, "size": size}
    return await _within_limits(
        exchange, lambda tables, room: tables.uploads.create(owner, id, room=room, seconds=seconds, **facts)
    )


async def write_part(exchange: Exchange, upload: str, content: bytearray) -> str:
    """Writes a part of an upload; returns its id. What cannot be written whole is dropped.

    Raises `InvalidInputError` for an empty part, `RequestRefused` if there is no room for it, and as `Uploads` does.
    """
    from .store.uploads import PIECE_BYTES

    stored, owner = exchange.state.stored, exchange.grant.owner
    if not content:
        raise InvalidInputError("the part is empty", path="data")
    part, size = new_id("part_"), len(content)
    await _within_limits(exchange, lambda tables, room: tables.uploads.begin_part(owner, upload, part, size, room))
    try:
        for position, start in enumerate(range(0, size, PIECE_BYTES)):
            piece = bytes(memoryview(content)[start : start + PIECE_BYTES])
            if not await stored.run(
                lambda tables, position=position, piece=piece: tables.uploads.write_piece(part, position, piece)
            ):
                break  # the upload has ended meanwhile, as the next line reports
        await stored.run(lambda tables: tables.uploads.end_part(owner, upload, part))
    except Exception:
        with suppress(RequestRefused):  # of a database that is down: the part goes with the upload
            await stored.run(lambda tables: tables.uploads.drop_part(part))
        raise
    return part


async def complete_upload(exchange: Exchange, upload: str, parts: Sequence[str], media_type: str) -> StoredFile:
    """Makes a file of the parts of an upload; raises `RequestRefused` for one too many, and as `Uploads` does."""
    owner, id = exchange.grant.owner, new_id("file-")
    return await _within_limits(
        exchange, lambda tables, room: tables.uploads.complete(owner, upload, parts, id, media_type, room)
    )


async def free_pieces(exchange: Exchange) -> None:
    """Removes the contents that are not needed any more, in short transactions: others write in between."""
    with suppress(RequestRefused):  # of a database that is down: the next pieces take their place
        while await exchange.state.stored.run(lambda tables: tables.uploads.free()):
            pass


async def pieces_of_file(exchange: Exchange, id: str) -> AsyncGenerator[bytes]:
    """Yields the content of a file; less than its size if the file is deleted meanwhile."""
    owner = exchange.grant.owner
    content, parts = await exchange.state.stored.run(lambda tables: tables.files.content(owner, id))
    if content:
        yield content
    async for piece in pieces_of_parts(exchange, parts):
        yield piece


async def pieces_of_parts(exchange: Exchange, parts: list[str]) -> AsyncGenerator[bytes]:
    """Yields the content of parts, one after the other."""
    for part in parts:
        position = 0
        while piece := await exchange.state.stored.run(
            lambda tables, part=part, position=position: tables.files.piece(part, position)
        ):
            yield piece
            position += 1


def unknown_file(id: str) -> NotFoundError:
    """Returns the error for a file that the client does not have, or no longer has."""
    return NotFoundError(f"there is no file {id[:100]!r} here: it was not uploaded, has expired, or was deleted")


async def _within_limits(exchange: Exchange, work: Callable[[StoredTables, Room], T]) -> T:
    """Returns what `work` does with the tables; raises `RequestRefused` for what the client has no room for."""
    from .store.room import NoRoom, Room

    limits = exchange.state.settings.limits
    room = Room(limits.stored_bytes, limits.stored_files, limits.uploads)
    try:
        return await exchange.state.stored.run(lambda tables: work(tables, room))
    except NoRoom as error:
        raise _no_room(error.limit, room) from None


def _no_room(limit: Limit, room: Room) -> RequestRefused:
    if limit == "bytes":
        message = f"the files of one key may have {room.bytes} bytes together, with pending uploads: delete some first"
        return refused(413, message)
    if limit == "files":
        return refused(400, f"a key may have {room.files} files: delete some first")
    message = f"a key may have {room.uploads} uploads that are not completed: complete some, others expire in an hour"
    return RequestRefused(429, RateLimitError(message), x_should_retry="false")
