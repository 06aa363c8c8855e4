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


class WaitingHalves(dict[int, str]):
    """Mends texts that come in pieces: the first half of a character that ends a piece, by the block it waits in.

    It is empty nearly always, which costs no call to see.
    """

    def mend(self, block: int, piece: str) -> str:
        """What is complete with `piece` of the block's text."""
        if block not in self and not has_halves(piece):
            return piece
        text = self.pop(block, "") + piece
        if "\ud800" <= text[-1:] <= "\udbff":
            self[block] = text[-1]
            text = text[:-1]
        return mend(text)

    def rest(self, block: int) -> str:
        """U+FFFD if a half is left of the block's text, which is over."""
        return mend(self.pop(block, ""))
