"""What the store asks of the places that weights come from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class Source(Protocol):
    """Where a model comes from, and what it must be."""

    @property
    def name(self) -> str:
        """As the user writes it."""
        ...

    @property
    def file(self) -> str | None:
        """The file that is the whole model; None if the folder is."""
        ...

    @property
    def hashes(self) -> Mapping[str, str] | None:
        """SHA-256 in hex by file name; None if not known beforehand."""
        ...

    @property
    def copies(self) -> int:
        """How many times its size a fetch takes on the disk."""
        ...

    def size(self) -> int:
        """Bytes of the weights; may ask over the network."""
        ...

    def by_hand(self, folder: Path) -> str:
        """How to do without a fetch, as the end of "... or"."""
        ...

    def fetch(self, scratch: Path) -> Path:
        """A folder in `scratch` with nothing but the weights. Raises `OSError` for a full disk."""
        ...
