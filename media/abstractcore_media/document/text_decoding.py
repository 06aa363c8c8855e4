"""Decodes text files in any encoding."""

from __future__ import annotations

import codecs
import unicodedata

from abstractcore.errors import MediaError
from abstractcore.schema import CallWarning

from ..common.extras import missing_extra

_LEGACY_ENCODINGS = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp932", "euc_jp",
                     "gb18030", "big5", "cp949"]  # fmt: skip
"""Candidates for text that is not Unicode, likeliest first: Windows code pages, Russian Unix, East Asia."""


_SUPERSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "euc_kr": "cp949",
    "utf-16": "utf-16-le", "utf-8-sig": "utf-8",
}  # fmt: skip
"""What files have that name an encoding, as the WHATWG Encoding Standard found: a superset of it."""
_OTHER_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "iso8859-6": "csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i",
    "iso8859-7": "sun_eu_greek",
    "iso8859-8": "csiso88598e csiso88598i iso-8859-8-e iso-8859-8-i logical visual",
    "iso8859-15": "csisolatin9",
    "koi8-r": "koi koi8",
    "koi8-u": "koi8-ru",
    "mac-roman": "csmacintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "dos-874 windows-874",
    "gb18030": "csgb2312 gb_2312 gb_2312-80 x-gbk",
    "big5hkscs": "cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese x-euc-jp",
    "cp932": "csshiftjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601 windows-949",
    "utf-16-be": "unicodefffe",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff",
}
"""Labels of the same standard that Python lacks, beside "iso88592" for "iso-8859-2" and "x-cp1250" for "cp1250"."""
_CODECS = {label: codec for codec, labels in _OTHER_LABELS.items() for label in labels.split()}
_NOT_OF_FILES = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "mbcs", "oem"})


_SAMPLE = 20_000
_COMMON = " \n\t,.;:0123456789aeiouAEIOU\N{IDEOGRAPHIC COMMA}\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH COMMA}"
_MIN_PER_NUL = 10
"""Of the bytes of a text at most one in so many is a NUL, such as between records."""


def codec_of(label: str | None) -> str | None:
    """Returns the codec for a label of HTML or MIME, "cp1252" for "ISO-8859-1"; None for an unknown one."""
    name = (label or "").strip().strip("\"'").lower()
    if name in _CODECS:
        return _CODECS[name]
    if name.startswith("iso8859") and name[7:].isdecimal():
        name = f"iso8859-{name[7:]}"
    try:
        found = codecs.lookup(name.removeprefix("x-"))
        "".encode(found.name)
    except (LookupError, UnicodeError, ValueError):
        return None
    return None if found.name in _NOT_OF_FILES else _SUPERSETS.get(found.name, found.name)


def guess_warning(source: str, encoding: str) -> CallWarning:
    """Returns the warning for texts that are neither UTF-8 nor say their encoding."""
    message = f"{source} is not UTF-8; its encoding was guessed as {encoding}. Save it as UTF-8 to be sure."
    return CallWarning("text_encoding", "", message, sent=encoding)


def decoded(data: bytes, source: str) -> tuple[str, str | None]:
    """Returns the text, and its encoding if that was guessed; raises `MediaError` for content that is not text, and
    for white space alone.
    """
    text, guessed = _any_decoded(data, source)
    if not text.strip():
        raise MediaError(
            f"{source} has no text: it is empty, or white space.", source=source, hint="Send a file that has a text."
        )
    return text, guessed


def _any_decoded(data: bytes, source: str) -> tuple[str, str | None]:
    from ..common.sniffing import UNICODE_MARKS

    encoding = next((name for mark, name in UNICODE_MARKS.items() if data.startswith(mark)), "utf-8")
    text = _decoded(data, encoding)
    if text is not None:
        return text, None
    guessed = None
    if encoding == "utf-8":
        guessed = _guessed_utf16(data) if b"\0" in data else guessed_encoding(data)
    text = _decoded(data, guessed) if guessed is not None else _without_nuls(data)
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


def _without_nuls(data: bytes) -> str | None:
    """Returns a text that has NULs here and there, such as between records, without them."""
    if data.count(b"\0") > len(data) / _MIN_PER_NUL:
        return None
    text = _decoded(data.replace(b"\0", b""), "utf-8")
    return text if text is not None and all(map(_is_assigned, text[:_SAMPLE])) else None


def _guessed_utf16(data: bytes) -> str | None:
    """Returns the byte order of UTF-16 without a mark, by how common its characters are; None for other bytes."""
    for codec in ("utf-16-le", "utf-16-be"):
        text = (_decoded(data, codec) or "")[:_SAMPLE]
        common = sum(map(text.count, _COMMON))
        if common > len(text) / 20 and all(map(_is_assigned, text)):
            return codec
    return None


def _is_assigned(character: str) -> bool:
    return unicodedata.category(character) not in ("Cn", "Co", "Cs") and (character >= " " or character in "\t\n\r\f\v")


def guessed_encoding(data: bytes) -> str | None:
    """Returns the likeliest encoding of a text that is not UTF-8, None if there is none."""
    try:
        from charset_normalizer import from_bytes
    except ImportError as error:
        raise missing_extra("Reading text that is not UTF-8", "charset-normalizer", "media") from error
    matches = list(from_bytes(data, cp_isolation=_LEGACY_ENCODINGS))
    # For short texts many encodings tie, and charset-normalizer then returns the first by name: cp1250 for French.
    tied = [match for match in matches if (match.chaos, match.coherence) == (matches[0].chaos, matches[0].coherence)]
    possible = {name for match in tied for name in match.could_be_from_charset}
    return next((name for name in _LEGACY_ENCODINGS if name in possible), None)
