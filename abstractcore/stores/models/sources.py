"""`Source`: the interface of the sites that weights are downloaded from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class Source(Protocol):
    """The source of one model, with its expected checksums."""

    @property
    def name(self) -> str:
        """The name as the user writes it."""
        ...

    @property
    def file(self) -> str | None:
        """The file of a model that is one file; None for a folder."""
        ...

    @property
    def hashes(self) -> Mapping[str, str] | None:
        """SHA-256 in hex by file name; None if not known before the download."""
        ...

    @property
    def copies(self) -> int:
        """The disk space that a download needs, as a multiple of `size`."""
        ...

    def size(self) -> int:
        """Returns the bytes of the weights; may send a request."""
        ...

    def by_hand(self, folder: Path) -> str:
        """Returns an alternative to the download, as the end of "... or"."""
        ...

    def fetch(self, scratch: Path) -> Path:
        """Downloads the weights to a folder in `scratch`, and returns it. Raises `OSError` for a full disk."""
        ...
