"""The numbers of blocks in a stream, and what has come of each so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from abstractcore.schema import NO_OPTIONS, ProviderOptions

_ROOM = 1000
"""Blocks that an output item can have. What comes after them shares the last one."""


@dataclass(slots=True)
class OpenItem:
    """An output item that has begun, as the `number`th of its stream."""

    number: int
    places: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    seen: dict[int, int] = field(default_factory=dict[int, int])
    """How many characters of each block have come."""
    options: ProviderOptions = NO_OPTIONS
    """Those of its parts."""
    call_id: str | None = None
    """That of the tool call that it is."""

    def block(self, kind: str, index: int) -> int:
        """The number of the block for content `index` of a kind; the contents keep the order in which they come."""
        place = self.places.setdefault((kind, index), len(self.places))
        return self.number * _ROOM + min(place, _ROOM - 1)

    def kinds(self) -> dict[int, str]:
        """The kind of each block that there is so far, in order."""
        return {self.block(kind, index): kind for kind, index in self.places}


class OpenItems:
    """The output items of one stream, in the order in which they began."""

    def __init__(self) -> None:
        self._items: dict[int, OpenItem] = {}
        self._count = 0

    def at(self, index: int) -> OpenItem:
        """The item at an output index, begun if there is none."""
        item = self._items.get(index)
        return self.begin(index) if item is None else item

    def begin(self, index: int) -> OpenItem:
        """A new item at an output index."""
        item = self._items[index] = OpenItem(self._count)
        self._count += 1
        return item
