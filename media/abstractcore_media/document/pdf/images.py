"""Images of PDF pages, and of the pictures on them, drawn by PDFium, in a process of its own where there is one."""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from abstractcore.errors import AbstractCoreError, CorruptFileError, MediaError
from abstractcore.schema import MediaPart

from ...common.content import content_of, source_of
from ...common.extras import missing_extra

if TYPE_CHECKING:
    from abstractcore.ports import MediaContext

_PDFIUM = threading.Lock()
"""PDFium must not be used by two threads at once."""
_IMAGE = 3
"""FPDF_PAGEOBJ_IMAGE, the type of images among the objects of a page."""
_DOTS_PER_POINT = 200 / 72
_MAX_SIDE = 2200
"""Pixels of the longer side of an image: what OCR and vision models make use of."""
_SMALL, _WHOLE = 0.01, 0.9
"""Pictures that cover less of a page are ornaments, those that cover more are the page."""
_SECONDS_PER_PAGE = 60.0


def counted_pages(part: MediaPart) -> Generator[int, Any, None]:
    """Yields the number of pages of a PDF; raises `MediaError` if it is corrupt or encrypted."""
    source = source_of(part)
    try:
        document = _opened(content_of(part), None, source)
        try:
            yield document.count()
        finally:
            document.close()
    except AbstractCoreError:
        raise
    except Exception as error:  # PDFium has one exception for all that is wrong
        raise MediaError(f"the pages of {source} cannot be counted: {error}", source=source) from error


class PageImages:
    """Images of pages of one PDF. `numbers` count from 1. Close it.

    Raises `CorruptFileError` for what cannot be drawn, `MissingExtraError` without pypdfium2.
    """

    def __init__(self, part: MediaPart, context: MediaContext) -> None:
        self._source = source_of(part)
        password = context.password(part)
        self._drawn = context.isolated(self._source, _SECONDS_PER_PAGE, drawn_pages, part, password)
        next(self._drawn)

    def close(self) -> None:
        """Ends drawing."""
        self._drawn.close()

    def page(self, number: int) -> bytes | None:
        """Returns a PNG of a page; None for a blank one."""
        return self._answer("page", number)

    def pictures(self, number: int) -> list[tuple[bytes, tuple[float, ...]]]:
        """Returns PNGs of the pictures on a page, with their boxes on it, in the order of the page."""
        return [(png, tuple(box)) for png, box in self._answer("pictures", number)]

    def _answer(self, wanted: str, number: int) -> Any:
        try:
            is_drawn, answer = self._drawn.send((wanted, number))
        except StopIteration:
            is_drawn, answer = False, "the decoder has crashed"
        if not is_drawn:
            raise CorruptFileError(f"page {number} of {self._source} cannot be drawn: {answer}", source=self._source)
        return answer


def drawn_pages(part: MediaPart, password: str | None) -> Generator[Any, tuple[str, int], None]:
    """Yields, for each ("page", 3) or ("pictures", 3) that is sent, whether it was drawn, and the images or the reason.

    The first value is None.
    """
    document = _opened(content_of(part), password, source_of(part))
    try:
        wanted, number = yield None
        while True:
            try:
                answer = True, document.page(number) if wanted == "page" else document.pictures(number)
            except Exception as error:  # of PDFium, for a corrupt page
                answer = False, type(error).__name__
            wanted, number = yield answer
    finally:
        document.close()


def _opened(data: bytes, password: str | None, source: str) -> _PdfiumDocument:
    try:
        pypdfium2 = cast(Any, import_module("pypdfium2"))  # it has no types
    except ImportError as error:
        raise missing_extra("Drawing pages of PDF files", "pypdfium2", "documents") from error
    with _PDFIUM:
        try:
            return _PdfiumDocument(pypdfium2.PdfDocument(data, password=password))
        except pypdfium2.PdfiumError as error:
            raise CorruptFileError(
                f"{source} is a corrupt PDF.",
                source=source,
                hint="If a viewer can open it, make a clean copy: qpdf broken.pdf clean.pdf",
            ) from error


class _PdfiumDocument:
    """A PDF that PDFium has opened. Raises what PDFium raises for corrupt pages."""

    def __init__(self, document: Any) -> None:
        self._document = document

    def count(self) -> int:
        """Returns the number of pages, of which the last one exists: PDFium believes what the file says."""
        with _PDFIUM:
            count = len(self._document)
            if count:
                self._document.get_page_size(count - 1)
            return count

    def close(self) -> None:
        """Releases the memory of PDFium."""
        with _PDFIUM:
            self._document.close()

    def page(self, number: int) -> bytes | None:
        """Returns a PNG of a page; None for a blank one."""
        with self._opened(number) as page:
            return _png(page, (0, 0, 0, 0))

    def pictures(self, number: int) -> list[tuple[bytes, tuple[float, ...]]]:
        """Returns PNGs of the pictures on a page, with their boxes on it, in the order of the page."""
        found: list[tuple[bytes, tuple[float, ...]]] = []
        with self._opened(number) as page:
            width, height = page.get_size()
            for each in page.get_objects(filter=(_IMAGE,), max_depth=4):
                left, bottom, right, top = each.get_bounds()
                left, right = max(left, 0.0), min(right, width)
                bottom, top = max(bottom, 0.0), min(top, height)
                share = max(right - left, 0) * max(top - bottom, 0) / (width * height or 1)
                if not _SMALL <= share <= _WHOLE:
                    continue
                png = _png(page, (left, bottom, width - right, height - top))
                box = (left / width, 1 - top / height, right / width, 1 - bottom / height)
                if png is not None:
                    found.append((png, tuple(round(value, 4) for value in box)))
        return sorted(found, key=lambda picture: picture[1][1])

    @contextmanager
    def _opened(self, number: int) -> Generator[Any]:
        with _PDFIUM:
            page = self._document[number - 1]
            try:
                yield page
            finally:
                page.close()


def _png(page: Any, crop: tuple[float, float, float, float]) -> bytes | None:
    """Returns a PNG of a page without what `crop` cuts off: left, bottom, right and top, in points."""
    width, height = page.get_size()
    longest = max(width - crop[0] - crop[2], height - crop[1] - crop[3], 1.0)
    bitmap = page.render(scale=min(_DOTS_PER_POINT, _MAX_SIDE / longest), crop=crop, rev_byteorder=True)
    try:
        size, channels, stride = bitmap.width, bitmap.n_channels, bitmap.stride
        pixels = bytes(bitmap.buffer)
        rows = [pixels[start : start + size * channels] for start in range(0, stride * bitmap.height, stride)]
        if rows and all(row == rows[0] for row in rows) and len(set(rows[0])) <= 1:
            return None
        if channels == 4:
            rows = [_without_alpha(row) for row in rows]
        colours = 0 if channels == 1 else 2
        header = struct.pack(">IIBBBBB", size, bitmap.height, 8, colours, 0, 0, 0)
    finally:
        bitmap.close()
    packed = zlib.compress(b"".join(b"\0" + row for row in rows), 3)
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", packed), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _without_alpha(row: bytes) -> bytes:
    kept = bytearray(len(row) // 4 * 3)
    for channel in range(3):
        kept[channel::3] = row[channel::4]
    return bytes(kept)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
