"""Removes metadata (place, camera, comments, thumbnails) from JPEG, PNG, WebP and GIF files without touching pixels.

What changes the colours stays: color profiles, gamma, Adobe's marker of the color transform.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP sBIT bKGD cICP mDCV cLLI pHYs acTL fcTL fdAT".split()
)
"""https://www.w3.org/TR/png-3/#11Chunks: all but text, time, EXIF, histograms, palettes and private chunks."""
_JPEG_MARKER = re.compile(rb"\xff([^\x00\xff\xd0-\xd7])")
_WEBP_METADATA_FLAGS = 0x08 | 0x04
"""EXIF and XMP: https://developers.google.com/speed/webp/docs/riff_container#extended_file_format."""


def without_metadata(data: bytes, media_type: str) -> bytes | None:
    """Returns the file without metadata, and without bytes after its end; None if its structure cannot be followed."""
    strip = _STRIPPERS.get(media_type)
    if strip is None:
        return None
    try:
        return b"".join(strip(data))
    except (ValueError, IndexError):
        return None


def _jpeg(data: bytes) -> Iterator[bytes]:
    """Segments as in ITU-T T.81, annex B."""
    yield data[:2]
    at = 2
    while True:
        if data[at] != 0xFF:
            raise ValueError("no marker")
        while data[at] == 0xFF:  # a marker may have fill bytes before it
            at += 1
        marker = data[at]
        at += 1
        if marker == 0xD9:  # end of image: what follows are other images, or videos
            yield b"\xff\xd9"
            return
        end = at + int.from_bytes(data[at : at + 2], "big")
        if end < at + 2 or end > len(data):
            raise ValueError("a segment ends outside of the file")
        if _is_kept(marker, data[at + 2 : end]):
            yield b"\xff" + bytes([marker]) + data[at:end]
        at = end
        if marker == 0xDA:  # the scan's data go on until the next marker
            found = _JPEG_MARKER.search(data, at)
            if found is None:
                raise ValueError("no end of image")
            scan = data[at : found.start()].rstrip(b"\xff")
            yield scan
            at += len(scan)


def _is_kept(marker: int, content: bytes) -> bool:
    if marker == 0xE2:
        return content.startswith(b"ICC_PROFILE\0")
    if marker == 0xE0:
        return content.startswith(b"JFIF\0")  # JFXX is a thumbnail
    return marker == 0xEE or not (0xE1 <= marker <= 0xEF or marker == 0xFE)


def _png(data: bytes) -> Iterator[bytes]:
    yield data[:8]
    at, kind = 8, b""
    while kind != b"IEND":
        kind = data[at + 4 : at + 8]
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if len(kind) < 4 or end > len(data):
            raise ValueError("a chunk ends outside of the file")
        if kind in _PNG_KEPT:
            yield data[at:end]
        at = end


def _webp(data: bytes) -> Iterator[bytes]:
    total = min(len(data), 8 + int.from_bytes(data[4:8], "little"))
    chunks: list[bytes] = []
    at = 12
    while at + 8 <= total:
        kind, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        end = at + 8 + size + size % 2
        if at + 8 + size > total:
            raise ValueError("a chunk ends outside of the file")
        chunk = data[at:end]
        if kind == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & ~_WEBP_METADATA_FLAGS & 0xFF]) + chunk[9:]
        if kind not in (b"EXIF", b"XMP "):
            chunks.append(chunk)
        at = end
    body = b"".join(chunks)
    yield b"RIFF" + (len(body) + 4).to_bytes(4, "little") + b"WEBP" + body


def _gif(data: bytes) -> Iterator[bytes]:
    """Blocks as in https://www.w3.org/Graphics/GIF/spec-gif89a.txt, without comments and XMP."""
    at = 13 + _palette_size(data[10])
    yield data[:at]
    while data[at] != 0x3B:
        start = at
        if data[at] == 0x21:
            label, at = data[at + 1], at + 2
        elif data[at] == 0x2C:
            label, at = 0, at + 11 + _palette_size(data[at + 9])  # with the byte of the code size
        else:
            raise ValueError("no block")
        name = data[at + 1 : at + 12] if label == 0xFF else b""
        while data[at]:
            at += data[at] + 1
        at += 1
        if label != 0xFE and (label != 0xFF or name in (b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012")):
            yield data[start:at]
    yield b"\x3b"


def _palette_size(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


_STRIPPERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/png": _png,
    "image/webp": _webp,
}
