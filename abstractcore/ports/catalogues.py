"""`CatalogueFile`: a plugin's facts about the models of a provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Any, Protocol


class Openable(Protocol):
    """A file that can be opened: a path, or a resource of a package."""

    def open(self, mode: Any = "r", /) -> IO[Any]:
        """Opens the file; with "rb" for reading bytes."""
        ...


@dataclass(frozen=True, slots=True)
class CatalogueFile:
    """The catalogue of the provider called `name`: JSON lines as docs/catalogue.md describes them.

    `file` is a path or a resource of a package. It is opened when the first model of the provider is looked up.
    """

    name: str
    file: Openable
