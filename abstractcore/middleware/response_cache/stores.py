"""Where a response cache keeps its entries in memory, and the interface of such places."""

from __future__ import annotations

from typing import Protocol

from .entries import Entry


class Entries(Protocol):
    """Entries by their key. Both methods may block, and raise `DatabaseError`."""

    def get(self, key: str) -> Entry | None:
        """Returns the entry, however old it is; None without one, and for one that cannot be read."""
        ...

    def put(self, key: str, entry: Entry, oldest: float | None) -> None:
        """Keeps an entry, and removes some of those from before `oldest`, and beyond the limit of entries."""
        ...

    def clear(self) -> None:
        """Removes all entries."""
        ...


class MemoryEntries:
    """Entries of this process. Each access of the dictionary is atomic: there is no lock that a fork could copy."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._entries: dict[str, Entry] = {}

    def get(self, key: str) -> Entry | None:
        """Returns the entry, or None."""
        return self._entries.get(key)

    def put(self, key: str, entry: Entry, oldest: float | None) -> None:
        """Keeps an entry; the one that was stored first goes beyond the limit."""
        self._entries.pop(key, None)
        self._entries[key] = entry
        extra = len(self._entries) - self._max_entries
        if extra > 0:
            for each in list(self._entries)[:extra]:
                self._entries.pop(each, None)

    def clear(self) -> None:
        """Removes all entries."""
        self._entries.clear()
