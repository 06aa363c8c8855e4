"""Files that messages name by their ids (`file_id`), as contents of the messages."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from abstractcore.concurrency import is_large
from abstractcore.errors import InvalidInputError

from ..context import RequestContext
from ..dialects.base import ClientRequest
from ..failures import refusal
from ..responses.items import compact
from .stored_files import pieces_of_file, unknown_file

if TYPE_CHECKING:
    from ..store.files import ClientFile

_ID: Final = "file_id"
_FORMATS: Final = ("openai_chat", "openai_responses")
_MESSAGES: Final = ("input", "messages")
_FILE: Final = "file"
"""The type of a part of Chat Completions, and its field with the file."""
_IMAGES: Final = ("input_image", "computer_screenshot")
_PARTS: Final = ("input_file", *_IMAGES)
"""The types of parts of the Responses API that are files. Others with a `file_id`, such as citations, have none."""
_CONTINUED: Final = ("previous_response_id", "conversation")


async def resolve_file_ids(context: RequestContext, client_request: ClientRequest) -> ClientRequest:
    """Returns a request with the content of each file that its messages name by an id of this server; others may be the
    vendor's.
    """
    if context.dialect.format not in _FORMATS:
        return client_request
    large = is_large(client_request.wire.body)
    data, parts = await context.off_loop(large, _with_parts, client_request.wire.body)
    ids = {id for id in (str(part[_ID]) for part in parts) if id.isprintable()}
    owner = context.grant.owner
    files = await context.state.stored.run(lambda tables: tables.files.find_all(owner, ids))
    if not files:
        return client_request
    named = [part for part in parts if part[_ID] in files]
    most = context.state.settings.limits.body_bytes
    if sum(files[part[_ID]].size for part in named) > most:
        raise refusal(413, f"the files that one request names may have {most} bytes together", path=_ID)
    contents = {id: await _read(context, files[id]) for id in files}
    for part in named:
        id = part.pop(_ID)
        _fill(part, files[id], contents[id])
    wire = replace(client_request.wire, body=await context.off_loop(large, compact, data))
    return replace(client_request, wire=wire, is_changed=True)


def check_ids(client_request: ClientRequest) -> None:
    """Raises `InvalidInputError`, with the path in the client's request, for a file that is named by an id of another
    store than this server's: only models that speak the client's own API may have such a store.
    """
    id: str | None = next((part[_ID] for _, part in _parts_with_ids(json.loads(client_request.wire.body))), None)
    if id is None:
        return
    of_continued = next((name for name in _CONTINUED if name in client_request.data), "")
    path = next(
        (f"{path}.{_ID}" for path, part in _parts_with_ids(client_request.data) if part[_ID] == id), of_continued
    )
    problem = f"there is no file {id[:100]!r} among those of /v1/files of this key, the only ones for this model"
    hint = "It was not uploaded, has expired, or was deleted: upload it, or send its content."
    raise InvalidInputError(problem, path=path, hint=hint)


def _with_parts(body: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns the data of a body, and the objects in its messages that have the id of a file."""
    data = json.loads(body)
    return data, [part for _, part in _parts_with_ids(data)]


def _parts_with_ids(data: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the objects in messages that have the id of a file, each with its path."""
    for name in _MESSAGES:
        yield from _parts_with_ids_in(data.get(name), name)


def _parts_with_ids_in(value: object, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            yield from _parts_with_ids_in(item, f"{path}[{index}]")
    elif isinstance(value, dict):
        part = cast("dict[str, Any]", value)
        file, where = (part.get(_FILE), f"{path}.{_FILE}") if part.get("type") == _FILE else (part, path)
        is_file = file is not part or part.get("type") in _PARTS
        if is_file and isinstance(file, dict):
            named = cast("dict[str, Any]", file)
            if named.get(_ID) and isinstance(named[_ID], str):
                yield where, named
        for name, item in part.items():
            yield from _parts_with_ids_in(item, f"{path}.{name}")


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
