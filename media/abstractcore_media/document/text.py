"""Text files: plain text, Markdown, CSV, JSON, YAML, XML, HTML, source code, in any encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstractcore.errors import MediaError
from abstractcore.ports import Fallback
from abstractcore.schema import CallWarning, MediaPart

from ..common.content import content_of, source_of
from ..common.extras import missing_extra
from ..common.media_types import is_text_type, text_extensions
from ..common.recognition import recognised

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, MediaContext, Recognised


_LEGACY_ENCODINGS = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp932", "euc_jp",
                     "gb18030", "big5", "cp949"]  # fmt: skip
"""Candidates for text that is not Unicode, likeliest first: Windows code pages, Russian Unix, East Asia."""


class TextHandler:
    """Handles text files: decodes their text."""

    name = "text"
    fallbacks = (Fallback("text", frozenset({"text"})),)
    extensions = text_extensions()

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of a text file; None for any other."""
        return recognised("text", is_text_type, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` for a file that cannot be decoded."""
        self._decode(part)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the text, with a warning if its encoding was guessed. Raises `MediaError` for binary content."""
        from abstractcore.ports import Conversion

        text, guessed = self._decode(part)
        if guessed is None:
            return Conversion(text, "text")
        message = f"{source_of(part)} is not UTF-8; its encoding was guessed as {guessed}. Save it as UTF-8 to be sure."
        return Conversion(text, "text", warnings=(CallWarning("text_encoding", "", message, sent=guessed),))

    def _decode(self, part: MediaPart) -> tuple[str, str | None]:
        """Returns the text, and its encoding if that was guessed."""
        from ..common.sniffing import UNICODE_MARKS

        data, source = content_of(part), source_of(part)
        encoding = next((name for mark, name in UNICODE_MARKS.items() if data.startswith(mark)), "utf-8")
        text = _decoded(data, encoding)
        if text is not None:
            return text, None
        guessed = _guess_encoding(data) if encoding == "utf-8" and b"\0" not in data else None
        text = guessed and _decoded(data, guessed)
        if text is None:
            raise MediaError(
                f"{source} is not text: it cannot be decoded in any known encoding.",
                source=source,
                hint="If it is an image, audio or document, correct its file extension; if text, save it as UTF-8.",
            )
        return text, guessed


def _decoded(data: bytes, encoding: str) -> str | None:
    """Returns the text; None for bytes that are not valid in `encoding`, and for NULs, which no text has."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _guess_encoding(data: bytes) -> str | None:
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        raise missing_extra("Reading text that is not UTF-8", "charset-normalizer", "media") from error
    matches = list(from_bytes(data, cp_isolation=_LEGACY_ENCODINGS))
    # For short texts many encodings tie, and charset-normalizer then returns the first by name: cp1250 for French.
    tied = [match for match in matches if (match.chaos, match.coherence) == (matches[0].chaos, matches[0].coherence)]
    possible = {name for match in tied for name in match.could_be_from_charset}
    return next((name for name in _LEGACY_ENCODINGS if name in possible), None)
