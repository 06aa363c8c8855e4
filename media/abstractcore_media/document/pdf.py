"""PDF documents: text extraction with pypdf. There is no OCR."""

from __future__ import annotations

import io
import logging
import re
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from abstractcore.errors import AbstractCoreError, MediaError, MissingExtraError
from abstractcore.ports import Fallback
from abstractcore.schema import CallWarning, MediaAnchor, MediaPart

from ..common.content import content_of, source_of
from ..common.extras import missing_extra
from ..common.media_types import extensions_of
from ..common.recognition import recognised

if TYPE_CHECKING:
    from pypdf import PdfReader

    from abstractcore.ports import Conversion, MediaContext, Recognised

_PDF = "application/pdf"
_QUIET = logging.NullHandler()
_END = re.compile(rb"startxref\s+[1-9]")
"""The end of every PDF. A linearised PDF has another one at its beginning, with a 0."""


class PdfHandler:
    """Handles PDF documents: extracts the text of their pages, each page under its number.

    The limits bound the cost of one document; larger ones are refused, never truncated.
    """

    name = "pdf"
    fallbacks = (Fallback("text", frozenset({"text"})),)
    extensions = extensions_of("application/pdf")
    max_pages = 1_000
    max_characters = 2_000_000
    max_seconds = 60.0

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of a PDF; None for any other file."""
        return recognised("document", _PDF.__eq__, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` for a file that is not a PDF, truncated, or (if pypdf is installed) encrypted."""
        data, source = content_of(part), source_of(part)
        _check_ends(data, source)
        if b"/Encrypt" in data:
            with suppress(MissingExtraError):  # files that are sent natively need no optional package
                _open(data, source)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the text, with a line `[page 1]` before each page if there is more than one.

        Raises `MediaError` for a PDF that is corrupt, encrypted, over a limit or without any text; pages without text
        are listed in a warning.
        """
        from abstractcore.ports import Conversion

        data, source = content_of(part), source_of(part)
        _check_ends(data, source)
        pages = self._pages(_open(data, source), source)
        if not any(pages):
            raise MediaError(
                f"{source} has no text: its pages are scanned images, or empty.",
                source=source,
                hint="Use a model that accepts PDF files, or add a text layer first: ocrmypdf scan.pdf text.pdf",
            )
        if len(pages) == 1:
            return Conversion(pages[0], "text of 1 page", anchors=(MediaAnchor(0, len(pages[0]), 1),))
        text, anchors = _numbered(pages)
        warnings = _pages_without_text(pages, source)
        return Conversion(text, f"text of {len(pages)} pages", warnings=warnings, anchors=anchors)

    def _pages(self, reader: PdfReader, source: str) -> list[str]:
        deadline = time.monotonic() + self.max_seconds

        def stop_in_time(*_: object) -> None:  # called at every drawing operator
            if time.monotonic() > deadline:
                raise _too_big(source, f"reading it takes more than {self.max_seconds:g} seconds")

        texts: list[str] = []
        characters = 0
        with _explained(source):
            if len(reader.pages) > self.max_pages:
                raise _too_big(source, f"it has {len(reader.pages)} pages; the limit is {self.max_pages}")
            for page in reader.pages:
                texts.append(_clean(page.extract_text(visitor_operand_before=stop_in_time)))
                stop_in_time()  # pypdf swallows what is raised inside a form on the page
                characters += len(texts[-1])
                if characters > self.max_characters:
                    raise _too_big(source, f"it has more than {self.max_characters} characters of text")
        return texts


def _numbered(pages: list[str]) -> tuple[str, tuple[MediaAnchor, ...]]:
    """Returns the pages, each under its number, and where each begins and ends."""
    pieces: list[str] = []
    anchors: list[MediaAnchor] = []
    size = 0
    for number, page in enumerate(pages, 1):
        separator = "\n\n" if pieces else ""
        piece = f"{separator}[page {number}]\n{page}" if page else f"{separator}[page {number}]"
        size += len(piece)
        pieces.append(piece)
        anchors.append(MediaAnchor(size - len(page), size, number))
    return "".join(pieces), tuple(anchors)


def _check_ends(data: bytes, source: str) -> None:
    if b"%PDF-" not in data[:1024]:
        raise MediaError(
            f"{source} is not a PDF: it does not begin with %PDF.",
            source=source,
            hint="Correct its file extension, or export it again as PDF.",
        )
    if not _END.search(data):
        raise MediaError(
            f"{source} is truncated: the end of the PDF is missing.", source=source, hint="Download it again."
        )


def _open(data: bytes, source: str) -> PdfReader:
    """Returns a reader of the PDF, decrypted if it needs no password; raises `MediaError` if it does."""
    try:
        from pypdf import PasswordType, PdfReader
    except ImportError as error:
        raise missing_extra("Reading PDF files", "pypdf", "documents") from error
    # pypdf logs repairs, which Python prints to stderr if logging is not configured.
    logging.getLogger("pypdf").addHandler(_QUIET)
    with _explained(source):
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
    if locked:
        raise MediaError(
            f"{source} is encrypted and needs a password.",
            source=source,
            hint="Make a decrypted copy: qpdf --decrypt --password=SECRET locked.pdf open.pdf",
        )
    return reader


@contextmanager
def _explained(source: str) -> Generator[None]:
    """Converts exceptions of pypdf to our errors: for corrupt files, its documentation says, it may raise any."""
    from pypdf.errors import DependencyError, LimitReachedError

    try:
        yield
    except AbstractCoreError:
        raise
    except DependencyError as error:
        raise missing_extra("Reading encrypted PDF files", "cryptography", "documents") from error
    except LimitReachedError as error:
        raise _too_big(source, "a stream in it decompresses to an enormous size") from error
    except Exception as error:
        raise MediaError(
            f"{source} is a corrupt PDF.",
            source=source,
            hint="If a viewer can open it, make a clean copy: qpdf broken.pdf clean.pdf",
        ) from error


def _too_big(source: str, why: str) -> MediaError:
    return MediaError(
        f"{source} is too large: {why}.",
        source=source,
        hint="Send only the pages you need: qpdf long.pdf --pages . 1-50 -- part.pdf",
    )


def _clean(text: str) -> str:
    """Removes trailing spaces, and what broken fonts put into text: NULs and lone surrogates."""
    text = text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def _pages_without_text(pages: list[str], source: str) -> tuple[CallWarning, ...]:
    empty = [str(number) for number, page in enumerate(pages, 1) if not page]
    if not empty:
        return ()
    message = f"No text was found on page {', '.join(empty)} of {source}: empty, or a scanned image."
    return (CallWarning("page_without_text", "", message),)
