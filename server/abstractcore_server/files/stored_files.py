"""`/v1/files` and `/v1/uploads` (https://platform.openai.com/docs/api-reference/files)."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from abstractcore import File
from abstractcore.errors import InvalidInputError, MediaError, NotFoundError, RateLimitError
from abstractcore.schema import WireResponse

from ..context import Reply, RequestContext
from ..dialects.base import text_at
from ..failures import RequestRefused, refusal
from ..forms import MultipartForm
from ..requests import ClientConnection
from ..responses.items import new_id, page

if TYPE_CHECKING:
    from ..store.files import ClientFile, Limit, Quota, StoredUpload
    from ..stored_state import StoredTables

T = TypeVar("T")
_PURPOSES: Final = ("assistants", "batch", "evals", "fine-tune", "user_data", "vision")
_FIELDS: Final = ("file", "purpose", "expires_after[anchor]", "expires_after[seconds]")
_SECONDS: Final = (3600, 2_592_000)
_UNKNOWN_TYPE: Final = "application/octet-stream"
_LONGEST_NAME: Final = 255
_CONTROL_CHARACTERS: Final = re.compile(r"[\x00-\x1f\x7f]")
_HEAD_BYTES: Final = 8192
"""How much of a content decides its type."""


async def create(context: RequestContext) -> WireResponse:
    """Stores a file; raises `InvalidInputError` for an unknown purpose, and `RequestRefused` for too much."""
    form = await context.form()
    upload, purpose = form.upload("file"), _purpose(form.text("purpose"))
    name = _file_name(upload.name, "file")
    media_type = _type_of_content(context, name, bytes(upload.content[:_HEAD_BYTES]))
    size, seconds = len(upload.content), _form_seconds(form)
    made = await _create_upload(context, name=name, purpose=purpose, media_type=media_type, size=size, seconds=seconds)
    parts = [await _write_part(context, made.id, upload.content)] if size else []
    file = await _complete_upload(context, made.id, parts, media_type)
    return context.answer(_file_data(file), warnings=len(form.others(_FIELDS)))


async def list_all(context: RequestContext) -> WireResponse:
    """Lists the files of the client."""
    owner, purpose = context.grant.owner, context.request.query_values().get("purpose")
    found = await context.state.stored.run(lambda tables: tables.files.all(owner))
    shown = [_file_data(file) for file in found if purpose in (None, file.purpose)]
    return context.answer(page(shown, context.request, most=10_000, usual=10_000))


async def read(context: RequestContext) -> WireResponse:
    """Returns a file without its content."""
    return context.answer(_file_data(await _find(context)))


async def content(context: RequestContext) -> Reply:
    """Returns the content of a file. No browser takes it for a page of this server."""
    return _Content(context, await _find(context))


class _Content:
    """The content of a file, which is sent as it is read."""

    def __init__(self, context: RequestContext, file: ClientFile) -> None:
        self._context = context
        self._file = file

    async def send_to(self, connection: ClientConnection) -> None:
        """Sends the content; raises `NotFoundError`, which cuts the response off, if the file is deleted meanwhile."""
        left = self._file.size
        connection.stream_head = self._context.headers(
            {
                "content-type": _UNKNOWN_TYPE,
                "content-length": str(left),
                "content-disposition": "attachment",
                "content-security-policy": "sandbox",
                "x-content-type-options": "nosniff",
            }
        )
        async with self._context.state.drains.watch(connection, "cancel"):
            async for piece in pieces_of_file(self._context, self._file.id):
                left -= len(piece)
                await connection.write(piece)
        if left:
            raise unknown_file(self._file.id)
        await connection.write(b"", more=False)


async def _find(context: RequestContext) -> ClientFile:
    owner, id = context.grant.owner, context.request.parameters["id"]
    found = await context.state.stored.run(lambda tables: tables.files.find(owner, id))
    if found is None:
        raise unknown_file(id)
    return found


async def delete(context: RequestContext) -> WireResponse:
    """Deletes a file."""
    owner, id = context.grant.owner, context.request.parameters["id"]
    if not await context.state.stored.run(lambda tables: tables.files.delete(owner, id)):
        raise unknown_file(id)
    await _free_pieces(context)
    return context.answer({"id": id, "object": "file", "deleted": True})


def _type_of_content(context: RequestContext, name: str, content: bytes, declared: str | None = None) -> str:
    """Returns the type of a file by the begin of its content and by its name; without either, the declared one."""
    services = context.state.services
    for file in (File(content, name=name), File(content, media_type=declared)):
        try:
            return services.media_type(file)
        except (MediaError, InvalidInputError):
            continue
    return _UNKNOWN_TYPE


def _purpose(purpose: object) -> str:
    """Returns the purpose of a file; raises `InvalidInputError` for an unknown one."""
    if isinstance(purpose, str) and purpose in _PURPOSES:
        return purpose
    raise InvalidInputError(f"expected one of {', '.join(_PURPOSES)}", path="purpose")


def _file_name(name: str, path: str) -> str:
    """Returns the name of a file without folders, and of a long one the end; raises `InvalidInputError`."""
    last = name.replace("\\", "/").rpartition("/")[2]
    if not last or _CONTROL_CHARACTERS.search(last):
        raise InvalidInputError("expected the name of a file, without control characters", path=path)
    return last[-_LONGEST_NAME:]


def _expiry_seconds(anchor: object, seconds: object) -> float:
    """Returns for how many seconds `expires_after` keeps a file; raises `InvalidInputError`."""
    least, most = _SECONDS
    if type(seconds) is not int or not least <= seconds <= most:
        raise InvalidInputError(f"expected a number from {least} to {most}", path="expires_after.seconds")
    if anchor != "created_at":
        raise InvalidInputError("expected created_at", path="expires_after.anchor")
    return float(seconds)


def _form_seconds(form: MultipartForm) -> float | None:
    anchor, text = form.text("expires_after[anchor]"), form.text("expires_after[seconds]")
    if anchor is None and text is None:
        return None
    if text is None or not text.isdecimal() or len(text) > 9:
        return _expiry_seconds(anchor, text)
    return _expiry_seconds(anchor, int(text))


def _file_data(file: ClientFile) -> Mapping[str, Any]:
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


_MOST_BYTES: Final = 8 * 1024**3
"""The largest upload, as OpenAI's."""
_LONGEST_MEDIA_TYPE: Final = 200
_MD5: Final = re.compile(r"[0-9a-fA-F]{32}")
_UPLOAD_FIELDS: Final = frozenset({"bytes", "filename", "mime_type", "purpose", "expires_after"})
_FIELDS_OF_COMPLETION: Final = frozenset({"part_ids", "md5"})


async def begin_upload(context: RequestContext) -> WireResponse:
    """Creates an upload, to which parts are added."""
    data = await _object(context, _UPLOAD_FIELDS)
    name, purpose = _file_name(text_at(data, "filename"), "filename"), _purpose(data.get("purpose"))
    size, media_type, seconds = _size(data), _media_type(data), _seconds_of_upload(data)
    made = await _create_upload(context, name=name, purpose=purpose, media_type=media_type, size=size, seconds=seconds)
    return context.answer(_upload_data(made, "pending"))


async def add_part(context: RequestContext) -> WireResponse:
    """Adds a part to an upload."""
    form = await context.form()
    id = context.request.parameters["id"]
    part = await _write_part(context, id, form.upload("data").content)
    shown = {"id": part, "object": "upload.part", "created_at": int(context.time), "upload_id": id}
    return context.answer(shown, warnings=len(form.others(("data",))))


async def complete(context: RequestContext) -> WireResponse:
    """Makes a file of the parts of an upload."""
    data = await _object(context, _FIELDS_OF_COMPLETION)
    parts, expected = _part_ids(data), _md5(data)
    owner, id = context.grant.owner, context.request.parameters["id"]
    upload = await context.state.stored.run(lambda tables: tables.uploads.check(owner, id, parts))

    head, digest = b"", hashlib.md5(usedforsecurity=False)
    async for piece in _pieces_of_parts(context, parts):
        head = head or piece
        if expected is None:
            break
        await asyncio.to_thread(digest.update, piece)
    if expected is not None and digest.hexdigest() != expected:
        raise InvalidInputError(f"the content has the MD5 {digest.hexdigest()}", path="md5")

    media_type = _type_of_content(context, upload.name, head, upload.media_type)
    file = await _complete_upload(context, id, parts, media_type)
    return context.answer(_upload_data(upload, "completed", file))


async def cancel(context: RequestContext) -> WireResponse:
    """Cancels an upload and deletes its parts."""
    owner, id = context.grant.owner, context.request.parameters["id"]
    cancelled = await context.state.stored.run(lambda tables: tables.uploads.cancel(owner, id))
    await _free_pieces(context)
    return context.answer(_upload_data(cancelled, "cancelled"))


async def _object(context: RequestContext, known: frozenset[str]) -> Mapping[str, Any]:
    """Returns the body; raises `InvalidInputError` for fields that OpenAI's API does not have."""
    data = await context.read_object()
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
        raise refusal(413, f"an upload may have {_MOST_BYTES} bytes", path="bytes")
    return size


def _seconds_of_upload(data: Mapping[str, Any]) -> float | None:
    given = data.get("expires_after")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise InvalidInputError("expected an object with anchor and seconds", path="expires_after")
    expiry = cast("dict[str, Any]", given)
    return _expiry_seconds(expiry.get("anchor"), expiry.get("seconds"))


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


def _upload_data(upload: StoredUpload, status: str, file: ClientFile | None = None) -> Mapping[str, Any]:
    return {
        "id": upload.id,
        "object": "upload",
        "bytes": upload.size,
        "created_at": int(upload.created),
        "expires_at": int(upload.expires),
        "filename": upload.name,
        "purpose": upload.purpose,
        "status": status,
        "file": None if file is None else _file_data(file),
    }


async def _create_upload(
    context: RequestContext, *, name: str, purpose: str, media_type: str, size: int, seconds: float | None
) -> StoredUpload:
    """Makes an upload, whose file will last for `seconds`; raises `RequestRefused` if there is no room for it."""
    owner, id = context.grant.owner, new_id("upload_")
    facts: dict[str, Any] = {"name": name, "purpose": purpose, "media_type": media_type, "size": size}
    return await _within_limits(
        context, lambda tables, quota: tables.uploads.create(owner, id, quota=quota, seconds=seconds, **facts)
    )


async def _write_part(context: RequestContext, upload: str, content: bytearray) -> str:
    """Writes a part of an upload; returns its id. What cannot be written whole is dropped.

    Raises `InvalidInputError` for an empty part, `RequestRefused` if there is no room for it, and as `Uploads` does.
    """
    from ..store.files import PIECE_BYTES

    stored, owner = context.state.stored, context.grant.owner
    if not content:
        raise InvalidInputError("the part is empty", path="data")
    part, size = new_id("part_"), len(content)
    await _within_limits(context, lambda tables, quota: tables.uploads.begin_part(owner, upload, part, size, quota))
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


async def _complete_upload(context: RequestContext, upload: str, parts: Sequence[str], media_type: str) -> ClientFile:
    """Makes a file of the parts of an upload; raises `RequestRefused` for one too many, and as `Uploads` does."""
    owner, id = context.grant.owner, new_id("file-")
    return await _within_limits(
        context, lambda tables, quota: tables.uploads.complete(owner, upload, parts, id, media_type, quota)
    )


async def _free_pieces(context: RequestContext) -> None:
    """Removes the contents that are not needed any more, in short transactions: others write in between."""
    with suppress(RequestRefused):  # of a database that is down: the next pieces take their place
        while await context.state.stored.run(lambda tables: tables.uploads.free()):
            pass


async def pieces_of_file(context: RequestContext, id: str) -> AsyncGenerator[bytes]:
    """Yields the content of a file; less than its size if the file is deleted meanwhile."""
    owner = context.grant.owner
    content, parts = await context.state.stored.run(lambda tables: tables.files.content(owner, id))
    if content:
        yield content
    async for piece in _pieces_of_parts(context, parts):
        yield piece


async def _pieces_of_parts(context: RequestContext, parts: list[str]) -> AsyncGenerator[bytes]:
    """Yields the content of parts, one after the other."""
    for part in parts:
        position = 0
        while piece := await context.state.stored.run(
            lambda tables, part=part, position=position: tables.files.piece(part, position)
        ):
            yield piece
            position += 1


def unknown_file(id: str) -> NotFoundError:
    """Returns the error for a file that the client does not have, or no longer has."""
    return NotFoundError(f"there is no file {id[:100]!r} here: it was not uploaded, has expired, or was deleted")


async def _within_limits(context: RequestContext, work: Callable[[StoredTables, Quota], T]) -> T:
    """Returns the result of `work` on the tables; raises `RequestRefused` for what the client has no room for."""
    from ..store.files import Quota, QuotaExceeded

    limits = context.state.settings.limits
    quota = Quota(limits.stored_bytes, limits.stored_files, limits.uploads)
    try:
        return await context.state.stored.run(lambda tables: work(tables, quota))
    except QuotaExceeded as error:
        raise _quota_exceeded(error.limit, quota) from None


def _quota_exceeded(limit: Limit, quota: Quota) -> RequestRefused:
    if limit == "bytes":
        message = f"the files of one key may have {quota.bytes} bytes together, with pending uploads: delete some first"
        return refusal(413, message)
    if limit == "files":
        return refusal(400, f"a key may have {quota.files} files: delete some first")
    message = f"a key may have {quota.uploads} uploads that are not completed: complete some, others expire in an hour"
    return RequestRefused(429, RateLimitError(message), x_should_retry="false")
