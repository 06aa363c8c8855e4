"""The numbers of blocks in a stream, and what has come of each so far."""

from __future__ import annotations

from dataclasses import dataclass, field

_ROOM = 1000
"""Blocks that an output item can have: the further fields first, then its contents, which share the last one."""


@dataclass(slots=True)
class OpenItem:
    """An output item that has begun, as the `number`th of its stream."""

    number: int
    places: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    seen: dict[int, int] = field(default_factory=dict[int, int])
    """How many characters of each block have come."""
    fields_told: bool = False

    @property
    def first(self) -> int:
        """The number of its first block."""
        return self.number * _ROOM

    def block(self, kind: str, index: int) -> int:
        """The number of the block for content `index` of a kind; the contents keep the order in which they come."""
        place = self.places.setdefault((kind, index), len(self.places) + 1)
        return self.first + min(place, _ROOM - 1)

    def blocks(self) -> list[int]:
        """The numbers of the blocks that there are so far."""
        return sorted({self.first + min(place, _ROOM - 1) for place in self.places.values()})


class OpenItems:
    """The output items of one stream, in the order in which they began."""

    def __init__(self) -> None:
        self._items: dict[int, OpenItem] = {}

    def at(self, index: int) -> OpenItem:
        """The item at an output index, begun if there is none."""
        item = self._items.get(index)
        if item is None:
            item = self._items[index] = OpenItem(len(self._items))
        return item
