"""The operation `embed` for servers: `:batchEmbedContents` and `:embedContent` of the Gemini API.

Sources as in `embeddings`. All requests of a batch have the same purpose and the same length of vectors.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any
from urllib.parse import unquote

from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.ports import EMBED, ServedOperation
from abstractcore.schema import (
    CallWarning,
    EmbedInput,
    EmbedItem,
    EmbedPurpose,
    EmbedReply,
    MediaPart,
    ParsedInput,
    Rendered,
    TextPart,
    WireRequest,
)

from ...common.call_options import read_options
from ...common.embeddings import read_input, read_word
from ...common.reading import Object, get_list, get_object, get_text, make_at, read_request
from .content import read_media
from .embeddings import TASKS
from .vocabulary import GenerateContentDialect, usage_to_theirs, with_names

_URL = re.compile(r".*?/models/([^/?]+?):(batchEmbedContents|embedContent)")
_BATCH = "batchEmbedContents"
_PURPOSES: dict[str, EmbedPurpose | None] = {
    **{task: purpose for purpose, task in TASKS.items()},
    "TASK_TYPE_UNSPECIFIED": None,
}
_FIELDS = frozenset({"model", "content", "taskType", "outputDimensionality", "title"})
_SNAKE = {"task_type": "taskType", "output_dimensionality": "outputDimensionality"}


def served_embedding(dialect: GenerateContentDialect) -> dict[str, ServedOperation[EmbedInput, EmbedReply]]:
    """Returns the operation by name."""
    parse, render = partial(parse_embed, dialect=dialect), partial(render_embed, dialect=dialect)
    return {EMBED: ServedOperation(EMBED, parse, render)}


def parse_embed(request: WireRequest, dialect: GenerateContentDialect) -> ParsedInput[EmbedInput]:
    """Returns the vectors that a client asks for; raises `InvalidInputError` with the path of what is wrong."""
    model, is_batch = _of_url(request)
    data = read_request(request)
    if is_batch:
        paths = [f"requests[{index}]" for index in range(len(get_list(data, "requests")))]
        requests = [
            _named(get_object(each, path)) for each, path in zip(get_list(data, "requests"), paths, strict=True)
        ]
        if not requests:
            raise InvalidInputError("expected at least one", path="requests")
    else:
        requests, paths = [_named(data)], [""]
    warnings: list[CallWarning] = []
    for each, path in zip(requests, paths, strict=True):
        _check_equal(each, requests[0], path)
        if each.get("title") is not None:
            message = "a title is not part of what is embedded here"
            warnings.append(CallWarning("title_left_out", _below(path, "title"), message, each["title"]))
    purpose = read_word(requests[0].get("taskType"), _PURPOSES, _below(paths[0], "taskType"))
    rest = {} if is_batch else {name: value for name, value in requests[0].items() if name not in _FIELDS}
    given = read_input(
        EmbedInput,
        {"items": "requests", "dimensions": _below(paths[0], "outputDimensionality")},
        model=model,
        provider=dialect.provider,
        items=tuple(_item(each, path, dialect) for each, path in zip(requests, paths, strict=True)),
        purpose=purpose,
        dimensions=requests[0].get("outputDimensionality"),
        provider_options=make_at("", read_options, rest, (), dialect.provider),
    )
    return ParsedInput(given, tuple(warnings))


def _of_url(request: WireRequest) -> tuple[str, bool]:
    """Returns the model, and whether the request is a batch."""
    match = _URL.match(request.url)
    if match is None:
        raise InvalidInputError(f"{request.url!r} does not name a model and an operation", path="url")
    return unquote(match[1]), match[2] == _BATCH


def _named(data: Object) -> Object:
    return {_SNAKE.get(name, name): value for name, value in data.items()}


def _check_equal(data: Object, first: Object, path: str) -> None:
    for name in ("taskType", "outputDimensionality"):
        if data.get(name) != first.get(name):
            message = "all requests of a batch have the same value here"
            raise InvalidInputError(message, path=_below(path, name), hint="Send the others in a batch of their own.")


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _item(data: Object, path: str, dialect: GenerateContentDialect) -> EmbedItem:
    content_path = _below(path, "content")
    parts = get_list(get_object(data.get("content"), content_path), "parts", f"{content_path}.")
    if not parts:
        raise InvalidInputError("expected at least one part", path=f"{content_path}.parts")
    read = [_part(each, f"{content_path}.parts[{index}]", dialect) for index, each in enumerate(parts)]
    only = read[0]
    return only.text if len(read) == 1 and isinstance(only, TextPart) else tuple(read)


def _part(value: Any, path: str, dialect: GenerateContentDialect) -> TextPart | MediaPart:
    data = with_names(get_object(value, path))
    if "inlineData" in data or "fileData" in data:
        return make_at(path, read_media, data, dialect.provider)
    return make_at(path, TextPart, get_text(data.get("text"), f"{path}.text"))


def render_embed(reply: EmbedReply, request: WireRequest, dialect: GenerateContentDialect) -> Rendered:
    """Returns the vectors; of `embedContent`, the only one."""
    warnings: list[CallWarning] = []
    vectors: list[Object] = [{"values": values} for values in reply.vectors.lists()]
    body: Object = {"embeddings": vectors} if _of_url(request)[1] else {"embedding": vectors[0]}
    body |= usage_to_theirs(reply.usage, dialect.billing, warnings)
    return Rendered(to_json(body), tuple(warnings))
