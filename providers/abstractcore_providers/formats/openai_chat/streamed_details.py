"""Reasoning that a stream brings as objects, piece by piece (OpenRouter)."""

from __future__ import annotations

from typing import Any, Protocol

from abstractcore.schema import Delta, ReplyEnd, ReplyStart, UsageDelta

from ...common.json_reading import Object, mended
from .reasoning_details import seals, text_and_rest

_ROOM = 1_000_000
"""How many objects there may be: each is a block, and stands before the answer's text."""


class StreamedDetails:
    """The objects of one stream. Pieces of one follow each other under its type and index."""

    __slots__ = ("_rests", "_spoken")

    def __init__(self) -> None:
        self._rests: list[Object] = []
        self._spoken: list[bool] = []

    def add(self, piece: Object) -> tuple[int, str]:
        """The block of the object that `piece` belongs to, and the piece's text."""
        text, rest = text_and_rest(piece)
        if self._rests and _continues(self._rests[-1], rest):
            self._rests[-1].update({name: value for name, value in rest.items() if value is not None})
        else:
            self._rests.append(rest)
            self._spoken.append(False)
        self._spoken[-1] |= text != ""
        return len(self._rests) - 1 - _ROOM, text

    def seals(self) -> list[tuple[int, str | None, str | None]]:
        """The blocks, now that all have come, each with its signature and its redacted data."""
        sealed = (seals(mended(rest), spoken) for rest, spoken in zip(self._rests, self._spoken, strict=True))
        return [(number - _ROOM, *seal) for number, seal in enumerate(sealed)]


def _continues(before: Object, piece: Object) -> bool:
    """Whether `piece` is more of the object before it. Encrypted data comes whole."""
    if "data" in piece or "data" in before:
        return False
    ids = (before.get("id"), piece.get("id"))
    return (None in ids or ids[0] == ids[1]) and all(before.get(key) == piece.get(key) for key in ("type", "index"))


class _Decoder(Protocol):
    complete: bool

    def feed(self, frame: Any) -> list[Delta]: ...

    def finish(self) -> list[Delta]: ...


class MovedBlocks:
    """A decoder whose blocks have numbers from below zero on, with numbers from zero on."""

    def __init__(self, decoder: _Decoder) -> None:
        self._decoder = decoder

    @property
    def complete(self) -> bool:
        """As the decoder says."""
        return self._decoder.complete

    def feed(self, frame: Any) -> list[Delta]:
        """The deltas of one event."""
        return _moved(self._decoder.feed(frame))

    def finish(self) -> list[Delta]:
        """The end of the reply."""
        return _moved(self._decoder.finish())


def _moved(deltas: list[Delta]) -> list[Delta]:
    for delta in deltas:
        if not isinstance(delta, ReplyStart | UsageDelta | ReplyEnd):
            delta.block += _ROOM
    return deltas
