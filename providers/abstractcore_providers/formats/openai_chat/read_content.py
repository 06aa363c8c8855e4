"""Reads content parts of a client's messages (server side)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    AudioPart,
    Blob,
    CallWarning,
    ContentPart,
    ImagePart,
    Part,
    ReasoningPart,
    SchemaError,
    TextPart,
)

from ...common.call_options import read_options
from ...common.data_urls import file_part, read_file_data, read_url
from ...common.reading import ErrorsAt, Object, get_object, get_text, has_content, name_the_rest, text_of
from ...common.sounds import read_audio
from .cache_points import cache_names, read_cache
from .content_pieces import thought_of
from .dialect import ChatDialect

_IMAGE = frozenset({"url", "detail"})
_THINKING = frozenset({"type", "thinking", "closed"})


def read_content(
    content: Any, path: str, dialect: ChatDialect, origin: str | None, warnings: list[CallWarning]
) -> tuple[Part, ...]:
    """Returns the parts of a message; fields that are not read are options. Reasoning in it is of the model `origin`.

    Raises `InvalidInputError` with the path of what is wrong.
    """
    if content is None:
        return ()
    if isinstance(content, str):
        return (_text(content, path),)
    if not isinstance(content, list):
        raise InvalidInputError(f"expected text or a list of parts, got {type(content).__name__}", path=path)
    parts: list[Part] = []
    for index, value in enumerate(cast("list[Any]", content)):
        part_path = f"{path}[{index}]"
        data = get_object(value, part_path)
        with ErrorsAt(f"{part_path}.{data.get('type')}"):
            part = _part(data, part_path, dialect.provider, warnings)
            if isinstance(part, ReasoningPart):
                name_the_rest(data, _THINKING, part_path, warnings)
                parts.append(replace(part, origin=origin))
            else:
                known = {"type", data["type"], *cache_names(dialect.cache)}
                options = read_options(data, known, dialect.provider)
                cache = read_cache(data, part_path, dialect.cache) if has_content(part) else None
                changed = options or cache is not None
                parts.append(replace(part, cache=cache, provider_options=options) if changed else part)
    return tuple(parts)


def _text(text: str, path: str) -> TextPart:
    try:
        return TextPart(text)
    except SchemaError as error:
        raise InvalidInputError(error.message, path=path) from None


def _part(data: Object, path: str, provider: str, warnings: list[CallWarning]) -> ContentPart | ReasoningPart:
    kind = data.get("type")
    if kind in ("text", "refusal"):
        return _text(get_text(data.get(kind), f"{path}.{kind}"), f"{path}.{kind}")
    if kind == "image_url":
        image = get_object(data.get("image_url"), f"{path}.image_url")
        name_the_rest(image, _IMAGE, f"{path}.image_url", warnings)
        part_path = f"{path}.image_url.url"
        return ImagePart(read_url(image.get("url"), "image/*", part_path), image.get("detail"))
    if kind == "input_audio":
        return AudioPart(read_audio(data.get("input_audio"), f"{path}.input_audio"))
    if kind == "file":
        return file_part(_file(get_object(data.get("file"), f"{path}.file"), f"{path}.file", provider))
    if kind == "thinking":
        return ReasoningPart(thought_of(data))
    raise InvalidInputError(
        f"unknown content part {kind!r}", path=f"{path}.type", hint="Use text, image_url, input_audio or file."
    )


def _file(data: Object, path: str, provider: str) -> Blob:
    name = text_of(data, "filename")
    file_id = text_of(data, "file_id")
    if file_id:
        return Blob.from_provider_file(provider, file_id, "application/pdf", name=name)
    return read_file_data(data.get("file_data"), f"{path}.file_data", name)
