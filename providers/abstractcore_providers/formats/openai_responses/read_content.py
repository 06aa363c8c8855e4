"""Reads content parts of a client's messages (server side)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    NO_OPTIONS,
    AudioPart,
    Blob,
    CachePoint,
    CallWarning,
    Citation,
    ImagePart,
    Part,
    ProviderOptions,
    TextPart,
)

from ...common.call_options import read_options
from ...common.data_urls import file_part, read_file_data, read_url
from ...common.reading import (
    Object,
    as_object,
    get_object,
    get_text,
    has_content,
    make_at,
    name_the_rest,
    objects_of,
    text_of,
)
from ...common.sounds import read_audio
from .citations import read_annotations
from .content import CONTENT_FIELDS, TTL_NAMES

_ASSISTANT_FIELDS = {
    "output_text": frozenset({"type", "text", "annotations", "logprobs"}),
    "refusal": frozenset({"type", "refusal"}),
}


def read_content(
    content: Any, path: str, provider: str, warnings: list[CallWarning], *, item_options: ProviderOptions | None = None
) -> tuple[Part, ...]:
    """Returns the parts of a message or of a tool's output; raises `InvalidInputError` with the path of what is wrong.

    The parts of an assistant have `item_options`, those of its item, and unknown fields of its content are reported.
    """
    if isinstance(content, str):
        return (make_at(path, _text, content, item_options or NO_OPTIONS),)
    if not isinstance(content, list):
        raise InvalidInputError(f"expected text or a list of parts, got {type(content).__name__}", path=path)
    parts: list[Part] = []
    for index, value in enumerate(cast("list[Any]", content)):
        part_path = f"{path}[{index}]"
        data = get_object(value, part_path)
        kind = text_of(data, "type") or ""
        known = CONTENT_FIELDS.get(kind) or _ASSISTANT_FIELDS.get(kind)
        if known is None:
            raise InvalidInputError(f"unknown content part {data.get('type')!r}", path=f"{part_path}.type")
        if item_options is None and kind in CONTENT_FIELDS:
            options = read_options(data, known, provider)
        else:
            options = item_options or NO_OPTIONS
            name_the_rest(data, known, part_path, warnings)
        parts.append(make_at(part_path, _part, data, kind, part_path, provider, options))
    return tuple(part for part in parts if has_content(part))


def _part(data: Object, kind: str, path: str, provider: str, options: ProviderOptions) -> Part:
    if kind == "input_audio":
        return AudioPart(read_audio(data.get("input_audio"), f"{path}.input_audio"), provider_options=options)
    cache = _cache(data, path)
    if kind == "input_image":
        return ImagePart(read_blob(data, "image_url", "image/*", path, provider), data.get("detail"), cache, options)
    if kind == "input_file":
        name = "file_url" if data.get("file_url") is not None else "file_data"
        part = file_part(read_blob(data, name, "application/pdf", path, provider))
        return replace(part, cache=cache, provider_options=options)
    name = "refusal" if kind == "refusal" else "text"
    text = get_text(data.get(name), f"{path}.{name}")
    return _text(text, options, read_annotations(objects_of(data, "annotations")), cache)


def _text(
    text: str, options: ProviderOptions, citations: tuple[Citation, ...] = (), cache: CachePoint | None = None
) -> TextPart:
    """Returns the text, without a cache point or options if it is empty."""
    return TextPart(text, citations, cache, options) if text else TextPart("")


def read_blob(data: Object, name: str, media_type: str, path: str, provider: str) -> Blob:
    """Reads a file by its id, or by the URL at `name`; raises `InvalidInputError` with the path of what is wrong."""
    file_id, filename = text_of(data, "file_id"), text_of(data, "filename")
    if file_id:
        return Blob.from_provider_file(provider, file_id, media_type, name=filename)
    if name == "file_data":
        return read_file_data(data.get(name), f"{path}.{name}", filename)
    return read_url(data.get(name), media_type, f"{path}.{name}", filename)


def _cache(data: Object, path: str) -> CachePoint | None:
    value = data.get("prompt_cache_breakpoint")
    if value is None:
        return None
    ttl = as_object(value).get("ttl")
    if ttl is not None and ttl not in TTL_NAMES:
        raise InvalidInputError(f"use {' or '.join(map(repr, TTL_NAMES))}", path=f"{path}.prompt_cache_breakpoint.ttl")
    return CachePoint(None if ttl is None else TTL_NAMES[ttl])
