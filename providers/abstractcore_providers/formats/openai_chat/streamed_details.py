"""Reasoning that a stream brings as objects, piece by piece (OpenRouter)."""

from __future__ import annotations

from ...common.json_reading import Object, mended
from .reasoning_details import signature_and_data, text_and_rest

ROOM = 1_000_000
"""How many objects there may be: each is a block, and stands before the answer's text."""


class StreamedDetails:
    """The objects of one stream. Pieces of one follow each other under its type and index."""

    __slots__ = ("_has_text", "_rests")

    def __init__(self) -> None:
        self._rests: list[Object] = []
        self._has_text: list[bool] = []

    def add(self, piece: Object) -> tuple[int, str]:
        """The block of the object that `piece` belongs to, and the piece's text."""
        text, rest = text_and_rest(piece)
        if self._rests and _continues(self._rests[-1], rest):
            self._rests[-1].update({name: value for name, value in rest.items() if value is not None})
        else:
            self._rests.append(rest)
            self._has_text.append(False)
        self._has_text[-1] |= text != ""
        return len(self._rests) - 1, text

    def signatures(self) -> list[tuple[int, str | None, str | None]]:
        """The blocks, now that all have come, each with its signature and its redacted data."""
        sealed = (
            signature_and_data(mended(rest), spoken) for rest, spoken in zip(self._rests, self._has_text, strict=True)
        )
        return [(number, *seal) for number, seal in enumerate(sealed)]


def _continues(before: Object, piece: Object) -> bool:
    """Whether `piece` is more of the object before it. Encrypted data comes whole."""
    if "data" in piece or "data" in before:
        return False
    ids = (before.get("id"), piece.get("id"))
    return (None in ids or ids[0] == ids[1]) and all(before.get(key) == piece.get(key) for key in ("type", "index"))
