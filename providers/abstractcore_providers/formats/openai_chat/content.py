"""Content parts, written."""

from __future__ import annotations

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import AudioPart, Blob, CallWarning, DocumentPart, ImagePart, Part, TextPart

from ...common.call_options import with_options
from ...common.data_urls import data_url, kept_id, write_url
from ...common.reading import Object
from ...common.sounds import AUDIO_FORMATS, write_audio
from .cache_points import add_cache, cache_names
from .dialect import CacheField
from .vocabulary import WARNINGS

ENCODABLE = frozenset({"image", "application/pdf", *AUDIO_FORMATS})
"""The files that the format supports."""
REPLY_AUDIO_TYPE = "audio/wav"
"""The assumed media type of a reply's audio: the format has no field for it."""


def write_part(part: Part, path: str, provider: str, cache: CacheField | None, warnings: list[CallWarning]) -> Object:
    """Returns a text or media part, with its cache point and options; raises `UnsupportedContentError` for unsupported
    content.
    """
    WARNINGS.fields(part, path, ("citations",), warnings)
    if isinstance(part, TextPart):
        block: Object = add_cache({"type": "text", "text": part.text}, part.cache, path, cache, warnings)
        return with_options(block, part, path, provider, ("type", "text", *cache_names(cache)), warnings)
    kind, content = _written_media(part, path, provider)
    assert isinstance(part, ImagePart | AudioPart | DocumentPart)
    block = add_cache({"type": kind, kind: content}, part.cache, path, cache, warnings)
    return with_options(block, part, path, provider, cache_names(cache), warnings)


def _written_media(part: Part, path: str, provider: str) -> tuple[str, Object]:
    """Returns the type of a part, and the value of the field of that name."""
    if isinstance(part, ImagePart):
        image: Object = {"url": write_url(part.blob, path)}
        if part.detail is not None:
            image["detail"] = part.detail
        return "image_url", image
    if isinstance(part, AudioPart) and part.blob.media_type in AUDIO_FORMATS:
        return "input_audio", write_audio(part.blob, path)
    if isinstance(part, DocumentPart) and part.blob.media_type == "application/pdf":
        return "file", _file(part.blob, path, provider)
    what = part.blob.media_type if isinstance(part, AudioPart | DocumentPart) else part.type
    raise UnsupportedContentError(
        f"{path}: the chat completions format does not support {what}.",
        hint="It supports text, images, WAV and MP3 audio, and PDF.",
    )


def kept_audio(id: str, provider: str) -> Blob:
    """Audio of an earlier reply, which the provider stores under its id."""
    return Blob.from_provider_file(provider, id, REPLY_AUDIO_TYPE)


def media_in_result(part: Part, call_id: str, path: str) -> UnsupportedContentError:
    """Returns the error for a tool result with anything but text."""
    return UnsupportedContentError(
        f"{path}: the result of tool call {call_id!r} has {part.type}; this format supports only text there.",
        hint="Put it into a user message after the result.",
    )


def _file(blob: Blob, path: str, provider: str) -> Object:
    kept = kept_id(blob, provider, path)
    if kept is not None:
        return {"file_id": kept}
    return {"filename": blob.name or "document.pdf", "file_data": data_url(blob, path)}
