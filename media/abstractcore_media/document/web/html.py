"""HTML pages: their text as Markdown, with the pictures that the page itself holds (data: URLs)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from ...common.sniffing import UNICODE_MARKS
from ..blocks import NOWHERE, Block, BlockPlace, LostContent, MarkdownText, Picture
from ..format_handler import DocumentFile
from .markup import html_blocks

_DECLARED = re.compile(rb"<meta[^>]{0,200}charset|<\?xml[^>]{0,200}encoding", re.IGNORECASE)
_DATA_URL = re.compile(r"data:image/[\w.+-]+((?:;[\w=.-]+)*),(.*)", re.DOTALL | re.IGNORECASE)


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a page."""
    yield from html_blocks(file.data, file.work, encoding_of(file.data), NOWHERE, _picture)


def encoding_of(data: bytes) -> str | None:
    """Returns the encoding that a page has if it declares none; None if it declares one."""
    for mark, name in UNICODE_MARKS.items():
        if data.startswith(mark):
            return name.removesuffix("-sig")
    if _DECLARED.search(data[:4096]):
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _picture(address: str, alt: str, place: BlockPlace) -> Block | None:
    data = data_of(address)
    if data:
        return Picture(data, "picture in the page", place, alt)
    if alt.strip():
        return MarkdownText(f"[picture: {alt.strip()}]", place)
    return LostContent("pictures", 1, where=address[:100]) if address else None


def data_of(address: str) -> bytes:
    """Returns the content of a data: URL of an image, b"" for any other address."""
    found = _DATA_URL.match(address)
    if found is None:
        return b""
    content = unquote_to_bytes(found[2])
    if "base64" not in found[1].lower():
        return content
    try:
        return base64.b64decode(content)
    except (binascii.Error, ValueError):
        return b""
