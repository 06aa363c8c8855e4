"""PDF documents: the text of each page; pages with little or no text are read as images, or sent as images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from abstractcore.errors import CorruptFileError, MediaError, MissingExtraError
from abstractcore.ports import Fallback
from abstractcore.schema import Blob, CallWarning, MediaFacts, MediaPart

from ...common.content import content_of, source_of
from ...common.media_types import extensions_of
from ...common.recognition import recognised
from ..glyphs.fallback import drawn_or_text, glyphs
from .opening import check_ends, open_pdf, too_big

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, Excerpt, MediaContext, Recognised

    from ..blocks import Block, BlockPlace
    from ..rendering import Renderer
    from ..work_limits import Work
    from .reading import PdfPages

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
        Fallback("text", frozenset({"text", _PNG}), controls=_PAGES, packages={"pypdfium2": "pypdfium2"}),
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
        from .reading import counted_pages

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
        from .reading import PdfPages

        data, source = content_of(part), source_of(part)
        check_ends(data, source)
        work = Work(source, WorkLimits(self.max_seconds, characters=self.max_characters), context.timeout)
        with closing(PdfPages(part, context, self.max_seconds)) as pages:
            numbers = self._numbers(part, pages)
            for fallback in context.fallbacks or ("text",):
                if fallback == "pages":
                    return self._as_images(pages, numbers, work, context)
                found = _as_text(pages, numbers, work, context)
                if found is not None:
                    return found
        raise MediaError(
            f"{source} has no text: its pages are scanned images, or empty.",
            source=source,
            hint="Use a model that accepts PDF files, or add a text layer first: ocrmypdf scan.pdf text.pdf",
        )

    def _numbers(self, part: MediaPart, pages: PdfPages) -> Sequence[int]:
        """Returns the numbers of the pages that are wanted; raises `MediaError` if they are too many."""
        from abstractcore.ports import chosen_pages

        source = source_of(part)
        numbers = chosen_pages(part.controls, pages.count, source)
        if len(numbers) > self.max_pages:
            raise too_big(source, f"it has {len(numbers)} pages; the limit is {self.max_pages}", self.max_pages)
        return numbers

    def _as_images(self, pages: PdfPages, numbers: Sequence[int], work: Work, context: MediaContext) -> Conversion:
        from ..blocks import LostContent, PageScan, PageStart
        from ..rendering import Renderer

        total = len(numbers)
        numbers = _evenly(numbers, context.max_images)
        if len(numbers) > self.max_page_images:
            why = f"{len(numbers)} of its pages are to be sent as images; the limit is {self.max_page_images}"
            raise too_big(work.source, why, self.max_page_images)
        renderer = Renderer(work, replace(context, to_text=None))
        for done, number in enumerate(numbers, 1):
            renderer.add(PageStart(number, f"[page {number}]", f"page {number}"))
            png = pages.image(number)
            if png is not None:
                renderer.add(PageScan(png, f"page {number}", _whole(number), f"page {number}"))
            context.progress(done, len(numbers), "pages")
        renderer.add(LostContent("pages", total - len(numbers), total))
        of_all = "" if len(numbers) == total else f" of {total}"
        renderer.add_all(block for block in _form(pages) if isinstance(block, LostContent))
        conversion = renderer.conversion(f"images of {_counted(len(numbers))}{of_all}", "pages")
        warnings = (*conversion.warnings, *_damage(pages, work.source))
        return replace(conversion, has_fewer_images=len(numbers) < total, warnings=warnings)


def _as_text(pages: PdfPages, numbers: Sequence[int], work: Work, context: MediaContext) -> Conversion | None:
    """Returns the text of pages; None if none has any."""
    from ..blocks import LostContent
    from ..rendering import Renderer

    renderer = Renderer(work, context)
    renderer.add_all(_outline(pages))
    for done, number in enumerate(numbers):
        context.progress(done, len(numbers), "pages")
        renderer.add_all(_page_blocks(pages, number, context, renderer))
    context.progress(len(numbers), len(numbers), "pages")
    renderer.add_all(_form(pages))
    renderer.add_all(_files(pages))
    if not renderer.has_content:
        return None
    renderer.add(LostContent("pages", 0, len(numbers)))
    conversion = renderer.conversion(f"text of {_counted(len(numbers))}")
    warnings = (*_damage(pages, work.source), *_pages_without_text(conversion, work.source))
    return replace(conversion, warnings=(*conversion.warnings, *warnings))


def _outline(pages: PdfPages) -> Iterator[Block]:
    """Yields the headings that the PDF lists, with their pages; nothing if the list is broken."""
    from ..blocks import LostContent, MarkdownText, list_item

    found: list[tuple[int, str, int]] = []
    lost = 0
    with suppress(CorruptFileError):  # the pages are readable without it
        found, lost = pages.outline()
    if found:
        yield MarkdownText("[outline]", group="list")
    for level, title, page in found:
        yield list_item(f"{title} (page {page})", "-", level)
    if lost:
        yield LostContent("headings of the outline", lost, lost + len(found))


def _page_blocks(pages: PdfPages, number: int, context: MediaContext, renderer: Renderer) -> Iterator[Block]:
    """Yields the blocks of a page: its text, pictures and files; or else an image of it."""
    from ..blocks import LostContent, PageScan, PageStart

    sees = _PNG in context.accepted_outputs
    group = f"page {number}"
    yield PageStart(number, f"[page {number}]" if pages.count > 1 else "", group)
    try:
        content = pages.content(number)
    except CorruptFileError:  # what can be read of the others is kept
        yield LostContent("pages", 1, 0, group)
        return
    shown = 0
    for item in content.items:
        if not isinstance(item, int):
            yield item
            continue
        shown += 1
        worthwhile = sees or renderer.read_pictures or renderer.unread_pictures < _TRIES
        if (sees or context.to_text is not None) and worthwhile:
            yield from _picture(pages, number, shown, content.pictures[item])
        else:
            yield LostContent("pictures", 1, None, group)
    if content.is_scan:
        png = b""
        if sees or context.to_text is not None:
            with suppress(CorruptFileError):
                png = pages.image(number)
        if png:
            yield PageScan(png, group, _whole(number), group)
        elif png is not None:  # None is a blank page
            yield LostContent("pages", 1, 0, group)
    yield from _attached(content.files, number)


def _picture(pages: PdfPages, number: int, index: int, place: tuple[float, ...]) -> Iterator[Block]:
    from ..blocks import BlockPlace, LostContent, Picture

    name = f"page {number}, picture {index}"
    try:
        png = pages.image(number, place)
    except CorruptFileError:
        yield LostContent("pictures", 1, None, name)
        return
    if png is not None:
        yield Picture(png, name, BlockPlace(page=number, box=place))


def _form(pages: PdfPages) -> Iterator[Block]:
    """Yields the values of an XFA form; the pages of one that cannot be shown only ask for another program."""
    from ..blocks import LostContent, MarkdownText

    with suppress(CorruptFileError):
        lines, lost, is_lost = pages.xfa_form()
        if lines:
            yield MarkdownText("\n".join(("[form data]", *lines)))
        if lost:
            yield LostContent("form fields", lost)
        if is_lost:
            yield LostContent("XFA forms", 1, None, "its pages, which one program draws from data")


def _files(pages: PdfPages) -> Iterator[Block]:
    from ..blocks import LostContent

    with suppress(CorruptFileError):
        files, lost = pages.files()
        yield from _attached(files, None)
        if lost:
            yield LostContent("files inside", lost)


def _attached(files: Sequence[tuple[str, bytes | None]], page: int | None) -> Iterator[Block]:
    from ..blocks import AttachedFile, BlockPlace

    for name, data in files:
        yield AttachedFile(data, name, BlockPlace(page=page, member=name))


def _whole(number: int) -> BlockPlace:
    """Returns the place of a whole page."""
    from ..blocks import BlockPlace

    return BlockPlace(page=number, box=(0.0, 0.0, 1.0, 1.0))


def _evenly(numbers: Sequence[int], most: int | None) -> Sequence[int]:
    """Returns at most so many of the numbers, evenly spaced, from the first one."""
    if most is None or len(numbers) <= most:
        return numbers
    return [numbers[index * len(numbers) // most] for index in range(most)]


def _counted(pages: int) -> str:
    return f"{pages} page{'' if pages == 1 else 's'}"


def _damage(pages: PdfPages, source: str) -> tuple[CallWarning, ...]:
    if not pages.damage:
        return ()
    return (CallWarning("media_damaged", "", f"{source} {pages.damage}"),)


def _pages_without_text(conversion: Conversion, source: str) -> tuple[CallWarning, ...]:
    places = [place.removeprefix("page ") for loss in conversion.lost if loss.what == "pages" for place in loss.places]
    if not places:
        return ()
    message = f"No text was found on page {', '.join(places)} of {source}: empty, or a scanned image."
    return (CallWarning("page_without_text", "", message),)
