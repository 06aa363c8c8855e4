"""`RecentResponses`: the newest response of each stream of a WebSocket connection, continued without a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .items import Item


@dataclass(frozen=True, slots=True)
class RecentResponse:
    """A response with the items that one which continues it begins with; `size` is what they take, in bytes."""

    id: str
    items: Sequence[Item]
    size: int


class RecentResponses:
    """Keeps responses of up to `most_bytes` together, in the memory of a connection: the oldest ones are forgotten."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._kept: dict[str | None, RecentResponse] = {}

    def items(self, id: str) -> Sequence[Item] | None:
        """Returns the items that a response which continues this one begins with; None if it is not kept."""
        return next((each.items for each in self._kept.values() if each.id == id), None)

    def add(self, stream: str | None, response: RecentResponse) -> None:
        """Keeps a response instead of the one before it in its stream."""
        self._kept.pop(stream, None)
        self._kept[stream] = response
        while sum(each.size for each in self._kept.values()) > self._most:
            del self._kept[next(iter(self._kept))]
