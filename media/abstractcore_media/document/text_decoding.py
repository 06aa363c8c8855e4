"""Decodes text files in any encoding."""

from __future__ import annotations

from abstractcore.errors import MediaError

from ..common.extras import missing_extra

_LEGACY_ENCODINGS = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp932", "euc_jp",
                     "gb18030", "big5", "cp949"]  # fmt: skip
"""Candidates for text that is not Unicode, likeliest first: Windows code pages, Russian Unix, East Asia."""


def decoded(data: bytes, source: str) -> tuple[str, str | None]:
    """Returns the text, and its encoding if that was guessed; raises `MediaError` for content that is not text, and
    for white space alone.
    """
    text, guessed = _any_decoded(data, source)
    if not text.strip():
        raise MediaError(f"{source} has no text: it is empty, or white space.", source=source)
    return text, guessed


def _any_decoded(data: bytes, source: str) -> tuple[str, str | None]:
    from ..common.sniffing import UNICODE_MARKS

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
