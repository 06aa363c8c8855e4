"""Stores of model weights and of artifacts.

Rows of weights: models with a short name, and the packages of public indexes that have their files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

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


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """Content in a store: its SHA-256, its size in bytes, and when it was stored, in seconds since the epoch."""

    sha256: str
    size: int
    stored_at: float


class ArtifactStore(Protocol):
    """Stores content by its SHA-256, for blobs that refer to it. Methods may block, and raise `ArtifactError`."""

    def put(self, data: bytes, media_type: str, name: str | None = None) -> Blob:
        """Stores `data`; returns a blob of form "artifact" that refers to it."""
        ...

    def get(self, sha256: str) -> bytes:
        """Returns the content with the hash `sha256`, in lower-case hex digits."""
        ...

    def exists(self, sha256: str) -> bool:
        """Returns whether the content with this hash is stored."""
        ...

    def delete(self, sha256: str) -> bool:
        """Deletes the content with this hash; returns False if it was not stored."""
        ...

    def list(self) -> Iterable[StoredArtifact]:
        """Returns what is stored, in the order of the hashes."""
        ...


class MachineServices(Protocol):
    """What providers, capabilities and backends get of the machine."""

    @property
    def models(self) -> ModelStore:
        """The store of model weights; blocks."""
        ...

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables, for keys and addresses."""
        ...

    @property
    def spare_cores(self) -> int:
        """Processor cores that a model on this machine may use, at least one. May read files."""
        ...


@dataclass(frozen=True, slots=True)
class WheelFile:
    """A file in a wheel on the package index: the pinned requirement, its path in the wheel, its size in bytes."""

    requirement: str
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class NpmFile:
    """A file in a package of the npm registry: the requirement as name@version, its path in the package, its size in
    bytes.
    """

    requirement: str
    path: str
    size: int


FilePart: TypeAlias = WheelFile | NpmFile


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of weights: its name in the store, its size in bytes, its SHA-256 in hex, and where it is published."""

    name: str
    size: int
    sha256: str
    parts: tuple[FilePart, ...]
    """The files of packages that it is made of, in order."""
    hub: str | None = None
    """The same file on a Hugging Face hub, as owner/repository/path."""

    @classmethod
    def in_wheel(cls, requirement: str, path: str, size: int, sha256: str) -> ModelFile:
        """Returns a file that is one file of a wheel, and has its name."""
        return cls(path.rpartition("/")[2], size, sha256, (WheelFile(requirement, path, size),))

    @classmethod
    def in_npm(cls, requirement: str, path: str, size: int, sha256: str) -> ModelFile:
        """Returns a file that is one file of an npm package, and has its name."""
        return cls(path.rpartition("/")[2], size, sha256, (NpmFile(requirement, path, size),))


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model with a short name, its licence and what it is good for."""

    name: str
    files: tuple[ModelFile, ...]
    licence: str
    summary: str

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)
