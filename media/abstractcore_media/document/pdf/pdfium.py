"""PDFium's functions, called through ctypes without the conversions of pypdfium2, which take longer than the calls."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from ...common.extras import missing_extra
from ...common.processes import PerProcess
from .opening import corrupt, wrong_password

PDFIUM = PerProcess(threading.Lock)
"""PDFium must not be used by two threads at once."""
_WRONG_PASSWORD = 4
_TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "i": ctypes.c_int,
    "u": ctypes.c_ulong,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
    "s": ctypes.c_char_p,
}
_SIGNATURES = """
FPDF_LoadPage p pi | FPDF_ClosePage i p | FPDF_GetPageBoundingBox i pp | FPDFPage_GetRotation i p
FPDFText_LoadPage p p | FPDFText_ClosePage i p | FPDFText_CountChars i p | FPDFText_GetText i piip
FPDFText_GetUnicode i pi | FPDFText_GetTextObject p pi | FPDFText_GetLooseCharBox i pip
FPDFText_GetCharBox i pipppp | FPDFText_GetCharOrigin i pipp | FPDFText_GetFontSize d pi | FPDFText_GetMatrix i pip
FPDFTextObj_GetTextRenderMode i p | FPDFTextObj_GetFont p p | FPDFFont_GetIsEmbedded i p
FPDFPageObj_GetFillColor i ppppp | FPDFPageObj_GetType i p
FPDFPage_CountObjects i p | FPDFPage_GetObject p pi | FPDFFormObj_CountObjects i p | FPDFFormObj_GetObject p pu
FPDFPageObj_GetBounds i ppppp | FPDFPageObj_GetMatrix i pp | FPDFPath_CountSegments i p
FPDFPath_GetPathSegment p pi | FPDFPathSegment_GetPoint i ppp | FPDFPathSegment_GetType i p
FPDFPath_GetDrawMode i ppp | FPDFPage_GetAnnotCount i p | FPDFPage_GetAnnot p pi | FPDFPage_CloseAnnot i p
FPDFAnnot_GetSubtype i p | FPDFAnnot_GetRect i pp | FPDFAnnot_GetFlags i p | FPDFAnnot_GetStringValue u pspu
FPDFAnnot_GetLink p p | FPDFLink_GetAction p p | FPDFAction_GetURIPath u pppu
FPDFAnnot_CountAttachmentPoints u p | FPDFAnnot_GetAttachmentPoints i pup
FPDFAnnot_GetFormFieldType i pp | FPDFAnnot_GetFormFieldName u pppu | FPDFAnnot_GetFormFieldAlternateName u pppu
FPDFAnnot_GetFormFieldValue u pppu | FPDFAnnot_GetFormFieldFlags i pp | FPDFAnnot_GetFormFieldExportValue u pppu
FPDFAnnot_GetOptionCount i pp | FPDFAnnot_GetOptionLabel u ppipu | FPDFAnnot_IsOptionSelected i ppi
FPDFAnnot_GetFileAttachment p p
FPDFPageObj_SetIsActive i pi | FPDFBitmap_CreateEx p iiipi | FPDFBitmap_Destroy i p
FPDF_RenderPageBitmap i ppiiiiii | FPDFPageObj_GetClipPath p p | FPDFClipPath_CountPaths i p
FPDFClipPath_CountPathSegments i pi | FPDFClipPath_GetPathSegment p pii
FPDFDoc_GetAttachmentCount i p | FPDFDoc_GetAttachment p pi | FPDFAttachment_GetName u ppu
FPDFAttachment_GetFile i ppup | FPDF_GetFormType i p | FPDF_DocumentHasValidCrossReferenceTable i p
FPDF_GetXFAPacketCount i p | FPDF_GetXFAPacketName u pipu | FPDF_GetXFAPacketContent i pipup
FPDFBookmark_GetFirstChild p pp | FPDFBookmark_GetNextSibling p pp | FPDFBookmark_GetTitle u ppu
FPDFBookmark_GetDest p pp | FPDFDest_GetDestPageIndex i pp
"""
"""The type of the result and of each argument."""


@cache
def functions() -> Any:
    """Returns the functions of PDFium by name. Handles and addresses are integers, and 0 or None is none."""
    raw = import_module("pypdfium2.raw")
    found: dict[str, Any] = {}
    for line in _SIGNATURES.replace("\n", "|").split("|"):
        if line.strip():
            name, result, arguments = line.split()
            address = ctypes.cast(getattr(raw, name), ctypes.c_void_p).value
            found[name] = ctypes.CFUNCTYPE(_TYPES[result], *(_TYPES[each] for each in arguments))(cast(int, address))
    return type("PdfiumFunctions", (), {name: staticmethod(function) for name, function in found.items()})


def address_of(handle: Any) -> int:
    """Returns the address of a handle of pypdfium2."""
    return ctypes.cast(getattr(handle, "raw", handle), ctypes.c_void_p).value or 0


def string_of(function: Any, *arguments: Any) -> str:
    """Returns the text that a function writes into a buffer, UTF-16 with a zero at its end."""
    size = function(*arguments, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.addressof(buffer), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")


@contextmanager
def opened_page(document: Any, number: int) -> Generator[int]:
    """Opens a page, which counts from 1, of a document of pypdfium2."""
    page = functions().FPDF_LoadPage(address_of(document), number - 1)
    if not page:
        raise ValueError("the page cannot be loaded")
    try:
        yield page
    finally:
        functions().FPDF_ClosePage(page)


def check_installed() -> None:
    """Raises `MissingExtraError` without pypdfium2, before a process is started for it."""
    if find_spec("pypdfium2") is None:
        raise missing_extra("Reading PDF files", "pypdfium2", "documents")


def open_document(data: bytes, password: str | None, source: str) -> Any:
    """Returns the document of pypdfium2; raises `MediaError` if it is corrupt or encrypted."""
    check_installed()
    pypdfium2 = cast(Any, import_module("pypdfium2"))  # it has no types
    with PDFIUM.get():
        try:
            return pypdfium2.PdfDocument(data, password=password)
        except pypdfium2.PdfiumError as error:
            if getattr(error, "err_code", None) == _WRONG_PASSWORD:
                raise wrong_password(source, password) from error
            raise corrupt(source) from error
