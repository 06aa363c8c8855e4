"""The form of a PDF: whether it is small enough to be read, and the values that only an XFA form has."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any
from xml.etree.ElementTree import Element

from ..blocks import clean
from ..xml_elements import XmlError, elements
from .opening import parts_with_objects
from .pdfium import address_of, functions

_NAME_OF_FIELD = re.compile(rb"/T\s{0,9}[(<]")
_MAX_FIELDS = 10_000
"""Fields of a form that PDFium reads: its time grows with their square."""
_MAX_XML = 20_000_000
_MAX_VALUES = 10_000
_DYNAMIC, _STATIC = 2, 3
"""FORMTYPE_XFA_FULL and FORMTYPE_XFA_FOREGROUND: forms whose pages one program draws, and forms whose pages are in the
file.
"""


def begin_form(document: Any, data: bytes) -> None:
    """Lets PDFium read the form of a document of pypdfium2, unless it has too many fields, which it then reads as of an
    unknown kind.
    """
    if functions().FPDF_GetFormType(address_of(document)) and not _has_many_fields(data):
        document.init_forms()


def _has_many_fields(data: bytes) -> bool:
    """Returns whether many fields have a name, in the file as it is, or in its compressed objects."""
    names = 0
    for part in parts_with_objects(data):
        names += sum(1 for _ in islice(_NAME_OF_FIELD.finditer(part), _MAX_FIELDS + 1))
        if names > _MAX_FIELDS:
            return True
    return False


def xfa_form(document: Any, filled_fields: int) -> tuple[list[str], int, bool]:
    """Returns the values of an XFA form as lines, if no other fields have any, how many more there are, and whether the
    form cannot be shown. A PDF without such a form has none.
    """
    kind = functions().FPDF_GetFormType(address_of(document))
    if kind not in (_DYNAMIC, _STATIC):
        return [], 0, False
    lines: list[str] = []
    if not filled_fields:
        with suppress(XmlError):
            lines = [line for xml in _data_packets(address_of(document)) for line in _lines_of(xml)]
    is_lost = kind == _DYNAMIC or not (filled_fields or lines)
    return lines[:_MAX_VALUES], max(0, len(lines) - _MAX_VALUES), is_lost


def _data_packets(document: int) -> Iterator[bytes]:
    """Yields the XML with the values; older forms have one packet of everything."""
    call = functions()
    size = ctypes.c_ulong()
    for index in range(max(0, call.FPDF_GetXFAPacketCount(document))):
        name = ctypes.create_string_buffer(20)
        length = call.FPDF_GetXFAPacketName(document, index, ctypes.addressof(name), len(name))
        if length <= len(name) and name.value in (b"", b"datasets"):
            call.FPDF_GetXFAPacketContent(document, index, None, 0, ctypes.addressof(size))
            if 0 < size.value <= _MAX_XML:
                buffer = ctypes.create_string_buffer(size.value)
                at = ctypes.addressof(buffer)
                call.FPDF_GetXFAPacketContent(document, index, at, size.value, ctypes.addressof(size))
                yield buffer.raw


def _lines_of(xml: bytes) -> Iterator[str]:
    for found in elements([xml], frozenset({"datasets"})):
        for data in found.findall("data"):
            for form in data:
                yield from _values(form, "")


def _values(element: Element, path: str) -> Iterator[str]:
    """Yields "Group.Name: value" for each element with a text; rich text is one value."""
    for each in element:
        name = f"{path}{each.tag}"
        if len(each) and each.find("body") is None:
            yield from _values(each, f"{name}.")
        elif value := " ".join(clean("".join(each.itertext())).split()):
            yield f"{clean(name)}: {value}"
