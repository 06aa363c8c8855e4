"""`/v1/uploads` (https://platform.openai.com/docs/api-reference/uploads): files that are uploaded in parts."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import WireResponse

from .dialects.base import text_at
from .exchange import Exchange
from .failures import refused
from .file_contents import complete_upload, create_upload, free_pieces, pieces_of_parts, write_part
from .uploaded_files import checked_name, checked_purpose, checked_seconds, media_type_of, shown_file

if TYPE_CHECKING:
    from .store.files import StoredFile
    from .store.uploads import StoredUpload

_MOST_BYTES: Final = 8 * 1024**3
"""The largest upload, as OpenAI's."""
_LONGEST_MEDIA_TYPE: Final = 200
_MD5: Final = re.compile(r"[0-9a-fA-F]{32}")
_FIELDS: Final = frozenset({"bytes", "filename", "mime_type", "purpose", "expires_after"})
_FIELDS_OF_COMPLETION: Final = frozenset({"part_ids", "md5"})


async def create(exchange: Exchange) -> WireResponse:
    """Creates an upload, to which parts are added."""
    data = await _object(exchange, _FIELDS)
    name, purpose = checked_name(text_at(data, "filename"), "filename"), checked_purpose(data.get("purpose"))
    size, media_type, seconds = _size(data), _media_type(data), _seconds(data)
    made = await create_upload(exchange, name=name, purpose=purpose, media_type=media_type, size=size, seconds=seconds)
    return exchange.answer(_shown(made, "pending"))


async def add_part(exchange: Exchange) -> WireResponse:
    """Adds a part to an upload."""
    form = await exchange.form()
    id = exchange.request.parameters["id"]
    part = await write_part(exchange, id, form.upload("data").content)
    shown = {"id": part, "object": "upload.part", "created_at": int(exchange.time), "upload_id": id}
    return exchange.answer(shown, warnings=len(form.others(("data",))))


async def complete(exchange: Exchange) -> WireResponse:
    """Makes a file of the parts of an upload."""
    data = await _object(exchange, _FIELDS_OF_COMPLETION)
    parts, expected = _part_ids(data), _md5(data)
    owner, id = exchange.grant.owner, exchange.request.parameters["id"]
    upload = await exchange.state.stored.run(lambda tables: tables.uploads.check(owner, id, parts))

    head, digest = b"", hashlib.md5(usedforsecurity=False)
    async for piece in pieces_of_parts(exchange, parts):
        head = head or piece
        if expected is None:
            break
        await asyncio.to_thread(digest.update, piece)
    if expected is not None and digest.hexdigest() != expected:
        raise InvalidInputError(f"the content has the MD5 {digest.hexdigest()}", path="md5")

    media_type = media_type_of(exchange, upload.name, head, upload.media_type)
    file = await complete_upload(exchange, id, parts, media_type)
    return exchange.answer(_shown(upload, "completed", file))


async def cancel(exchange: Exchange) -> WireResponse:
    """Cancels an upload and deletes its parts."""
    owner, id = exchange.grant.owner, exchange.request.parameters["id"]
    cancelled = await exchange.state.stored.run(lambda tables: tables.uploads.cancel(owner, id))
    await free_pieces(exchange)
    return exchange.answer(_shown(cancelled, "cancelled"))


async def _object(exchange: Exchange, known: frozenset[str]) -> Mapping[str, Any]:
    """Returns the body; raises `InvalidInputError` for fields that OpenAI's API does not have."""
    data = await exchange.read_object()
    for name in data.keys() - known:
        raise InvalidInputError(f"there is no such field: use {', '.join(sorted(known))}", path=name[:100])
    return data


def _media_type(data: Mapping[str, Any]) -> str:
    media_type = text_at(data, "mime_type")
    if len(media_type) > _LONGEST_MEDIA_TYPE or not media_type.isprintable():
        raise InvalidInputError(f"expected a media type of up to {_LONGEST_MEDIA_TYPE} characters", path="mime_type")
    return media_type


def _size(data: Mapping[str, Any]) -> int:
    size = data.get("bytes")
    if type(size) is not int or size < 0:
        raise InvalidInputError("expected the number of bytes of the file", path="bytes")
    if size > _MOST_BYTES:
        raise refused(413, f"an upload may have {_MOST_BYTES} bytes", path="bytes")
    return size


def _seconds(data: Mapping[str, Any]) -> float | None:
    given = data.get("expires_after")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise InvalidInputError("expected an object with anchor and seconds", path="expires_after")
    expiry = cast("dict[str, Any]", given)
    return checked_seconds(expiry.get("anchor"), expiry.get("seconds"))


def _part_ids(data: Mapping[str, Any]) -> list[str]:
    given = data.get("part_ids")
    if not isinstance(given, list) or not all(isinstance(part, str) for part in cast("list[object]", given)):
        raise InvalidInputError("expected a list of the ids of parts", path="part_ids")
    return cast("list[str]", given)


def _md5(data: Mapping[str, Any]) -> str | None:
    given = data.get("md5")
    if given is None:
        return None
    if not (isinstance(given, str) and _MD5.fullmatch(given)):
        raise InvalidInputError("expected 32 hexadecimal digits", path="md5")
    return given.lower()


def _shown(upload: StoredUpload, status: str, file: StoredFile | None = None) -> Mapping[str, Any]:
    return {
        "id": upload.id,
        "object": "upload",
        "bytes": upload.size,
        "created_at": int(upload.created),
        "expires_at": int(upload.expires),
        "filename": upload.name,
        "purpose": upload.purpose,
        "status": status,
        "file": None if file is None else shown_file(file),
    }
