"""Where weights and content are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..schema import Blob


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model in the store: its name, its folder or file, and its size in bytes."""

    name: str
    path: Path
    size: int


class ModelStore(Protocol):
    """Keeps model weights on this machine. All of it blocks; raises `ModelStoreError`."""

    def path(self, name: str) -> Path:
        """The weights of `name`, fetched and checked first if they are not there."""
        ...

    def list(self) -> Sequence[StoredModel]:
        """What is kept."""
        ...

    def pull(self, name: str) -> StoredModel:
        """Fetch and check `name` unless it is there already."""
        ...

    def remove(self, name: str) -> bool:
        """Delete `name`; False if it was not there."""
        ...


class ArtifactStore(Protocol):
    """Keeps content by its SHA-256, for blobs that refer to it. All of it blocks; raises `ArtifactError`."""

    def put(self, data: bytes, media_type: str, name: str | None = None) -> Blob:
        """Keep `data`; gives the reference to it, of form "artifact"."""
        ...

    def get(self, sha256: str) -> bytes:
        """The content whose hash is `sha256`, in lower-case hex digits."""
        ...
