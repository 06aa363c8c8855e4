"""The numbers of blocks in a stream, and the content of each so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from abstractcore.schema import NO_OPTIONS, ProviderOptions

from ...common.reading import Object
from .streamed_calls import StreamedResponsesCall

_ROOM = 1000
"""The largest number of blocks of an output item. Further content goes to the last one."""


@dataclass(slots=True)
class OpenItem:
    """An output item that was started, as the `number`th of its stream."""

    number: int
    blocks: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    """The number of each block in the item, by kind and index of its content."""
    seen: dict[int, int] = field(default_factory=dict[int, int])
    """How many characters of each block were received."""
    options: ProviderOptions = NO_OPTIONS
    """The options of its texts or its call."""
    call_id: str | None = None
    """The id of its tool call."""
    added: Object = field(default_factory=dict[str, Any])
    """The item of a hosted tool as it was when it started."""
    call: StreamedResponsesCall | None = None
    """The call of a tool that the caller runs."""

    def block(self, kind: str, index: int) -> int:
        """Returns the number of the block for content `index` of a kind; in order of arrival."""
        block = self.blocks.setdefault((kind, index), len(self.blocks))
        return self.number * _ROOM + min(block, _ROOM - 1)

    def kinds(self) -> dict[int, str]:
        """The kind of each block so far, in order."""
        return {self.block(kind, index): kind for kind, index in self.blocks}


class OpenItems:
    """The output items of one stream, in the order in which they started."""

    def __init__(self) -> None:
        self._items: dict[int, OpenItem] = {}
        self._count = 0

    def at(self, index: int) -> OpenItem:
        """Returns the item at an output index, which is started if there is none."""
        item = self._items.get(index)
        return self.begin(index) if item is None else item

    def begin(self, index: int) -> OpenItem:
        """Starts a new item at an output index."""
        item = self._items[index] = self.beside()
        return item

    def beside(self) -> OpenItem:
        """Starts content that has no output index."""
        self._count += 1
        return OpenItem(self._count - 1)
