"""Whether a file ends too early, by what its format has at the end: parsers read a cut file as if it were complete.

Plain text and Markdown have no end: they are never taken for cut.
"""

from __future__ import annotations

import codecs
import re
import struct
from collections import Counter
from xml.parsers import expat

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_HEADER, _FAT_IN_HEADER, _NO_SECTOR, _CHAIN_END = 512, 109, 0xFFFFFFFA, 0xFFFFFFFE
_FREE = (0xFFFFFFFF, 0)
"""Sectors that are free; some programs write 0, or the end of a chain, for them."""
_RTF_ESCAPED = re.compile(rb"\\[\\{}]")
_RTF_BINARY = re.compile(rb"\\bin([0-9]{1,9}) ?")
_TAIL = 4_096
_HTML_END = re.compile(rb"</(?:html|body)\s*>", re.IGNORECASE)
_HTML_TAG = re.compile(
    rb"<(/?)(html|body|table|div|main|section|article|aside|header|footer|nav|form|fieldset|select|textarea|button|"
    rb"label|ul|ol|dl|blockquote|pre|figure|details|h[1-6]|a|b|i|em|strong|code|span|sub|sup|del|ins|ruby|title|"
    rb"script|style|svg|math|iframe|video|audio|object)(?=[\s/>])",
    re.IGNORECASE,
)
"""Elements whose end must be written, and the two around a page, whose end hardly anybody leaves out."""
_OPEN_TAG = re.compile(rb"<(?:[a-zA-Z/!][^<>]*)?\Z")
_XML_END = re.compile(rb"</([^\s<>]{1,200})\s*>\s*\Z")
_XML_ENDS_EARLY = frozenset(
    {
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    }
)
_JSON_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+("?)', re.DOTALL)
_JSON_ENDS = {b"{": b"}", b"[": b"]"}


def is_cut(data: bytes, media_type: str) -> bool:
    """Returns whether a file of this type is cut: whether its content should go on after its last byte."""
    if data.startswith(_OLE):
        return _is_cut_ole(data)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        if len(data) % 2:
            return True
        data = data[2:].replace(b"\0", b"")  # what ends a text is ASCII
    if media_type in ("text/rtf", "application/rtf"):
        return _is_cut_rtf(data)
    if media_type in ("text/html", "application/xhtml+xml"):
        return _is_cut_html(data)
    if media_type == "application/xml" or media_type.endswith("+xml"):
        return _is_cut_xml(data)
    if media_type == "application/json" or media_type.endswith("+json"):
        return _is_cut_json(data)
    return False


def _is_cut_ole(data: bytes) -> bool:
    """Returns whether the file allocation table uses sectors after the end of the file (MS-CFB 2.2 to 2.5)."""
    if len(data) < _OLE_HEADER:
        return True
    (shift,) = struct.unpack_from("<H", data, 30)
    (count, chained) = struct.unpack_from("<I20xI", data, 44)
    if shift not in (9, 12):
        return False  # not a file of this format: its reader raises an error
    size = 1 << shift
    numbers = list(struct.unpack_from(f"<{_FAT_IN_HEADER}I", data, 76))
    for _ in range(len(data) >> shift):
        if len(numbers) >= count or chained >= _NO_SECTOR:
            break
        part = data[(chained + 1) << shift : (chained + 2) << shift]
        if len(part) < size:
            return True
        *more, chained = struct.unpack(f"<{size // 4}I", part)
        numbers += more
    tables = [number for number in numbers[:count] if number < _NO_SECTOR]
    for index in range(len(tables) - 1, -1, -1):
        table = data[(tables[index] + 1) << shift : (tables[index] + 2) << shift]
        if len(table) < size:
            return True
        entries = struct.unpack(f"<{size // 4}I", table)
        used = len(entries)
        while used and entries[used - 1] in _FREE:
            used -= 1
        while used > 1 and entries[used - 1] == entries[used - 2] == _CHAIN_END:
            used -= 1
        if used:
            return len(data) <= (index * (size // 4) + used) << shift
    return False


def _is_cut_rtf(data: bytes) -> bool:
    """Returns whether groups are open at the end."""
    pieces: list[bytes] = []
    at = 0
    while (found := _RTF_BINARY.search(data, at)) is not None:
        pieces.append(data[at : found.start()])
        at = found.end() + int(found[1])
    source = _RTF_ESCAPED.sub(b"", b"".join((*pieces, data[at:])))
    return at > len(data) or source.count(b"{") > source.count(b"}")


def _is_cut_html(data: bytes) -> bool:
    """Returns whether a page ends in a tag, or elements are open at its end."""
    tail = data[-_TAIL:]
    if b"<" in tail and _OPEN_TAG.match(tail, tail.rfind(b"<")):
        return True
    if _HTML_END.search(tail):
        return False
    is_open: Counter[bytes] = Counter()
    for found in _HTML_TAG.finditer(data):
        is_open[found[2].lower()] += -1 if found[1] else 1
    return any(count > 0 for count in is_open.values())


def _is_cut_xml(data: bytes) -> bool:
    """Returns whether the root is open at the end. Only an end that is not that of the first elements is parsed."""
    end = _XML_END.search(data[-_TAIL:])
    if end is not None and b"<" + end[1] in data[:_TAIL]:
        return False
    parser = expat.ParserCreate()
    parser.EntityDeclHandler = _refuse_entity
    try:
        for start in range(0, len(data), 1 << 16):
            parser.Parse(data[start : start + (1 << 16)], False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError) as error:
        return str(error).partition(":")[0] in _XML_ENDS_EARLY
    return False


def _refuse_entity(*_: object) -> None:
    raise ValueError("entities may become something huge")


def _is_cut_json(data: bytes) -> bool:
    """Returns whether a string, an object or a list is open at the end."""
    data = data.removeprefix(codecs.BOM_UTF8).strip()
    if data.endswith(_JSON_ENDS.get(data[:1], b"\0")) and _open_in_json(data) == 0:
        return False
    rest, strings = _JSON_STRING.subn(rb"\1", data)
    return _open_in_json(rest) > 0 or strings > rest.count(b'"')


def _open_in_json(data: bytes) -> int:
    return sum(data.count(start) - data.count(end) for start, end in _JSON_ENDS.items())
