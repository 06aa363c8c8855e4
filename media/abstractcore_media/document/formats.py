"""The document formats, a row each: what files of it are called, and the module that reads them."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.ports import Fallback

from .format_handler import AS_GLYPHS, AS_TEXT, DocumentFormat

_OFFICE = "application/vnd.openxmlformats-officedocument."
_OASIS = "application/vnd.oasis.opendocument."
_SOURCE = (AS_TEXT, Fallback("source", frozenset({"text"})), AS_GLYPHS)


def _format(name: str, title: str, module: str, *media_types: str) -> DocumentFormat:
    return DocumentFormat(name, title, module, frozenset(media_types))


def _text_format(name: str, title: str, module: str, *media_types: str) -> DocumentFormat:
    return DocumentFormat(name, title, module, frozenset(media_types), "text", _SOURCE)


def _isolated(format: DocumentFormat) -> DocumentFormat:
    """Returns a format whose library, in C, C++ or Rust or without limits, runs in a process of its own."""
    return replace(format, is_isolated=True)


def _needing(package: str, module: str, format: DocumentFormat) -> DocumentFormat:
    """Returns a format that is read by an optional package."""
    text, *others = format.fallbacks
    return replace(format, fallbacks=(replace(text, packages={package: module}), *others))


FORMATS = (
    _format("docx", "Word document", "office.docx", _OFFICE + "wordprocessingml.document"),
    _format("pptx", "PowerPoint presentation", "office.pptx", _OFFICE + "presentationml.presentation"),
    _format("xlsx", "Excel workbook", "office.xlsx", _OFFICE + "spreadsheetml.sheet"),
    _format("odt", "OpenDocument text", "opendocument.text", _OASIS + "text"),
    _format("ods", "OpenDocument spreadsheet", "opendocument.spreadsheet", _OASIS + "spreadsheet"),
    _format("odp", "OpenDocument presentation", "opendocument.presentation", _OASIS + "presentation"),
    _needing("firecrawl-anydoc", "anydoc", _isolated(_format("rtf", "document", "rtf", "text/rtf", "application/rtf"))),
    _needing("olefile", "olefile",
             _isolated(_format("doc", "Word document", "office_binary.doc", "application/msword"))),
    _needing("olefile", "olefile", _isolated(_format("ppt", "PowerPoint presentation", "office_binary.ppt",
                                                     "application/vnd.ms-powerpoint"))),
    _needing("xlrd", "xlrd",
             _isolated(_format("xls", "Excel workbook", "office_binary.xls", "application/vnd.ms-excel"))),
    _isolated(_format("epub", "EPUB book", "web.epub", "application/epub+zip")),
    _isolated(_format("eml", "mail", "mail.eml", "message/rfc822")),
    _needing("olefile", "olefile",
             _isolated(_format("msg", "Outlook mail", "mail.msg", "application/vnd.ms-outlook"))),
    _format("archive", "archive", "archive", "application/zip", "application/x-tar", "application/gzip",
            "application/x-bzip2", "application/x-xz"),
    _needing("lxml", "lxml",
             _isolated(_text_format("html", "HTML page", "web.html", "text/html", "application/xhtml+xml"))),
    _text_format("csv", "table", "delimited", "text/csv", "text/tab-separated-values"),
    _text_format("notebook", "notebook", "notebook", "application/x-ipynb+json"),
)  # fmt: skip
