"""Opens PDF files with pypdf, and converts its exceptions."""

from __future__ import annotations

import io
import logging
import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from abstractcore.errors import AbstractCoreError, CorruptFileError, EncryptedFileError, MediaError, WrongPasswordError

from ...common.extras import missing_extra, missing_module

if TYPE_CHECKING:
    from pypdf import PdfReader

_QUIET = logging.NullHandler()
_END = re.compile(rb"startxref\s+[1-9]")
"""The end of every PDF. A linearised PDF has another one at its beginning, with a 0."""

_OBJECT_STREAM = re.compile(rb"/ObjStm\b.{0,1000}?stream\r?\n", re.DOTALL)
_MAX_UNPACKED = 50_000_000
_OBJECT = re.compile(rb"\b\d+ \d+ obj\b")


def check_ends(data: bytes, source: str) -> None:
    """Raises `MediaError` for content without the begin or the end of a PDF."""
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


def has_objects_after_its_end(data: bytes) -> bool:
    """Returns whether objects follow the last end of a PDF: it was cut while it was written or sent."""
    return _OBJECT.search(data, data.rfind(b"startxref")) is not None


def parts_with_objects(data: bytes) -> Iterator[bytes]:
    """Yields a PDF as it is, and its compressed objects, as far as they are not encrypted, up to 50 MB."""
    yield data
    view = memoryview(data)
    left = _MAX_UNPACKED
    for match in _OBJECT_STREAM.finditer(data):
        with suppress(zlib.error):  # not compressed, or encrypted
            part = zlib.decompressobj().decompress(view[match.end() :], left)
            left -= len(part)
            yield part
        if left <= 0:
            return


def open_pdf(data: bytes, source: str, password: str | None) -> PdfReader:
    """Returns a reader of the PDF, decrypted; raises `EncryptedFileError` if it needs another password."""
    try:
        from pypdf import PasswordType, PdfReader
    except ImportError as error:
        raise missing_extra("Reading PDF files", "pypdf", "documents") from error
    # pypdf logs repairs, which Python prints to stderr if logging is not configured.
    logging.getLogger("pypdf").addHandler(_QUIET)
    with explained(source):
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED
        if locked and (password is None or reader.decrypt(password) == PasswordType.NOT_DECRYPTED):
            raise wrong_password(source, password)
    return reader


@contextmanager
def explained(source: str) -> Generator[None]:
    """Converts exceptions of pypdf to our errors: for corrupt files, its documentation says, it may raise any."""
    from pypdf.errors import DependencyError, LimitReachedError

    try:
        yield
    except AbstractCoreError:
        raise
    except DependencyError as error:
        raise missing_extra("Reading encrypted PDF files", "cryptography", "documents") from error
    except ImportError as error:
        raise missing_module(error, "Reading PDF files", "documents") from error
    except LimitReachedError as error:
        raise too_big(source, "a stream in it decompresses to an enormous size") from error
    except Exception as error:
        raise corrupt(source) from error


def corrupt(source: str) -> CorruptFileError:
    """Returns the error for a PDF that cannot be read."""
    return CorruptFileError(
        f"{source} is a corrupt PDF.",
        source=source,
        hint="If a viewer can open it, make a clean copy: qpdf broken.pdf clean.pdf",
    )


def wrong_password(source: str, password: str | None) -> EncryptedFileError:
    """Returns the error for a PDF that this password, if any, does not open."""
    if password is not None:
        return WrongPasswordError(
            f"{source} is encrypted, and the password that was given does not open it.",
            source=source,
            hint="Check the password: upper and lower case differ.",
        )
    return EncryptedFileError(
        f"{source} is encrypted and needs a password.",
        source=source,
        hint="Pass it with File(..., password=...), or make a decrypted copy: "
        "qpdf --decrypt --password=SECRET locked.pdf open.pdf",
    )


def too_big(source: str, why: str, most: int = 50) -> MediaError:
    """Returns the error for a PDF over a limit, with a hint that names a range of `most` pages."""
    return MediaError(
        f"{source} is too large: {why}.",
        source=source,
        hint=f'Send only the pages you need: File("{source}", pages="1-{most}")',
    )
