"""Characters that a server cut in half: UTF-16 surrogates, joined again where both halves arrive."""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")


def has_halves(text: str) -> bool:
    """Whether `text` holds a surrogate."""
    return not text.isascii() and _HALF.search(text) is not None


def mend(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if not has_halves(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class HalfJoiner:
    """Mends a text that comes in pieces; a first half at the end of a piece waits for the next one."""

    __slots__ = ("_half",)

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """What is complete with `piece`."""
        text = self._half + piece
        self._half = text[-1] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return mend(text[:-1] if self._half else text)

    def finish(self) -> str:
        """U+FFFD if a half is left."""
        return mend(self._half)
