"""Cuts pages out of a PDF: a file with these pages, and nothing of the others."""

from __future__ import annotations

import io
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from abstractcore.ports import chosen_pages
from abstractcore.schema import MediaPart

from ...common.content import content_of, source_of
from .opening import check_ends, explained, open_pdf

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader, PdfWriter

SECONDS = 60.0
"""The limit for cutting one file."""
_OF_OTHER_PAGES = ("/A", "/AA", "/Dest", "/IRT", "/P", "/Parent", "/Popup")
"""What leads from a link, a comment or a field of a form to other pages; how it looks is in its `/AP`."""
_OF_THE_DOCUMENT = ("/AA", "/B", "/Metadata", "/PieceInfo")
"""What leads from a page to others, and what other programs keep in it. The writer drops `/Parent` and
`/StructParents`.
"""


def cut_pages(part: MediaPart, password: str | None) -> Generator[tuple[list[int], bytes], Any, None]:
    """Yields the numbers of the pages that the controls of a PDF name, and a PDF with these pages, without a password.

    Raises `MediaError` for one that has not all of these pages, or that is corrupt or encrypted, and
    `MissingExtraError` without pypdf.
    """
    data, source = content_of(part), source_of(part)
    check_ends(data, source)
    reader = open_pdf(data, source, password)
    with explained(source):
        numbers = list(chosen_pages(part.controls, len(reader.pages), source))
        yield numbers, _written(reader, numbers)


def _written(reader: PdfReader, numbers: list[int]) -> bytes:
    from pypdf import PdfWriter

    writer = PdfWriter()
    for number in numbers:
        page = reader.pages[number - 1]
        _detach(page)
        writer.add_page(page, excluded_keys=_OF_THE_DOCUMENT)
    _keep_layers(reader, writer)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _detach(page: PageObject) -> None:
    """Removes what would take other pages along into the new file."""
    for annotation in page.annotations or ():
        found = annotation.get_object()
        for name in _OF_OTHER_PAGES:
            found.pop(name, None)


def _keep_layers(reader: PdfReader, writer: PdfWriter) -> None:
    """Takes over which layers are hidden: without that, all are shown."""
    from pypdf.generic import NameObject

    name = NameObject("/OCProperties")
    layers = reader.root_object.get(name)
    if layers is not None:
        writer.root_object[name] = layers.get_object().clone(writer)
