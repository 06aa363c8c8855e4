"""Images, which the format has as base64 without their media type."""

from __future__ import annotations

import base64

from abstractcore.schema import Blob, CallWarning, ImagePart

from ...common.data_urls import OLLAMA_IMAGES, content_of

ENCODABLE = OLLAMA_IMAGES
"""The files that the format supports."""
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
UNKNOWN_TYPE = "image/*"


def image_of(data: bytes) -> ImagePart:
    """Reads an image, whose media type is detected from its first bytes."""
    return ImagePart(Blob.from_bytes(data, _type_of(data)))


def is_at_hand(part: ImagePart) -> bool:
    """Whether the image's content can be sent."""
    return part.blob.form in ("bytes", "file")


def write_image(part: ImagePart, path: str, warnings: list[CallWarning]) -> str:
    """Returns the image as base64; raises `UnsupportedContentError` with its path if its bytes are not available."""
    data = content_of(part.blob, path)
    requested, detected = part.blob.media_type, _type_of(data)
    if requested != detected:
        message = f"the format has no media type: {requested} is read as {detected}"
        warnings.append(CallWarning("relabelled", f"{path}.blob.media_type", message, requested, detected))
    if part.detail is not None:
        message = "the image's detail has no field in this format"
        warnings.append(CallWarning("detail_left_out", f"{path}.detail", message, part.detail))
    return base64.b64encode(data).decode("ascii")


def _type_of(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for start, media_type in _SIGNATURES if data.startswith(start)), UNKNOWN_TYPE)
