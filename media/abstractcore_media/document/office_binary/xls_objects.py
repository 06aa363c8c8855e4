"""What an XLS file has beside its cells, which xlrd does not give: texts for printing, and what is counted (MS-XLS)."""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from typing import Any, cast

from ..blocks import BlockPlace, MarkdownText
from ..office.sheet_parts import printed_words
from ..vocabularies import FormatVocabulary, LossCounter

XLS = FormatVocabulary(
    source="the records of BIFF that xlrd names, and the types of objects in MS-XLS 2.5.143",
    read={
        "values of cells, by their formats": """
            BLANK BOOLERR FORMULA LABEL LABELSST MULBLANK MULRK NUMBER RK RSTRING SST STRING FORMAT XF FONT DATEMODE
            PALETTE STYLE CODEPAGE CONTINUE""",
        "sheets, hidden ones too": "BOUNDSHEET BOF EOF",
        "hidden rows and columns, with a mark": "ROW COLINFO",
        "links": "HLINK",
        "comments": "NOTE object:note",
    },
    converted={"headers and footers of sheets to [header for printing: ...]": "HEADER FOOTER"},
    lost={
        "charts": "object:chart",
        "pictures and embedded objects": "object:picture",
        "text boxes and shapes": "object:text object:rectangle object:oval object:polygon object:shape",
        "form controls": """
            object:button object:checkbox object:option object:edit object:label object:dialog object:spinner
            object:scrollbar object:list object:groupbox""",
        "sheets of charts and macros": "other_sheet",
        "lists of choices and input messages of cells": "DV",
        "macros": "macros",
    },
    left_out={
        "lines, groups, and buttons of lists and filters": "object:line object:arc object:group object:dropdown",
        "formulas, whose values are read": "ARRAY SHRFMLA TABLEOP NAME EXTERNNAME EXTERNSHEET SUPBOOK XCT CRN",
        "backgrounds of sheets": "BITMAP",
        "rules of conditional formats": "CF CONDFMT",
    },
    properties="""
        AUTOFILTER AUTOFILTERINFO BACKUP BOOKBOOL BOTTOMMARGIN BUILTINFMTCOUNT CALCCOUNT CALCMODE COUNTRY DBCELL DCONREF
        DEFAULTROWHEIGHT DEFCOLWIDTH DELTA DIMENSIONS DSF DVAL EXTERNCOUNT EXTSST FILEPASS FILESHARING FILTERMODE
        FNGROUPCOUNT GCW GRIDSET GUTS HCENTER HIDEOBJ HORIZONTALPAGEBREAKS INDEX INTERFACEEND INTERFACEHDR ITERATION
        LABELRANGES LEFTMARGIN MERGEDCELLS MMS MSO_DRAWING MSO_DRAWING_GROUP MSO_DRAWING_SELECTION OBJECT OBJECTPROTECT
        PANE PASSWORD PASSWORDREV4 PHONETIC PLS PRECISION PRINTGRIDLINES PRINTHEADERS PROTECT PROTECTIONREV4 QUICKTIP
        RANGEPROTECTION RECALCID REFMODE REFRESHALL RIGHTMARGIN SAVERECALC SCENPROTECT SCL SELECTION SETUP SHEETHDR
        SHEETLAYOUT SHEETPROTECTION SHEETSOFFSET SORT STANDARDWIDTH TABID TOPMARGIN TXO UNCALCED USESELFS VCENTER
        VERTICALPAGEBREAKS WINDOW1 WINDOW2 WINDOWPROTECT WRITEACCESS WRITEPROT WSBOOL XL9FILE""",
)
_OBJECT = re.compile(rb"\x5d\x00..\x15\x00\x12\x00(..)", re.DOTALL)
"""The beginning of the record of an object (BIFF8), with its type."""
_TYPES = {
    0: "group",
    1: "line",
    2: "rectangle",
    3: "oval",
    4: "arc",
    5: "chart",
    6: "text",
    7: "button",
    8: "picture",
    9: "polygon",
    11: "checkbox",
    12: "option",
    13: "edit",
    14: "label",
    15: "dialog",
    16: "spinner",
    17: "scrollbar",
    18: "list",
    19: "groupbox",
    20: "dropdown",
    25: "note",
    30: "shape",
}
_VALIDATIONS = re.compile(rb"\xb2\x01\x12\x00.{14}(..)\x00\x00(?=\xbe\x01)", re.DOTALL)
"""The record before the rules of input of a sheet, with their number."""
_TYPE_OF_INPUT, _LIST_OF_CHOICES, _SHOWS_MESSAGE = 0xF, 3, 1 << 18
_KINDS = {0x0A: "EOF", 0x14: "HEADER", 0x15: "FOOTER", 0x85: "BOUNDSHEET", 0x200: "DIMENSIONS"}
_MAX_RECORDS, _MAX_RULES = 100_000, 10_000
_WORKSHEET, _SHEET_HEADER = 0, 8
_BIFF8 = 80
_MACROS = "_VBA_PROJECT_CUR".encode("utf-16-le")


def beside_cells(book: Any, data: bytes, losses: LossCounter) -> dict[str, list[MarkdownText]]:
    """Returns the texts for printing of each sheet of Excel 97 or later, and counts what else is beside its cells."""
    if _MACROS in data:
        losses.meet("macros")
    if book.biff_version != _BIFF8:
        return {}
    records, base = cast(bytes, book.mem), cast(int, book.base)
    sheets: list[tuple[int, str]] = []
    for kind, content in _records(records, base, "EOF"):
        if kind == "BOUNDSHEET" and len(content) > _SHEET_HEADER:
            start, _, type = struct.unpack_from("<IBB", content)
            name = _text(content[6], content[7:])
            sheets.append((base + start, name))
            if type != _WORKSHEET:
                losses.meet("other_sheet", f"sheet {name}")
    sheets.sort()
    for found in _OBJECT.finditer(records, base):
        (type,) = struct.unpack("<H", found[1])
        if type in _TYPES:
            losses.meet(f"object:{_TYPES[type]}", _place(sheets, found.start()))
    for found in _VALIDATIONS.finditer(records, base):
        number = min(int.from_bytes(found[1], "little"), _MAX_RULES)
        for _, content in islice(_records(records, found.end(), "EOF"), number):
            flags = int.from_bytes(content[:4], "little")
            if flags & _TYPE_OF_INPUT == _LIST_OF_CHOICES or (flags & _SHOWS_MESSAGE and _has_message(content)):
                losses.meet("DV", _place(sheets, found.start()))
    return {name: list(_printed(records, start, name)) for start, name in sheets}


def _printed(records: bytes, start: int, sheet: str) -> Iterator[MarkdownText]:
    for kind, content in _records(records, start, "DIMENSIONS"):
        if kind in ("HEADER", "FOOTER") and len(content) > 3:
            words = printed_words(_text(int.from_bytes(content[:2], "little"), content[2:]))
            if words:
                yield MarkdownText(f"[{kind.lower()} for printing: {words}]", BlockPlace(sheet=sheet), "printed")


def _place(sheets: list[tuple[int, str]], place: int) -> str:
    index = bisect_right(sheets, place, key=itemgetter(0)) - 1
    return f"sheet {sheets[index][1]}" if index >= 0 else ""


def _text(length: int, content: bytes) -> str:
    """Returns a text whose first byte says if its characters have two bytes (XLUnicodeString)."""
    is_wide = bool(content[:1]) and content[0] & 1
    size, encoding = (2 * length, "utf-16-le") if is_wide else (length, "latin-1")
    return content[1 : 1 + size].decode(encoding, "replace")


def _has_message(content: bytes) -> bool:
    """Returns whether a rule of input has a message, or its title, of more than the one NUL that stands for none."""
    at = 4
    for index in range(3):
        length = int.from_bytes(content[at : at + 2], "little")
        text = _text(length, content[at + 2 :])
        if index in (0, 2) and text.strip("\0"):
            return True
        at += 3 + (2 * length if content[at + 2 : at + 3] and content[at + 2] & 1 else length)
    return False


def _records(data: bytes, place: int, last: str) -> Iterator[tuple[str, bytes]]:
    """Yields the kind, or "", and the content of each record from a place on, up to one of the last kind."""
    for _ in range(_MAX_RECORDS):
        if place < 0 or place + 4 > len(data):
            return
        number, size = struct.unpack_from("<HH", data, place)
        kind = _KINDS.get(number, "")
        if kind == last:
            return
        yield kind, data[place + 4 : place + 4 + size]
        place += 4 + size
