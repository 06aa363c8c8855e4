"""Texts in PNG files: `iTXt` chunks (PNG specification, section 11.3.3.4)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_MOST_TEXT = 8 << 20
"""Bytes of a text once it is decompressed."""


def with_text(png: bytes, keyword: str, text: str) -> bytes:
    """Returns a PNG file with a compressed text added before its end."""
    body = keyword.encode("latin-1") + b"\0\1\0\0\0" + zlib.compress(text.encode(), 9)
    end = png.rindex(b"IEND") - 4
    return png[:end] + _chunk(b"iTXt", body) + png[end:]


def text_of(png: bytes, keyword: str) -> str | None:
    """Returns the text with that keyword; None if the file has none that can be read, or is not a PNG file."""
    for kind, body in _chunks(png):
        name, _, rest = body.partition(b"\0")
        if kind != b"iTXt" or name != keyword.encode("latin-1") or len(rest) < 2:
            continue
        content = rest[2:].split(b"\0", 2)[-1]
        try:
            return (_decompressed(content) if rest[0] else content).decode()
        except (zlib.error, ValueError):
            return None
    return None


def _decompressed(content: bytes) -> bytes:
    reader = zlib.decompressobj()
    text = reader.decompress(content, _MOST_TEXT)
    if not reader.eof:
        raise ValueError("the text is incomplete or too long")
    return text


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    position = len(_SIGNATURE)
    if png[:position] != _SIGNATURE:
        return
    while position + 12 <= len(png):
        size = struct.unpack_from(">I", png, position)[0]
        yield png[position + 4 : position + 8], png[position + 8 : position + 8 + size]
        position += 12 + size
