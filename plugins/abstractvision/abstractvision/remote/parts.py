"""Content that vendors send, as parts: the type is read from its first bytes, not believed."""

from __future__ import annotations

from abstractcore import Blob, CorruptFileError, ImagePart, ServerError, VideoPart
from abstractcore.mediajobs import MadeFile

_BRANDS = {b"avif": "image/avif", b"heic": "image/heic", b"qt  ": "video/quicktime"}


def image_type(content: bytes) -> str:
    """Returns the media type of an image; raises `CorruptFileError` for anything else."""
    found = _type_of(content)
    if found is None or not found.startswith("image/"):
        raise CorruptFileError(f"expected an image, got {len(content):,} bytes that begin with {content[:12]!r}")
    return found


def part_of(file: MadeFile, content: bytes) -> ImagePart | VideoPart:
    """Returns an image or a video; raises `ServerError` for anything else."""
    found = _type_of(content)
    if found is None and file.media_type == "image/svg+xml" and b"<svg" in content[:1000]:
        found = "image/svg+xml"
    if found is None:
        start = content[:24]
        raise ServerError(f"expected an image or a video, got {len(content):,} bytes that begin with {start!r}")
    blob = Blob.from_bytes(content, found)
    return VideoPart(blob) if found.startswith("video/") else ImagePart(blob)


def _type_of(data: bytes) -> str | None:
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return "image/png"
    if data[:3] == b"\xff\xd8\xff":
        return "image/jpeg"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"\x1a\x45\xdf\xa3":
        return "video/webm"
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], "video/mp4")
    return None
