"""Audio input in OpenAI's formats."""

from __future__ import annotations

from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Blob

from .data_urls import read_base64, write_base64
from .json_reading import Object, text_of
from .reading import get_object

AUDIO_FORMATS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
_TYPES = {format: media_type for media_type, format in AUDIO_FORMATS.items()}


def write_audio(blob: Blob, path: str) -> Object:
    """Returns the `input_audio` object for content of one of the `AUDIO_FORMATS`."""
    return {"data": write_base64(blob, path), "format": AUDIO_FORMATS[blob.media_type]}


def read_audio(value: Any, path: str) -> Blob:
    """Reads the content of an `input_audio` object; raises `InvalidInputError` with the path of what is wrong."""
    data = get_object(value, path)
    media_type = _TYPES.get(text_of(data, "format") or "")
    if media_type is None:
        raise InvalidInputError(f"use {' or '.join(map(repr, _TYPES))}", path=f"{path}.format")
    return Blob.from_bytes(read_base64(data.get("data"), f"{path}.data"), media_type)
