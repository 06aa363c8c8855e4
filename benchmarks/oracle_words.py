"""Words and numbered lines as our readers give them and as LibreOffice shows them, compared file by file."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pypdfium2  # pyright: ignore[reportMissingTypeStubs]
from oracle_cells import SMALL, Compared

from abstractcore.ports import Conversion

_WORD = re.compile(r"[^\W_]{2,}")
_MARK = re.compile(r"</?su[bp]>|~~|\*\*")
_NUMBERED = re.compile(r"\s*(?:(?:\d+|[ivxlcIVXLC]+|[a-zA-Z])(?:\.\w+)*[.)]?|\(\w+\))[ \t]+\S")
_LINK = re.compile(r"\[([^\[\]]{1,500})\]\([^()]{1,2000}\)")
_START = 40
"""Characters of a numbered line that are compared; its words are, one by one."""
_CHART = re.compile(r"^\[(?:[\w ]+ )?chart\b", re.MULTILINE)
_BULLET = re.compile(r"^[•◦▪‣●○■◾\u2013*\uf0b7·➢-]\s+")


def compared_words(conversion: Conversion, shown: Sequence[Path]) -> Iterator[Compared]:
    """Yields each word that LibreOffice shows, once, and each line with a number that it writes as text.

    Charts are tables of their values for us, without the numbers on their axes.
    """
    theirs = "\n".join(map(_text, shown))
    ours = _plain(conversion.text)
    have = set(_WORD.findall(ours))
    joined = re.sub(r"\W", "", ours)
    is_drawn = any(path.suffix == ".pdf" for path in shown)
    for word in dict.fromkeys(_WORD.findall(_plain(theirs))):
        if word in have or word in joined:  # lines of a PDF may end within a word
            yield Compared("", word, word, "same")
        else:
            is_on_axis = is_drawn and word.isdecimal() and _CHART.search(ours) is not None
            yield Compared("", "", word, "number on an axis" if is_on_axis else "")
    if is_drawn:
        return
    lines = list(map(_line, conversion.text.splitlines()))
    for line in map(_line, filter(_NUMBERED.match, theirs.splitlines())):
        found = next((each for each in lines if line[:_START] in each), "")
        yield Compared("", found, line, "same numbered line" if found else "")


def _text(path: Path) -> str:
    if path.suffix != ".pdf":
        return path.read_text(encoding="utf-8", errors="replace")
    with cast(Any, pypdfium2).PdfDocument(path) as document:
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def _plain(text: str) -> str:
    """Returns a text without our marks, in small letters."""
    return unicodedata.normalize("NFKC", _MARK.sub("", text.translate(SMALL))).casefold()


def _line(text: str) -> str:
    """Returns a line without indentation and addresses of links, with one bullet for all."""
    return " ".join(_LINK.sub(r"\1", _BULLET.sub("- ", text.lstrip(" \t#"))).split())
