"""`Journal`: where the events of a tool loop are noted, so that it can be continued after a crash."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from ..schema import JournalEntry


@runtime_checkable
class Journal(Protocol):
    """The events of one loop, in order. `append` may be called from several threads at once."""

    def open(self) -> Iterable[JournalEntry]:
        """Returns the events so far, and keeps other processes from writing until `close`."""
        ...

    def append(self, entry: JournalEntry) -> None:
        """Notes an event, durably, before it returns. Raises `JournalError` if it cannot, or is not open."""
        ...

    def close(self) -> None:
        """Lets other processes write. A closed journal can be opened again."""
        ...
