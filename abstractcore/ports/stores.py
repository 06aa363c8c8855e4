"""Stores of model weights and of artifacts."""

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
    """Stores model weights on this machine. Methods may block, and raise `ModelStoreError`."""

    def path(self, name: str) -> Path:
        """Returns the path of the weights of `name`, which are downloaded and verified first if necessary."""
        ...

    def list(self) -> Sequence[StoredModel]:
        """Returns the stored models."""
        ...

    def pull(self, name: str) -> StoredModel:
        """Downloads and verifies `name` unless it is stored already."""
        ...

    def remove(self, name: str) -> bool:
        """Deletes `name`; returns False if it was not stored."""
        ...


class ArtifactStore(Protocol):
    """Stores content by its SHA-256, for blobs that refer to it. Methods may block, and raise `ArtifactError`."""

    def put(self, data: bytes, media_type: str, name: str | None = None) -> Blob:
        """Stores `data`; returns a blob of form "artifact" that refers to it."""
        ...

    def get(self, sha256: str) -> bytes:
        """Returns the content with the hash `sha256`, in lower-case hex digits."""
        ...
