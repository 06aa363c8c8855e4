"""HTML pages: their text as Markdown, with the pictures that the page itself holds (data: URLs)."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from ...common.sniffing import UNICODE_MARKS
from ..blocks import Block, BlockPlace, GuessedEncoding, LostContent, MarkdownText, Picture
from ..format_handler import DocumentFile
from ..text_decoding import codec_of, guessed_encoding
from .markup import Page, html_blocks
from .vocabulary import HTML

VOCABULARY = HTML
_DECLARED = re.compile(
    rb"""<(?:meta\b[^>]{0,500}?charset|\?xml\b[^>]{0,200}?encoding)\s*+=\s*+["']?\s*+([\w.:-]{1,40})""", re.IGNORECASE
)
_DATA_URL = re.compile(r"data:image/[\w.+-]+((?:;[\w=.-]+)*),(.*)", re.DOTALL | re.IGNORECASE)
_SAMPLE = 1 << 17


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a page."""
    yield from page_blocks(file.data, Page(file.work, file.losses, _picture))


def page_blocks(data: bytes, page: Page, declared: str | None = None) -> Iterator[Block]:
    """Yields the blocks of a page, and its encoding if that was guessed. `declared` is the one that a mail gives it."""
    codec, is_guess = encoding_of(data, declared)
    if is_guess:
        yield GuessedEncoding(codec)
    yield from html_blocks(data, codec, page)


def encoding_of(data: bytes, declared: str | None = None) -> tuple[str, bool]:
    """Returns the codec of a page, and whether it was guessed: what the page begins with counts before `declared`."""
    for mark, name in UNICODE_MARKS.items():
        if data.startswith(mark):
            return name, False
    for label in (declared, _declared(data)):
        codec = codec_of(label)
        if codec is not None:
            # A page that could say so in bytes of ASCII is not in UTF-16.
            return ("utf-8" if codec.startswith("utf-16") and b"\0" not in data[:100] else codec), False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return guessed_encoding(data[:_SAMPLE]) or "cp1252", True
    return "utf-8", False


def _declared(data: bytes) -> str | None:
    found = _DECLARED.search(data[:4096])
    return found[1].decode() if found else None


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
