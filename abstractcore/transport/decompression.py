"""Incremental decompression of bodies in gzip and deflate.

The HTTP libraries' own decoders differ: httpx2's stops after the first member of a gzip body, of which there may be
several (RFC 1952, section 2.2).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

_LONGEST_PIECE = 1024 * 1024
"""The maximum output of one step: a kilobyte may decompress to a megabyte."""
_GZIP = zlib.MAX_WBITS | 16
_DEFLATE_METHOD = 8


class Decompressor:
    """Decompresses one body."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._member: Any = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the decompressed data, up to a megabyte at a time. Raises `zlib.error`."""
        while data:
            if self._member is None:
                self._member = zlib.decompressobj(self._window(data))
            elif self._member.eof:
                data = data.lstrip(b"\0")  # padding, as in files of whole blocks
                if not data:
                    return
                self._member = zlib.decompressobj(self._window(data))
            full = True
            while full and not self._member.eof:
                piece = self._member.decompress(data, _LONGEST_PIECE)
                if piece:
                    yield piece
                data = self._member.unconsumed_tail
                full = bool(data) or len(piece) == _LONGEST_PIECE
            data = self._member.unused_data if self._member.eof else b""

    def _window(self, data: bytes) -> int:
        """Returns zlib's `wbits`: some servers send deflate without its header (RFC 1950)."""
        if self._encoding == "gzip":
            return _GZIP
        return zlib.MAX_WBITS if data[0] & 0xF == _DEFLATE_METHOD else -zlib.MAX_WBITS


def decompressor_for(headers: Mapping[str, str]) -> Decompressor | None:
    """Returns the decompressor for a response with these headers, or None if its body is not compressed. The encoding
    must be one of `ENCODINGS`.
    """
    encoding = headers.get("content-encoding", "").strip().lower()
    return Decompressor(encoding) if encoding in ("gzip", "deflate") else None
