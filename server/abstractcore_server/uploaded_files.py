"""`/v1/files` (https://platform.openai.com/docs/api-reference/files)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from abstractcore import File
from abstractcore.errors import InvalidInputError, MediaError
from abstractcore.schema import WireResponse

from .connection import Connection
from .exchange import Exchange, Reply
from .file_contents import complete_upload, create_upload, free_pieces, pieces_of_file, unknown_file, write_part
from .items import page
from .multipart import Form

if TYPE_CHECKING:
    from .store.files import StoredFile

_PURPOSES: Final = ("assistants", "batch", "evals", "fine-tune", "user_data", "vision")
_FIELDS: Final = ("file", "purpose", "expires_after[anchor]", "expires_after[seconds]")
_SECONDS: Final = (3600, 2_592_000)
_UNKNOWN_TYPE: Final = "application/octet-stream"
_LONGEST_NAME: Final = 255
_CONTROL_CHARACTERS: Final = re.compile(r"[\x00-\x1f\x7f]")
_HEAD_BYTES: Final = 8192
"""How much of a content decides its type."""


async def create(exchange: Exchange) -> WireResponse:
    """Stores a file; raises `InvalidInputError` for an unknown purpose, and `RequestRefused` for too much."""
    form = await exchange.form()
    upload, purpose = form.upload("file"), checked_purpose(form.text("purpose"))
    name = checked_name(upload.name, "file")
    media_type = media_type_of(exchange, name, bytes(upload.content[:_HEAD_BYTES]))
    size, seconds = len(upload.content), _seconds(form)
    made = await create_upload(exchange, name=name, purpose=purpose, media_type=media_type, size=size, seconds=seconds)
    parts = [await write_part(exchange, made.id, upload.content)] if size else []
    file = await complete_upload(exchange, made.id, parts, media_type)
    return exchange.answer(shown_file(file), warnings=len(form.others(_FIELDS)))


async def list_all(exchange: Exchange) -> WireResponse:
    """Lists the files of the client."""
    owner, purpose = exchange.grant.owner, exchange.request.query_values().get("purpose")
    found = await exchange.state.stored.run(lambda tables: tables.files.all(owner))
    shown = [shown_file(file) for file in found if purpose in (None, file.purpose)]
    return exchange.answer(page(shown, exchange.request, most=10_000, usual=10_000))


async def read(exchange: Exchange) -> WireResponse:
    """Returns a file without its content."""
    return exchange.answer(shown_file(await _found(exchange)))


async def content(exchange: Exchange) -> Reply:
    """Returns the content of a file. No browser takes it for a page of this server."""
    return _Content(exchange, await _found(exchange))


class _Content:
    """The content of a file, which is sent as it is read."""

    def __init__(self, exchange: Exchange, file: StoredFile) -> None:
        self._exchange = exchange
        self._file = file

    async def send_to(self, connection: Connection) -> None:
        """Sends the content; raises `NotFoundError`, which cuts the response off, if the file is deleted meanwhile."""
        left = self._file.size
        connection.stream_head = self._exchange.headers(
            {
                "content-type": _UNKNOWN_TYPE,
                "content-length": str(left),
                "content-disposition": "attachment",
                "content-security-policy": "sandbox",
                "x-content-type-options": "nosniff",
            }
        )
        async with self._exchange.state.drains.watched(connection, "cancel"):
            async for piece in pieces_of_file(self._exchange, self._file.id):
                left -= len(piece)
                await connection.write(piece)
        if left:
            raise unknown_file(self._file.id)
        await connection.write(b"", more=False)


async def _found(exchange: Exchange) -> StoredFile:
    owner, id = exchange.grant.owner, exchange.request.parameters["id"]
    found = await exchange.state.stored.run(lambda tables: tables.files.find(owner, id))
    if found is None:
        raise unknown_file(id)
    return found


async def delete(exchange: Exchange) -> WireResponse:
    """Deletes a file."""
    owner, id = exchange.grant.owner, exchange.request.parameters["id"]
    if not await exchange.state.stored.run(lambda tables: tables.files.delete(owner, id)):
        raise unknown_file(id)
    await free_pieces(exchange)
    return exchange.answer({"id": id, "object": "file", "deleted": True})


def media_type_of(exchange: Exchange, name: str, content: bytes, declared: str | None = None) -> str:
    """Returns the type of a file by the begin of its content and by its name, if they say nothing the declared one."""
    services = exchange.state.services
    for file in (File(content, name=name), File(content, media_type=declared)):
        try:
            return services.media_type(file)
        except (MediaError, InvalidInputError):
            continue
    return _UNKNOWN_TYPE


def checked_purpose(purpose: object) -> str:
    """Returns the purpose of a file; raises `InvalidInputError` for an unknown one."""
    if isinstance(purpose, str) and purpose in _PURPOSES:
        return purpose
    raise InvalidInputError(f"expected one of {', '.join(_PURPOSES)}", path="purpose")


def checked_name(name: str, path: str) -> str:
    """Returns the name of a file without folders, and of a long one the end; raises `InvalidInputError`."""
    last = name.replace("\\", "/").rpartition("/")[2]
    if not last or _CONTROL_CHARACTERS.search(last):
        raise InvalidInputError("expected the name of a file, without control characters", path=path)
    return last[-_LONGEST_NAME:]


def checked_seconds(anchor: object, seconds: object) -> float:
    """Returns how long a file is to last, as `expires_after` says; raises `InvalidInputError`."""
    least, most = _SECONDS
    if type(seconds) is not int or not least <= seconds <= most:
        raise InvalidInputError(f"expected a number from {least} to {most}", path="expires_after.seconds")
    if anchor != "created_at":
        raise InvalidInputError("expected created_at", path="expires_after.anchor")
    return float(seconds)


def _seconds(form: Form) -> float | None:
    anchor, text = form.text("expires_after[anchor]"), form.text("expires_after[seconds]")
    if anchor is None and text is None:
        return None
    if text is None or not text.isdecimal() or len(text) > 9:
        return checked_seconds(anchor, text)
    return checked_seconds(anchor, int(text))


def shown_file(file: StoredFile) -> Mapping[str, Any]:
    """Returns a file as OpenAI's API shows it."""
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.size,
        "created_at": int(file.created),
        "expires_at": int(file.expires),
        "filename": file.name,
        "purpose": file.purpose,
        "status": "processed",
    }
