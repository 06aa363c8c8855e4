"""Images of pages, or of parts of them, as PNG, at the size at which they can be read."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

_DOTS_PER_POINT = 200 / 72
_MAX_SIDE = 2200
"""Pixels of the longer side of an image: what OCR and vision models make use of."""
_SHORT_SIDE = 1000
"""Pixels of the shorter side of a long page, such as a receipt: it is read in parts."""
_MAX_PIXELS = 25_000_000


def png_of(page: Any, place: Sequence[float]) -> bytes | None:
    """Returns a PNG of a part of a page of pypdfium2, given as shares of it; None for a blank one."""
    width, height = page.get_size()
    left, top, right, bottom = place
    crop = (left * width, (1 - bottom) * height, (1 - right) * width, top * height)
    bitmap = page.render(scale=_scale((right - left) * width, (bottom - top) * height), crop=crop, rev_byteorder=True)
    try:
        return _png(bitmap)
    finally:
        bitmap.close()


def _scale(width: float, height: float) -> float:
    """Returns the pixels for a point of a part of a page of that size in points."""
    shorter, longer = sorted((max(width, 1.0), max(height, 1.0)))
    affordable = math.sqrt(_MAX_PIXELS / (shorter * longer))
    return min(_DOTS_PER_POINT, max(_MAX_SIDE / longer, _SHORT_SIDE / shorter), affordable)


def _png(bitmap: Any) -> bytes | None:
    width, channels, stride = bitmap.width, bitmap.n_channels, bitmap.stride
    pixels = memoryview(bitmap.buffer).cast("B")
    first = bytes(pixels[: width * channels])
    is_blank = len(set(first)) <= 1
    packer = zlib.compressobj(3)
    packed: list[bytes] = []
    for start in range(0, stride * bitmap.height, stride):
        row = bytes(pixels[start : start + width * channels])
        is_blank = is_blank and row == first
        packed.append(packer.compress(b"\0" + (_without_alpha(row) if channels == 4 else row)))
    if is_blank:
        return None
    packed.append(packer.flush())
    header = struct.pack(">IIBBBBB", width, bitmap.height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", b"".join(packed)), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _without_alpha(row: bytes) -> bytes:
    kept = bytearray(len(row) // 4 * 3)
    for channel in range(3):
        kept[channel::3] = row[channel::4]
    return bytes(kept)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
