"""Contents of files, piece by piece, and those that messages name by their ids (`file_id`)."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from abstractcore.errors import InvalidInputError, NotFoundError, RateLimitError

from ..context import RequestContext
from ..dialects.base import ClientRequest
from ..failures import RequestRefused, refused
from ..responses.items import compact, new_id

if TYPE_CHECKING:
    from ..calls.jobs import AnswerJob
    from ..store.files import ClientFile, Limit, Quota, StoredUpload
    from ..stored_state import StoredTables

T = TypeVar("T")


async def create_upload(
    context: RequestContext, *, name: str, purpose: str, media_type: str, size: int, seconds: float | None
) -> StoredUpload:
    """Makes an upload, whose file will last for `seconds`; raises `RequestRefused` if there is no room for it."""
    owner, id = context.grant.owner, new_id("upload_")
    facts: dict[str, Any] = {"name": name, "purpose": purpose, "media_type": media_type, "size": size}
    return await _within_limits(
        context, lambda tables, quota: tables.uploads.create(owner, id, quota=quota, seconds=seconds, **facts)
    )


async def write_part(context: RequestContext, upload: str, content: bytearray) -> str:
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


async def complete_upload(context: RequestContext, upload: str, parts: Sequence[str], media_type: str) -> ClientFile:
    """Makes a file of the parts of an upload; raises `RequestRefused` for one too many, and as `Uploads` does."""
    owner, id = context.grant.owner, new_id("file-")
    return await _within_limits(
        context, lambda tables, quota: tables.uploads.complete(owner, upload, parts, id, media_type, quota)
    )


async def free_pieces(context: RequestContext) -> None:
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
    async for piece in pieces_of_parts(context, parts):
        yield piece


async def pieces_of_parts(context: RequestContext, parts: list[str]) -> AsyncGenerator[bytes]:
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
    """Returns what `work` does with the tables; raises `RequestRefused` for what the client has no room for."""
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
        return refused(413, message)
    if limit == "files":
        return refused(400, f"a key may have {quota.files} files: delete some first")
    message = f"a key may have {quota.uploads} uploads that are not completed: complete some, others expire in an hour"
    return RequestRefused(429, RateLimitError(message), x_should_retry="false")


_ID: Final = "file_id"
_FORMATS: Final = ("openai_chat", "openai_responses")
_MESSAGES: Final = ("input", "messages")
_FILE: Final = "file"
"""The type of a part of Chat Completions, and its field with the file."""
_IMAGES: Final = ("input_image", "computer_screenshot")
_PARTS: Final = ("input_file", *_IMAGES)
"""The types of parts of the Responses API that are files. Others with a `file_id`, such as citations, have none."""
_CONTINUED: Final = ("previous_response_id", "conversation")


async def resolve_file_ids(job: AnswerJob) -> AnswerJob:
    """Returns the job with the content of each file that its messages name by an id of this server; others may be the
    vendor's.
    """
    if job.context.dialect.format not in _FORMATS:
        return job
    data, parts = await job.off_loop(_with_parts, job.client_request.wire.body)
    ids = {id for id in (str(part[_ID]) for part in parts) if id.isprintable()}
    owner = job.context.grant.owner
    files = await job.context.state.stored.run(lambda tables: tables.files.find_all(owner, ids))
    if not files:
        return job
    named = [part for part in parts if part[_ID] in files]
    most = job.context.state.settings.limits.body_bytes
    if sum(files[part[_ID]].size for part in named) > most:
        raise refused(413, f"the files that one request names may have {most} bytes together", path=_ID)
    contents = {id: await _read(job.context, files[id]) for id in files}
    for part in named:
        id = part.pop(_ID)
        _fill(part, files[id], contents[id])
    wire = replace(job.client_request.wire, body=await job.off_loop(compact, data))
    return replace(job, client_request=replace(job.client_request, wire=wire, is_changed=True))


def check_ids(client_request: ClientRequest) -> None:
    """Raises `InvalidInputError`, with the path in the client's request, for a file that is named by an id of another
    store than this server's: only models that speak the client's own API may have such a store.
    """
    id: str | None = next((part[_ID] for _, part in _named(json.loads(client_request.wire.body))), None)
    if id is None:
        return
    of_continued = next((name for name in _CONTINUED if name in client_request.data), "")
    path = next((f"{path}.{_ID}" for path, part in _named(client_request.data) if part[_ID] == id), of_continued)
    problem = f"there is no file {id[:100]!r} among those of /v1/files of this key, the only ones for this model"
    hint = "It was not uploaded, has expired, or was deleted: upload it, or send its content."
    raise InvalidInputError(problem, path=path, hint=hint)


def _with_parts(body: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns the data of a body, and the objects in its messages that have the id of a file."""
    data = json.loads(body)
    return data, [part for _, part in _named(data)]


def _named(data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the objects in messages that have the id of a file, each with its path."""
    for name in _MESSAGES:
        yield from _named_in(data.get(name), name)


def _named_in(value: object, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            yield from _named_in(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        part = cast("dict[str, Any]", value)
        file, where = (part.get(_FILE), f"{path}.{_FILE}") if part.get("type") == _FILE else (part, path)
        is_file = file is not part or part.get("type") in _PARTS
        if is_file and isinstance(file, dict):
            named = cast("dict[str, Any]", file)
            if named.get(_ID) and isinstance(named[_ID], str):
                yield where, named
        for name, item in part.items():
            yield from _named_in(item, f"{path}.{name}")


def _fill(part: dict[str, Any], file: ClientFile, content: str) -> None:
    """Puts the content of a file, in base64, into a part of a message: an image or a screenshot of the Responses API,
    or a file of both APIs.
    """
    url = f"data:{file.media_type};base64,{content}"
    if part.get("type") in _IMAGES:
        part["image_url"] = url
    else:
        part["file_data"] = url
        part["filename"] = file.name


async def _read(context: RequestContext, file: ClientFile) -> str:
    """Returns the content of a file in base64; raises `NotFoundError` if it is deleted meanwhile."""
    content = b"".join([piece async for piece in pieces_of_file(context, file.id)])
    if len(content) != file.size:
        raise unknown_file(file.id)
    return base64.b64encode(content).decode()
