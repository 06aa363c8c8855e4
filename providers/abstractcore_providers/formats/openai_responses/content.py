"""Content parts of messages and tool results, written.

Reads content parts of a client's messages (server side). Results of computer actions: screenshots.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from abstractcore.errors import InvalidInputError, UnsupportedContentError
from abstractcore.schema import (
    NO_OPTIONS,
    AudioPart,
    Blob,
    CachePoint,
    CallWarning,
    Citation,
    DocumentPart,
    ImagePart,
    Part,
    ProviderOptions,
    TextPart,
    ToolResult,
)

from ...common.call_options import fields_for, read_options, with_options_for
from ...common.data_urls import data_url, file_part, kept_id, read_file_data, read_url, write_url
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
from ...common.sounds import AUDIO_FORMATS, read_audio, write_audio
from .items import read_annotations
from .vocabulary import WARNINGS

_OFFICE = "application/vnd.openxmlformats-officedocument"
_NAMES = {
    "application/pdf": "document.pdf",
    "application/msword": "document.doc",
    f"{_OFFICE}.wordprocessingml.document": "document.docx",
    "application/vnd.oasis.opendocument.text": "document.odt",
    "application/rtf": "document.rtf",
    "application/vnd.ms-powerpoint": "document.ppt",
    f"{_OFFICE}.presentationml.presentation": "document.pptx",
    "application/vnd.ms-excel": "document.xls",
    f"{_OFFICE}.spreadsheetml.sheet": "document.xlsx",
}
"""The names of files without one: the provider reads the type from the extension."""
USER_FIELDS = frozenset({"type", "id", "role", "status", "content"})
OUTPUT_FIELDS = frozenset({"type", "id", "call_id", "status", "output"})
"""The fields of a user's message and of a call's result that the schema models."""
CONTENT_FIELDS: dict[str, frozenset[str]] = {
    "input_text": frozenset({"type", "text", "prompt_cache_breakpoint"}),
    "input_image": frozenset({"type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"}),
    "input_file": frozenset({"type", "filename", "file_data", "file_url", "file_id", "prompt_cache_breakpoint"}),
    "input_audio": frozenset({"type", "input_audio"}),
}
"""The fields of each type of content that the schema models."""
CONTENT_TYPES: dict[type[Part], str] = {
    TextPart: "input_text",
    ImagePart: "input_image",
    DocumentPart: "input_file",
    AudioPart: "input_audio",
}
_TTL_SECONDS = {1800: "30m", 43200: "12h"}
TTL_NAMES = {name: seconds for seconds, name in _TTL_SECONDS.items()}


def write_content(part: Part, path: str, provider: str) -> Object:
    """Returns a text or media part; raises `UnsupportedContentError` with its path for unsupported content."""
    return {"type": CONTENT_TYPES.get(type(part)), **_content(part, path, provider), **fields_for(part, provider)}


def _content(part: Part, path: str, provider: str) -> Object:
    if isinstance(part, TextPart):
        return {"text": part.text, **breakpoint_of(part.cache)}
    if isinstance(part, ImagePart):
        detail: Object = {} if part.detail is None else {"detail": part.detail}
        return {**image_address(part, path, provider), **detail, **breakpoint_of(part.cache)}
    if isinstance(part, AudioPart) and part.blob.media_type in AUDIO_FORMATS:
        return {"input_audio": write_audio(part.blob, path)}
    if isinstance(part, DocumentPart):
        return {**_file(part.blob, path, provider), **breakpoint_of(part.cache)}
    what = part.blob.media_type if isinstance(part, AudioPart) else part.type
    raise UnsupportedContentError(
        f"{path}: the Responses format does not support {what}.",
        hint="It supports text, images, documents, and WAV and MP3 audio.",
    )


def image_address(part: ImagePart, path: str, provider: str) -> Object:
    """Returns the fields of an image: a file stored by the provider, a URL, or the image itself as a data URL."""
    kept = kept_id(part.blob, provider, path)
    return {"image_url": write_url(part.blob, path)} if kept is None else {"file_id": kept}


def can_be_kept_for(ttl: int | None) -> bool:
    """Whether the format supports this TTL."""
    return ttl is None or ttl in _TTL_SECONDS


def breakpoint_of(cache: CachePoint | None) -> Object:
    """Returns the field for a cache point."""
    if cache is None:
        return {}
    ttl: Object = {} if cache.ttl is None else {"ttl": _TTL_SECONDS[cache.ttl]}
    return {"prompt_cache_breakpoint": {"mode": "explicit", **ttl}}


def _file(blob: Blob, path: str, provider: str) -> Object:
    if blob.form == "url":
        return {"file_url": blob.location}
    kept = kept_id(blob, provider, path)
    if kept is not None:
        return {"file_id": kept}
    return {"filename": blob.name or _NAMES.get(blob.media_type, "document.txt"), "file_data": data_url(blob, path)}


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


_OUTPUT_FIELDS = frozenset({"type", "id", "call_id", "status", "output"})
_SCREENSHOT = "computer_screenshot"
_SCREENSHOT_FIELDS = frozenset({"type", "image_url", "file_id"})


def fit_screenshot(result: ToolResult, path: str, provider: str, warnings: list[CallWarning]) -> ToolResult:
    """Adjusts the result of an action; raises `UnsupportedContentError` unless it is one image."""
    image = result.content[0] if len(result.content) == 1 else None
    if not isinstance(image, ImagePart):
        raise UnsupportedContentError(
            f"{path}.content: the result of a computer action must be one image, its screenshot."
        )
    for item, item_path, names in (
        (result, path, ("is_error", "cache")),
        (image, f"{path}.content[0]", ("detail", "cache")),
    ):
        WARNINGS.fields(item, item_path, names, warnings)
    image = replace(image, detail=None, cache=None)
    image = with_options_for(image, f"{path}.content[0]", provider, _SCREENSHOT_FIELDS, warnings)
    result = replace(result, content=(image,), is_error=False, cache=None)
    return with_options_for(result, path, provider, _OUTPUT_FIELDS, warnings)


def write_screenshot(result: ToolResult, path: str, provider: str) -> Object:
    """Returns the item for a result of `fit_screenshot`."""
    image = cast(ImagePart, result.content[0])
    source = image_address(image, f"{path}.content[0]", provider)
    output = {"type": _SCREENSHOT, **source, **fields_for(image, provider)}
    return {"type": "computer_call_output", "call_id": result.call_id, "output": output, **fields_for(result, provider)}


def read_screenshot(item: Object, path: str, provider: str) -> ToolResult:
    """Reads the result in a client's item; raises `InvalidInputError` with the path of what is wrong."""
    output = get_object(item.get("output"), f"{path}.output")
    blob = read_blob(output, "image_url", "image/*", f"{path}.output", provider)
    image = ImagePart(blob, provider_options=read_options(output, _SCREENSHOT_FIELDS, provider))
    options = read_options(item, _OUTPUT_FIELDS, provider)
    return ToolResult(get_text(item.get("call_id"), f"{path}.call_id"), (image,), provider_options=options)
