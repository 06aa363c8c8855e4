"""PDF documents: text by pypdf, page for page; pages without text are read as images, or sent as images."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import CorruptFileError, MediaError, MissingExtraError
from abstractcore.ports import Fallback
from abstractcore.schema import Blob, CallWarning, MediaFacts, MediaPart

from ...common.content import content_of, source_of
from ...common.media_types import extensions_of
from ...common.recognition import recognised
from ..glyphs.fallback import drawn_or_text, glyphs
from .opening import check_ends, explained, open_pdf, too_big

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, Excerpt, MediaContext, Recognised

    from ..blocks import Block
    from ..rendering import Renderer
    from ..work_limits import Work
    from .images import PageImages
    from .pages import PDFPageText

_PDF = "application/pdf"
_PNG = "image/png"
_PAGES = frozenset({"pages"})
_TRIES = 2
"""Pictures that are tried before it is clear that nothing here reads pictures."""


class PdfHandler:
    """Handles PDF documents: the text of their pages, each under its number, after the outline; or images of the pages.

    Whether a page is read as an image is decided for each page. The limits bound the cost of one document; larger ones
    are refused, never truncated.
    """

    name = "pdf"
    fallbacks = (
        Fallback("text", frozenset({"text", _PNG}), controls=_PAGES, packages={"pypdf": "pypdf"}),
        Fallback("pages", frozenset({_PNG}), controls=_PAGES, packages={"pypdfium2": "pypdfium2"}),
        glyphs(controls=_PAGES),
    )
    excerpt_controls = _PAGES
    extensions = extensions_of("application/pdf")
    max_pages = 1_000
    max_page_images = 100
    max_characters = 2_000_000
    max_seconds = 60.0

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of a PDF; None for any other file."""
        return recognised("document", _PDF.__eq__, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` for a file that is not a PDF, truncated, or (if pypdf is installed) encrypted."""
        data, source = content_of(part), source_of(part)
        check_ends(data, source)
        if b"/Encrypt" in data:
            with suppress(MissingExtraError):  # files that are sent natively need no optional package
                open_pdf(data, source, None)

    def measure(self, part: MediaPart, context: MediaContext | None = None) -> MediaFacts:
        """Returns the number of pages. Raises `MediaError` for a PDF that is corrupt or needs a password, and
        `MissingExtraError` without pypdfium2.
        """
        from ...common.isolation import first_value
        from .images import counted_pages

        return MediaFacts(pages=first_value(context, counted_pages, part))

    def excerpt(self, part: MediaPart, context: MediaContext) -> Excerpt:
        """Returns a PDF with the pages that the controls name, and nothing of the others, without its password.

        Raises `MediaError` for a PDF that has not all of them, is corrupt, or needs another password, and
        `MissingExtraError` without pypdf.
        """
        from abstractcore.ports import Excerpt

        from .cutting import SECONDS, cut_pages

        with closing(context.isolated(source_of(part), SECONDS, cut_pages, part, context.password(part))) as cut:
            pages, data = next(cut)
        assert part.controls is not None
        controls = replace(part.controls, pages=None)
        blob = Blob.from_bytes(data, part.blob.media_type, name=part.blob.name)
        return Excerpt(replace(part, blob=blob, controls=controls if controls.names else None), tuple(pages))

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the text, with a line `[page 1]` before each page if there is more than one, images of it, or images
        of the pages.

        Raises `MediaError` for a PDF that is corrupt, encrypted, over a limit or without anything readable. Pages
        without text that cannot be read as images either are listed in a warning, and in `lost`.
        """
        return drawn_or_text(part, context, self._as_text_or_pages)

    def _as_text_or_pages(self, part: MediaPart, context: MediaContext) -> Conversion:
        from ..work_limits import Work, WorkLimits

        data, source = content_of(part), source_of(part)
        check_ends(data, source)
        work = Work(source, WorkLimits(self.max_seconds, characters=self.max_characters), context.timeout)
        document = _OpenPdf(data, part, context, work, self.max_pages)
        numbers = document.numbers(part)
        for fallback in context.fallbacks or ("text",):
            if fallback == "pages":
                return self._as_images(document, numbers, context)
            found = _as_text(document, numbers, context)
            if found is not None:
                return found
        raise MediaError(
            f"{source} has no text: its pages are scanned images, or empty.",
            source=source,
            hint="Use a model that accepts PDF files, or add a text layer first: ocrmypdf scan.pdf text.pdf",
        )

    def _as_images(self, document: _OpenPdf, numbers: Sequence[int], context: MediaContext) -> Conversion:
        from ..blocks import LostContent, PageScan, PageStart
        from ..rendering import Renderer

        total = len(numbers)
        numbers = _evenly(numbers, context.max_images)
        if len(numbers) > self.max_page_images:
            why = f"{len(numbers)} of its pages are to be sent as images; the limit is {self.max_page_images}"
            raise too_big(document.work.source, why)
        renderer = Renderer(document.work, replace(context, to_text=None))
        with document.images() as images:
            for done, number in enumerate(numbers, 1):
                renderer.add(PageStart(number, f"[page {number}]", f"page {number}"))
                png = images.page(number)
                if png is not None:
                    renderer.add(PageScan(png, f"page {number}", document.place(number), f"page {number}"))
                context.progress(done, len(numbers), "pages")
        renderer.add(LostContent("pages", total - len(numbers), total))
        of_all = "" if len(numbers) == total else f" of {total}"
        conversion = renderer.conversion(f"images of {_counted(len(numbers))}{of_all}", "pages")
        return replace(conversion, has_fewer_images=len(numbers) < total)


class _OpenPdf:
    """An open PDF: its texts, and images of it if they are needed."""

    def __init__(self, data: bytes, part: MediaPart, context: MediaContext, work: Work, max_pages: int) -> None:
        self.work = work
        self._part = part
        self._context = context
        self._reader = open_pdf(data, work.source, context.password(part))
        with explained(work.source):
            self.count = len(self._reader.pages)
        if self.count > max_pages:
            raise too_big(work.source, f"it has {self.count} pages; the limit is {max_pages}")

    def numbers(self, part: MediaPart) -> Sequence[int]:
        """Returns the numbers of the pages that are wanted."""
        from abstractcore.ports import chosen_pages

        return chosen_pages(part.controls, self.count, self.work.source)

    def texts(self, numbers: Sequence[int]) -> list[PDFPageText]:
        """Returns the texts of pages."""
        from .pages import page_text

        found: list[PDFPageText] = []
        characters = 0
        with explained(self.work.source):
            for number in numbers:
                found.append(page_text(self._reader.pages[number - 1], number, self._check))
                characters += len(found[-1].text)
                if characters > self.work.limits.characters:
                    limit = self.work.limits.characters
                    raise too_big(self.work.source, f"it has more than {limit} characters of text")
        return found

    def outline(self) -> Iterator[Block]:
        """Yields the headings that the PDF lists, with their pages; nothing if the list is broken."""
        from ..blocks import MarkdownText, list_item
        from .pages import outline

        found: list[tuple[int, str, int]] = []
        with suppress(Exception):  # pypdf raises any for a corrupt outline, and the pages are readable without it
            found = outline(self._reader)
        if found:
            yield MarkdownText("[outline]", group="list")
        for level, title, page in found:
            yield list_item(f"{title} (page {page})", "-", level)

    @contextmanager
    def images(self) -> Generator[PageImages]:
        """Opens the PDF for drawing."""
        from .images import PageImages

        with closing(PageImages(self._part, self._context)) as images:
            yield images

    def place(self, number: int):
        """Returns the place of a whole page."""
        from ..blocks import BlockPlace

        return BlockPlace(page=number, box=(0.0, 0.0, 1.0, 1.0))

    def _check(self, *_: object) -> None:
        self.work.check()


def _as_text(document: _OpenPdf, numbers: Sequence[int], context: MediaContext) -> Conversion | None:
    """Returns the text of pages; None if none has any."""
    from ..blocks import LostContent
    from ..rendering import Renderer

    pages = document.texts(numbers)
    renderer = Renderer(document.work, context)
    for block in _blocks(document, pages, context, renderer):
        renderer.add(block)
    if not renderer.has_content:
        return None
    renderer.add(LostContent("pages", 0, len(pages)))
    conversion = renderer.conversion(f"text of {_counted(len(pages))}")
    return replace(conversion, warnings=(*conversion.warnings, *_pages_without_text(conversion, document.work.source)))


def _blocks(
    document: _OpenPdf, pages: Sequence[PDFPageText], context: MediaContext, renderer: Renderer
) -> Iterator[Block]:
    """Yields the blocks of pages: their text, or else an image of them, and the pictures beside the text."""
    from ..blocks import LostContent, PageScan, PageStart

    sees = _PNG in context.accepted_outputs
    yield from document.outline()
    with ExitStack() as stack:
        drawing = _PageDrawing(document, stack) if sees or context.to_text is not None else None
        for done, page in enumerate(pages):
            context.progress(done, len(pages), "pages")
            group = f"page {page.number}"
            yield PageStart(page.number, f"[page {page.number}]" if document.count > 1 else "", group)
            if not page.is_readable:
                png = drawing.page(page.number) if drawing is not None else b""
                if png:
                    yield PageScan(png, group, document.place(page.number), group)
                elif png is not None:  # None is a blank page
                    yield LostContent("pages", 1, 0, group)
                continue
            yield page.block(group)
            if not page.pictures:
                continue
            worthwhile = sees or renderer.read_pictures or renderer.unread_pictures < _TRIES
            if drawing is not None and worthwhile:
                yield from drawing.pictures(page.number)
            else:
                yield LostContent("pictures", page.pictures, None, group)
    context.progress(len(pages), len(pages), "pages")


class _PageDrawing:
    """Draws what cannot be read as text, if pypdfium2 is installed and can read the file."""

    def __init__(self, document: _OpenPdf, stack: ExitStack) -> None:
        self._document = document
        self._stack = stack
        self._images: PageImages | None = None
        self._failure: CorruptFileError | None = None

    def page(self, number: int) -> bytes | None:
        """Returns an image of a page; None for a blank one, b"" if it cannot be drawn."""
        try:
            return self._opened().page(number)
        except CorruptFileError:  # what pypdf reads of the others is kept
            return b""

    def pictures(self, number: int) -> Iterator[Block]:
        """Yields the pictures on a page."""
        from ..blocks import BlockPlace, LostContent, Picture

        try:
            found = self._opened().pictures(number)
        except (CorruptFileError, MissingExtraError):
            yield LostContent("pictures", 1, None, f"page {number}")
            return
        for index, (png, box) in enumerate(found, 1):
            yield Picture(png, f"page {number}, picture {index}", BlockPlace(page=number, box=box))

    def _opened(self) -> PageImages:
        if self._failure is not None:
            raise self._failure
        if self._images is None:
            try:
                self._images = self._stack.enter_context(self._document.images())
            except CorruptFileError as error:
                self._failure = error
                raise
        return self._images


def _evenly(numbers: Sequence[int], most: int | None) -> Sequence[int]:
    """Returns at most so many of the numbers, evenly spaced, from the first one."""
    if most is None or len(numbers) <= most:
        return numbers
    return [numbers[index * len(numbers) // most] for index in range(most)]


def _counted(pages: int) -> str:
    return f"{pages} page{'' if pages == 1 else 's'}"


def _pages_without_text(conversion: Conversion, source: str) -> tuple[CallWarning, ...]:
    places = [place.removeprefix("page ") for loss in conversion.lost if loss.what == "pages" for place in loss.places]
    if not places:
        return ()
    message = f"No text was found on page {', '.join(places)} of {source}: empty, or a scanned image."
    return (CallWarning("page_without_text", "", message),)
