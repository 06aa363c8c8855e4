"""Reasoning objects that are streamed in chunks (OpenRouter)."""

from __future__ import annotations

from ...common.reading import Object, mended
from .reasoning_details import signature_and_data, text_and_rest

ROOM = 1_000_000
"""The largest number of objects: each is a block, and comes before the answer's text."""


class StreamedDetails:
    """The objects of one stream. Adjacent chunks of an object have the same type and index."""

    __slots__ = ("_has_text", "_rests")

    def __init__(self) -> None:
        self._rests: list[Object] = []
        self._has_text: list[bool] = []

    def add(self, piece: Object) -> tuple[int, str]:
        """Returns the block of the object that `piece` belongs to, and the chunk's text."""
        text, rest = text_and_rest(piece)
        if self._rests and _continues(self._rests[-1], rest):
            self._rests[-1].update({name: value for name, value in rest.items() if value is not None})
        else:
            self._rests.append(rest)
            self._has_text.append(False)
        self._has_text[-1] |= text != ""
        return len(self._rests) - 1, text

    def signatures(self) -> list[tuple[int, str | None, str | None]]:
        """Returns the complete blocks, each with its signature and its redacted data."""
        pairs = (
            signature_and_data(mended(rest), has_text)
            for rest, has_text in zip(self._rests, self._has_text, strict=True)
        )
        return [(number, *pair) for number, pair in enumerate(pairs)]


def _continues(before: Object, piece: Object) -> bool:
    """Whether `piece` continues the object before it. Encrypted data is never chunked."""
    if "data" in piece or "data" in before:
        return False
    ids = (before.get("id"), piece.get("id"))
    return (None in ids or ids[0] == ids[1]) and all(before.get(key) == piece.get(key) for key in ("type", "index"))
