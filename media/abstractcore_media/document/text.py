"""Text files: plain text, Markdown, JSON, YAML, XML, source code, in any encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstractcore.ports import Fallback
from abstractcore.schema import MediaPart

from ..common.content import content_of, source_of
from ..common.media_types import is_text_type, text_extensions
from ..common.recognition import recognised
from .glyphs.fallback import drawn_or_text, glyphs

if TYPE_CHECKING:
    from abstractcore.ports import Conversion, MediaContext, Recognised


AS_TEXT_OR_SOURCE = (Fallback("text", frozenset({"text"})), Fallback("source", frozenset({"text"})), glyphs())
"""Text files as they read best, or as they are: the Markdown of a page, or its HTML; or drawn."""


class TextHandler:
    """Handles text files: decodes their text."""

    name = "text"
    fallbacks = AS_TEXT_OR_SOURCE
    extensions = text_extensions()

    def recognise(self, head: bytes, name: str, declared: str | None) -> Recognised | None:
        """Returns the type of a text file; None for any other."""
        return recognised("text", is_text_type, head, name, declared)

    def check(self, part: MediaPart) -> None:
        """Raises `MediaError` for a file that cannot be decoded."""
        from .text_decoding import decoded

        decoded(content_of(part), source_of(part))

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        """Returns the text, with a warning if its encoding was guessed, or images of it. Raises `MediaError` for binary
        content.
        """
        return drawn_or_text(part, context, self._as_text)

    def _as_text(self, part: MediaPart, context: MediaContext) -> Conversion:
        from abstractcore.ports import Conversion
        from abstractcore.schema import MediaLoss

        from .file_ends import is_cut
        from .text_decoding import decoded, guess_warning
        from .vocabularies import CUT_OFF

        data = content_of(part)
        text, guessed = decoded(data, source_of(part))
        warnings = () if guessed is None else (guess_warning(source_of(part), guessed),)
        lost = (MediaLoss(CUT_OFF, 1),) if is_cut(data, part.blob.media_type) else ()
        return Conversion(text, "text", warnings=warnings, lost=lost)
