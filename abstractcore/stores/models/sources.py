"""`ModelSource`: the interface of the sites that weights are downloaded from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol


class ModelSource(Protocol):
    """One site with the files of one model, and their expected checksums."""

    @property
    def name(self) -> str:
        """The model's name as the user writes it."""
        ...

    @property
    def site(self) -> str:
        """The site, for messages."""
        ...

    @property
    def file(self) -> str | None:
        """The file of a model that is one file; None for a folder."""
        ...

    @property
    def hashes(self) -> Mapping[str, str] | None:
        """SHA-256 in hex by file name; None if not known before the download."""
        ...

    def size(self) -> int:
        """Returns the bytes of the weights; may send a request. Raises `ModelStoreError` if the site has none."""
        ...

    def space(self, size: int, partial: Path) -> int:
        """Returns the disk space in bytes that the download of `size` bytes needs besides what `partial` has."""
        ...

    def by_hand(self, folder: Path) -> str:
        """Returns an alternative to the download, as the end of "... or"."""
        ...

    def fetch(self, scratch: Path, partial: Path) -> Path:
        """Downloads the weights to a folder in `scratch` or `partial`, and returns it.

        Files in `partial` are kept if the download is interrupted, and continued by the next. Raises `OSError` for a
        full disk.
        """
        ...
