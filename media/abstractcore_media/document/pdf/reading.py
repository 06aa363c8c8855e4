"""Reads and draws pages of PDF files by PDFium, in a process of its own where there is one.

`handler.py` makes the text of a file from them.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from abstractcore.errors import AbstractCoreError, CorruptFileError, MediaError
from abstractcore.schema import MediaPart

from ...common.content import content_of, source_of
from ..block_values import block_of, values_of
from ..blocks import BlockPlace, MarkdownText, clean
from .annotations import AttachedFiles
from .continued import PageTable, with_head
from .forms import begin_form, xfa_form
from .opening import corrupt, has_objects_after_its_end, open_pdf, parts_with_objects
from .outline import outline_of
from .page import PageContent, content_of_page, is_readable
from .page_image import png_of
from .pdfium import PDFIUM, address_of, check_installed, functions, open_document

if TYPE_CHECKING:
    from pypdf import PdfReader

    from abstractcore.ports import MediaContext

_SECONDS_PER_PAGE = 60.0
_OFF = re.compile(rb"/OFF\b(?!\s{0,9}\[\s{0,9}\])")
"""What stands in each file with layers that are switched off, and in hardly any other one."""
_MAX_CRASHES = 5
"""Pages that may crash PDFium before the others are lost too."""
_MORE = 1.3
"""How many more letters pypdf finds where PDFium drops some."""


def counted_pages(part: MediaPart) -> Generator[int, Any, None]:
    """Yields the number of pages of a PDF; raises `MediaError` if it is corrupt or encrypted."""
    source = source_of(part)
    try:
        document = _PdfiumDocument(part, None)
        try:
            yield document.count()
        finally:
            document.close()
    except AbstractCoreError:
        raise
    except Exception as error:  # PDFium has one exception for all that is wrong
        raise MediaError(f"the pages of {source} cannot be counted: {error}", source=source) from error


class PdfPages:
    """The pages of one PDF, which count from 1, and its files. Close it.

    Raises `MediaError` for a PDF that is corrupt or encrypted, `CorruptFileError` for a page that cannot be read or
    drawn, `MissingExtraError` without pypdfium2.
    """

    def __init__(self, part: MediaPart, context: MediaContext, seconds: float = _SECONDS_PER_PAGE) -> None:
        check_installed()
        self._source = source_of(part)
        password = context.password(part)
        self._begin = lambda: context.isolated(self._source, seconds, answered, part, password)
        self._answers = self._begin()
        self._crashes = 0
        self._last_table: tuple[int, PageTable | None] = 0, None
        self.count: int
        self.damage: str
        self.count, self.damage = next(self._answers)

    def close(self) -> None:
        """Ends reading."""
        self._answers.close()

    def outline(self) -> tuple[list[tuple[int, str, int]], int]:
        """Returns the headings that the PDF lists: their level from 0, their text, and the number of their page; and
        how many more there are.
        """
        headings, lost = self._answer("outline", 0)
        return [(level, title, page) for level, title, page in headings], lost

    def content(self, number: int) -> PageContent:
        """Returns the content of a page."""
        items, pictures, files, is_scan, tables = self._answer("content", number)
        blocks: list[Any] = [item if isinstance(item, int) else block_of(item) for item in items]
        before, table = self._last_table
        found = [PageTable(*values) for values in tables]
        self._last_table = number, with_head(blocks, found, table if before == number - 1 else None)
        places = [tuple(place) for place in pictures]
        return PageContent(blocks, places, [(name, data) for name, data in files], is_scan)

    def image(self, number: int, place: Sequence[float] = (0.0, 0.0, 1.0, 1.0)) -> bytes | None:
        """Returns a PNG of a page, or of a part of it; None for a blank one."""
        return self._answer("image", number, place)

    def files(self) -> tuple[list[tuple[str, bytes | None]], int]:
        """Returns the files that the PDF holds; None stands for the content of one that is too large; and how many more
        there are.
        """
        files, lost = self._answer("files", 0)
        return [(name, data) for name, data in files], lost

    def xfa_form(self) -> tuple[list[str], int, bool]:
        """Returns, after the contents of all pages were asked for, the values of an XFA form that no field has, how
        many more there are, and whether the form cannot be shown.
        """
        lines, lost, is_lost = self._answer("form", 0)
        return lines, lost, is_lost

    def _answer(self, wanted: str, number: int, detail: Sequence[float] = ()) -> Any:
        try:
            is_answered, answer = self._answers.send((wanted, number, list(detail)))
        except (StopIteration, CorruptFileError):
            is_answered, answer = False, "its decoder crashed"
            self._begin_again()
        if not is_answered:
            raise CorruptFileError(f"page {number} of {self._source} cannot be read: {answer}", source=self._source)
        return answer

    def _begin_again(self) -> None:
        """Opens the file in another process, for the pages after one that has crashed PDFium."""
        self._crashes += 1
        if self._crashes < _MAX_CRASHES:
            self._answers.close()
            self._answers = self._begin()
            next(self._answers)


def answered(part: MediaPart, password: str | None) -> Generator[Any, tuple[str, int, Sequence[float]], None]:
    """Yields, for each name of a method, page and place that is sent, whether it was successful, and the answer or the
    reason.

    The first value is the number of pages, and what is damaged, or "".
    """
    document = _PdfiumDocument(part, password)
    try:
        wanted, number, detail = yield document.count(), document.damage()
        while True:
            try:
                answer = True, document.answer(wanted, number, detail)
            except Exception as error:  # of PDFium, for a corrupt page
                answer = False, type(error).__name__
            wanted, number, detail = yield answer
    finally:
        document.close()


class _PdfiumDocument:
    """A PDF that PDFium has opened. Raises what PDFium raises for corrupt pages."""

    def __init__(self, part: MediaPart, password: str | None) -> None:
        self._data = content_of(part)
        self._source = source_of(part)
        self._password = password
        self._document = open_document(self._data, password, self._source)
        with PDFIUM.get():
            begin_form(self._document, self._data)
            self._files = AttachedFiles(address_of(self._document))
        self._filled_fields = 0
        self._has_hidden_layers: bool | None = None
        self._reader: PdfReader | None = None

    def count(self) -> int:
        """Returns the number of pages, of which the last one exists: PDFium believes what the file says."""
        with PDFIUM.get():
            count = len(self._document)
            if count:
                try:
                    self._document.get_page_size(count - 1)
                except RuntimeError as error:
                    raise corrupt(self._source) from error
            return count

    def damage(self) -> str:
        """Returns what is damaged: PDFium reads objects that it finds, without the table that lists them, if need be;
        "" if nothing is.
        """
        if has_objects_after_its_end(self._data):
            return "is truncated: its end is missing."
        with PDFIUM.get():
            if functions().FPDF_DocumentHasValidCrossReferenceTable(address_of(self._document)):
                return ""
        return "is truncated or damaged: the list of its objects is missing or wrong, so that some of them may be lost."

    def close(self) -> None:
        """Releases the memory of PDFium."""
        with PDFIUM.get():
            self._document.close()

    def answer(self, wanted: str, number: int, detail: Sequence[float]) -> Any:
        """Returns the content or image of a page, or the outline, attached files or form, as plain values."""
        with PDFIUM.get():
            match wanted:
                case "outline":
                    outline = outline_of(address_of(self._document))
                    return outline.headings, outline.lost
                case "files":
                    return self._files.all()
                case "form":
                    return xfa_form(self._document, self._filled_fields)
                case "image":
                    return self._image(number, detail)
                case _:
                    return self._content(number)

    def _content(self, number: int) -> Any:
        if self._has_hidden_layers is None:
            self._has_hidden_layers = _has_hidden_layers(self._data, self._source, self._password)
        content = content_of_page(self._document, number, self._has_hidden_layers, self._files)
        self._filled_fields += content.filled_fields
        if content.lacks_words:
            self._take_words_of_pypdf(content, number)
        items = [item if isinstance(item, int) else values_of(item) for item in content.items]
        tables = [[getattr(table, name) for name in PageTable.__slots__] for table in content.tables]
        return items, content.pictures, content.files, content.is_scan, tables

    def _take_words_of_pypdf(self, content: PageContent, number: int) -> None:
        """Takes the text of a page from pypdf, without places, if that finds more than PDFium."""
        with suppress(Exception):  # pypdf raises any for a corrupt page
            if self._reader is None:
                self._reader = open_pdf(self._data, self._source, self._password)
            lines = clean(self._reader.pages[number - 1].extract_text()).splitlines()
            text = "\n".join([line.rstrip() for line in lines]).strip()
            texts = [item for item in content.items if isinstance(item, MarkdownText)]
            if _letters(text) > _MORE * sum(_letters(item.text) for item in texts) and is_readable(text):
                others = [item for item in content.items if not isinstance(item, MarkdownText)]
                content.items = [MarkdownText(text, BlockPlace(page=number), f"page {number}"), *others]

    def _image(self, number: int, place: Sequence[float]) -> bytes | None:
        page = self._document[number - 1]
        try:
            return png_of(page, place)
        finally:
            page.close()


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _has_hidden_layers(data: bytes, source: str, password: str | None) -> bool:
    """Returns whether layers of the PDF are switched off; PDFium does not say."""
    are_readable = b"/Encrypt" not in data or b"/ObjStm" not in data
    if are_readable and not any(map(_OFF.search, parts_with_objects(data))):
        return False
    with suppress(Exception):  # pypdf raises any for a corrupt file; what it cannot read, PDFium does not hide either
        layers: Any = open_pdf(data, source, password).root_object.get("/OCProperties")
        shown: Any = layers.get_object().get("/D").get_object() if layers is not None else {}
        return bool(shown.get("/OFF")) or shown.get("/BaseState") == "/OFF"
    return False
