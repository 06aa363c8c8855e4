"""PDF documents: the text on their pages, through pypdf. Pictures of text are not read."""

from __future__ import annotations

import io
import logging
import re
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from abstractcore.errors import AbstractCoreError, MediaError, MissingExtraError
from abstractcore.ports import Conversion, MediaContext, Recognised
from abstractcore.schema import CallWarning, MediaPart

from ..common.content import content_of, source_of
from ..common.extras import missing_extra
from ..common.media_types import endings_of
from ..common.recognition import recognised

if TYPE_CHECKING:
    from pypdf import PdfReader

_PDF = "application/pdf"
_QUIET = logging.NullHandler()
_END = re.compile(rb"startxref\s+[1-9]")
"""Stands at the end of every PDF. One optimised for the web has another at its beginning, with a 0."""


class PdfHandler:
    """Knows PDF documents, and gives the text on their pages, each page under its number.

    The limits bound what one document may cost; beyond them it is refused, never cut.
    """

    name = "pdf"
    gives = frozenset({"text"})
    endings = endings_of("application/pdf")
    max_pages = 1_000
    max_characters = 2_000_000
    max_seconds = 60.0

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """A PDF; None for any other file."""
        return recognised("document", _PDF.__eq__, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raise `MediaError` for a file that is no PDF, cut off, or (where pypdf is installed) locked."""
        data, source = content_of(part), source_of(part)
        _check_ends(data, source)
        if b"/Encrypt" in data:
            with suppress(MissingExtraError):  # what is sent as it is needs no optional package
                _open(data, source)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """The text, with a line `[page 1]` before each page if there is more than one.

        Raises `MediaError` for a PDF that is broken, locked, over a limit or without any text; pages without text are
        named in a warning.
        """
        data, source = content_of(part), source_of(part)
        _check_ends(data, source)
        pages = self._pages(_open(data, source), source)
        if not any(pages):
            raise MediaError(
                f"{source} has no text: its pages are pictures, as of a scan, or empty.",
                source=source,
                hint="Use a model that takes PDF files natively, or add the text first: ocrmypdf scan.pdf text.pdf",
            )
        if len(pages) == 1:
            return Conversion(pages[0], "text of 1 page")
        text = "\n\n".join(f"[page {number}]\n{page}".rstrip() for number, page in enumerate(pages, 1))
        return Conversion(text, f"text of {len(pages)} pages", warnings=_pages_without_text(pages, source))

    def _pages(self, reader: PdfReader, source: str) -> list[str]:
        deadline = time.monotonic() + self.max_seconds

        def stop_in_time(*_: object) -> None:  # called at every drawing operator
            if time.monotonic() > deadline:
                raise _too_big(source, f"reading it takes more than {self.max_seconds:g} seconds")

        texts: list[str] = []
        characters = 0
        with _explained(source):
            if len(reader.pages) > self.max_pages:
                raise _too_big(source, f"it has {len(reader.pages)} pages, and at most {self.max_pages} are read")
            for page in reader.pages:
                texts.append(_clean(page.extract_text(visitor_operand_before=stop_in_time)))
                stop_in_time()  # pypdf swallows what is raised inside a form on the page
                characters += len(texts[-1])
                if characters > self.max_characters:
                    raise _too_big(source, f"it has more than {self.max_characters} characters of text")
        return texts


def _check_ends(data: bytes, source: str) -> None:
    if b"%PDF-" not in data[:1024]:
        raise MediaError(
            f"{source} is not a PDF: it does not begin with %PDF.",
            source=source,
            hint="Give it the ending of what it is, or export it again as PDF.",
        )
    if not _END.search(data):
        raise MediaError(f"{source} is cut off: the end of the PDF is missing.", source=source, hint="Fetch it again.")


def _open(data: bytes, source: str) -> PdfReader:
    """A reader for the PDF, unlocked if it takes no password; raises `MediaError` if it does."""
    try:
        from pypdf import PasswordType, PdfReader
    except ImportError as error:
        raise missing_extra("Reading PDF files", "pypdf", "documents") from error
    # What it repairs on the way it logs, and Python prints that on stderr where nobody has set logging up.
    logging.getLogger("pypdf").addHandler(_QUIET)
    with _explained(source):
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
    if locked:
        raise MediaError(
            f"{source} is encrypted and needs a password.",
            source=source,
            hint="Make a copy without: qpdf --decrypt --password=SECRET locked.pdf open.pdf",
        )
    return reader


@contextmanager
def _explained(source: str) -> Generator[None]:
    """Turns whatever pypdf raises into our errors: on broken files, as its documentation says, that can be anything."""
    from pypdf.errors import DependencyError, LimitReachedError

    try:
        yield
    except AbstractCoreError:
        raise
    except DependencyError as error:
        raise missing_extra("Reading encrypted PDF files", "cryptography", "documents") from error
    except LimitReachedError as error:
        raise _too_big(source, "something in it unpacks to an enormous size") from error
    except Exception as error:
        raise MediaError(
            f"{source} is a broken PDF.",
            source=source,
            hint="If a viewer can open it, this makes a clean copy: qpdf broken.pdf clean.pdf",
        ) from error


def _too_big(source: str, why: str) -> MediaError:
    return MediaError(
        f"{source} is too big: {why}.",
        source=source,
        hint="Send the pages you need: qpdf long.pdf --pages . 1-50 -- part.pdf",
    )


def _clean(text: str) -> str:
    """Without spaces at ends of lines and what broken fonts put into text: NULs and halves of surrogate pairs."""
    text = text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def _pages_without_text(pages: list[str], source: str) -> tuple[CallWarning, ...]:
    empty = [str(number) for number, page in enumerate(pages, 1) if not page]
    if not empty:
        return ()
    message = f"No text was found on page {', '.join(empty)} of {source}: empty, or a picture of text."
    return (CallWarning("page_without_text", "", message),)
