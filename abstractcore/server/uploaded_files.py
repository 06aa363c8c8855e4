"""`/v1/files` (https://platform.openai.com/docs/api-reference/files), and the files that requests name by their ids."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from ..client.media_files import File
from ..client.media_loading import MediaLoader
from ..errors import InvalidInputError, MediaError, NotFoundError
from ..schema import WireResponse
from .dialects.response_fields import compact
from .exchange import Exchange
from .failures import refused
from .items import new_id, page
from .jobs import Job
from .multipart import Form, Upload, read_form
from .stored_state import StoredTables

if TYPE_CHECKING:
    from .store.files import StoredFile

_PURPOSES: Final = ("assistants", "batch", "evals", "fine-tune", "user_data", "vision")
_SECONDS: Final = (3600, 2_592_000)
_UNKNOWN_TYPE: Final = "application/octet-stream"
_ID: Final = "file_id"
_FORMATS: Final = ("openai_chat", "openai_responses")
_MESSAGES: Final = ("input", "messages")
_LONGEST_NAME: Final = 255


async def create(exchange: Exchange) -> WireResponse:
    """Keeps an uploaded file; raises `InvalidInputError` for an unknown purpose, and `RequestRefused` for too much."""
    form = read_form(await exchange.body(), exchange.request.headers)
    upload, purpose, seconds = form.upload("file"), form.text("purpose"), _seconds(form)
    if purpose not in _PURPOSES:
        raise InvalidInputError(f"expected one of {', '.join(_PURPOSES)}", path="purpose")
    owner, most = exchange.grant.owner, exchange.state.settings.limits.stored_bytes
    name = upload.name[-_LONGEST_NAME:]

    def add(tables: StoredTables) -> StoredFile | None:
        return tables.files.add(
            owner,
            new_id("file-"),
            bytes(upload.content),
            name=name,
            purpose=purpose,
            media_type=_media_type(exchange, upload),
            most=most,
            seconds=seconds,
        )

    added = await exchange.state.stored.run(add)
    if added is None:
        raise refused(413, f"the files of one key may have {most} bytes together: delete some first")
    return exchange.answer(_shown(added))


async def list_all(exchange: Exchange) -> WireResponse:
    """Answers with a page of the client's files."""
    owner, purpose = exchange.grant.owner, exchange.request.query_values().get("purpose")
    found = await exchange.state.stored.run(lambda tables: tables.files.all(owner))
    shown = [_shown(file) for file in found if purpose in (None, file.purpose)]
    return exchange.answer(page(shown, exchange.request, most=10_000, usual=10_000))


async def read(exchange: Exchange) -> WireResponse:
    """Answers with what is known of a file."""
    owner, id = exchange.grant.owner, exchange.request.parameters["id"]
    found = await exchange.state.stored.run(lambda tables: tables.files.find(owner, id))
    if found is None:
        raise _unknown(id)
    return exchange.answer(_shown(found))


async def content(exchange: Exchange) -> WireResponse:
    """Answers with the content of a file, which no browser takes for a page of this server."""
    owner, id = exchange.grant.owner, exchange.request.parameters["id"]
    found = await exchange.state.stored.run(lambda tables: tables.files.with_content(owner, [id]))
    if id not in found:
        raise _unknown(id)
    headers = {
        "content-type": _UNKNOWN_TYPE,
        "content-disposition": "attachment",
        "content-security-policy": "sandbox",
        "x-content-type-options": "nosniff",
    }
    return WireResponse(200, exchange.headers(headers), found[id][1])


async def delete(exchange: Exchange) -> WireResponse:
    """Deletes a file."""
    owner, id = exchange.grant.owner, exchange.request.parameters["id"]
    if not await exchange.state.stored.run(lambda tables: tables.files.delete(owner, id)):
        raise _unknown(id)
    return exchange.answer({"id": id, "object": "file", "deleted": True})


async def with_contents(job: Job) -> Job:
    """Returns the job with the content of each file that its messages name by an id of this server; others are the
    vendor's. Only OpenAI's APIs have such parts.
    """
    if job.exchange.dialect.format not in _FORMATS or f'"{_ID}"'.encode() not in job.asked.wire.body:
        return job
    data = json.loads(job.asked.wire.body)
    parts = [part for part in _objects([data.get(name) for name in _MESSAGES]) if isinstance(part.get(_ID), str)]
    ids = {str(part[_ID]) for part in parts}
    owner = job.exchange.grant.owner

    files = await job.exchange.state.stored.run(lambda tables: tables.files.with_content(owner, ids))
    if not files:
        return job
    for part in parts:
        if part[_ID] in files:
            _fill(part, *files[part.pop(_ID)])
    wire = replace(job.asked.wire, body=compact(data))
    return replace(job, asked=replace(job.asked, wire=wire, is_changed=True))


def _objects(value: object) -> list[dict[str, Any]]:
    """Returns all objects in a JSON value."""
    if isinstance(value, list):
        return [each for item in cast("list[object]", value) for each in _objects(item)]
    if not isinstance(value, dict):
        return []
    own = cast("dict[str, Any]", value)
    return [own, *(each for item in own.values() for each in _objects(item))]


def _fill(part: dict[str, Any], file: StoredFile, content: bytes) -> None:
    """Puts the content of a file into a part of a message: an image of the Responses API, or a file of both APIs."""
    url = f"data:{file.media_type};base64,{base64.b64encode(content).decode()}"
    if part.get("type") == "input_image":
        part["image_url"] = url
    else:
        part["file_data"] = url
        part["filename"] = file.name


def _media_type(exchange: Exchange, upload: Upload) -> str:
    """Returns the type that the content of a file has, whatever the client calls it."""
    services = exchange.state.services
    loader = MediaLoader(services.registry.media_handlers, services.fetcher, lambda digest, password: None)
    try:
        named = File(bytes(upload.content), name=upload.name)
        return loader.load_one(named, "file").blob.media_type
    except (MediaError, InvalidInputError):
        return _UNKNOWN_TYPE


def _seconds(form: Form) -> float | None:
    text = form.text("expires_after[seconds]")
    if text is None:
        return None
    least, most = _SECONDS
    if not (text.isdecimal() and len(text) < 10 and least <= int(text) <= most):
        raise InvalidInputError(f"expected a number from {least} to {most}", path="expires_after.seconds")
    return float(text)


def _shown(file: StoredFile) -> Mapping[str, Any]:
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


def _unknown(id: str) -> NotFoundError:
    return NotFoundError(f"there is no file {id[:100]!r} here: it was not uploaded, has expired, or was deleted")
