"""UTF-16 surrogates in texts that a server split within a character, joined when both halves arrive."""

from __future__ import annotations

import re

_HALF = re.compile("[\ud800-\udfff]")


def has_surrogates(text: str) -> bool:
    """Whether `text` contains a surrogate."""
    return not text.isascii() and _HALF.search(text) is not None


def mend(text: str) -> str:
    """Returns `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if not has_surrogates(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class PendingSurrogates(dict[int, str]):
    """Pending high surrogates of chunked texts, by block.

    It is nearly always empty, which can be checked without a call.
    """

    def mend(self, block: int, piece: str) -> str:
        """Returns the text that is complete after the chunk `piece` of the block."""
        if block not in self and not has_surrogates(piece):
            return piece
        text = self.pop(block, "") + piece
        if "\ud800" <= text[-1:] <= "\udbff":
            self[block] = text[-1]
            text = text[:-1]
        return mend(text)

    def rest(self, block: int) -> str:
        """Returns U+FFFD if a surrogate of the block is pending at its end."""
        return mend(self.pop(block, ""))
