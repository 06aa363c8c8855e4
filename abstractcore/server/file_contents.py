"""The contents of stored files, written and read in pieces: neither needs memory for a whole file."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..errors import InvalidInputError, NotFoundError
from .exchange import Exchange
from .failures import RequestRefused, refused
from .items import new_id

if TYPE_CHECKING:
    from .store.files import StoredFile
    from .store.uploads import StoredUpload


async def create_upload(
    exchange: Exchange, *, name: str, purpose: str, media_type: str, size: int, seconds: float | None
) -> StoredUpload:
    """Makes an upload, whose file will last for `seconds`; raises `RequestRefused` if there is no room for it."""
    owner, most = exchange.grant.owner, exchange.state.settings.limits.stored_bytes
    made = await exchange.state.stored.run(
        lambda tables: tables.uploads.create(
            owner,
            new_id("upload_"),
            name=name,
            purpose=purpose,
            media_type=media_type,
            size=size,
            most=most,
            seconds=seconds,
        )
    )
    if made is None:
        raise _too_much(most)
    return made


async def write_part(exchange: Exchange, upload: str, content: bytearray) -> str:
    """Writes a part of an upload; returns its id. What cannot be written whole is dropped.

    Raises `InvalidInputError` for an empty part, `RequestRefused` if there is no room for it, and as `Uploads` does.
    """
    from .store.uploads import PIECE_BYTES

    stored, owner, most = exchange.state.stored, exchange.grant.owner, exchange.state.settings.limits.stored_bytes
    if not content:
        raise InvalidInputError("the part is empty", path="data")
    part, size = new_id("part_"), len(content)
    if not await stored.run(lambda tables: tables.uploads.begin_part(owner, upload, part, size, most)):
        raise _too_much(most)
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
    """Makes a file of the parts of an upload; raises as `Uploads` does."""
    owner, id = exchange.grant.owner, new_id("file-")
    return await exchange.state.stored.run(lambda tables: tables.uploads.complete(owner, upload, parts, id, media_type))


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
    """Returns the error for a file that the client has not, or not any more."""
    return NotFoundError(f"there is no file {id[:100]!r} here: it was not uploaded, has expired, or was deleted")


def _too_much(most: int) -> RequestRefused:
    return refused(413, f"the files of one key may have {most} bytes together, with pending uploads: delete some first")
