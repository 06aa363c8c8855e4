"""The documents of an index and their chunks as data. `VectorStore`: the port for vectors that are kept elsewhere."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ..schema import EMPTY, MediaAnchor, Vectors, from_data, to_data
from .chunks import Chunk


class VectorStore(Protocol):
    """Keeps the vectors of chunks by their numbers, which are never used twice. Its methods may be called from any
    thread, and block.
    """

    def put(self, numbers: Sequence[int], vectors: Vectors) -> None:
        """Keeps vectors, in place of others with the same numbers."""
        ...

    def remove(self, numbers: Sequence[int]) -> None:
        """Removes vectors; numbers that it does not have are ignored."""
        ...

    def nearest(self, vector: Vectors, most: int, among: Sequence[int] | None) -> Sequence[tuple[int, float]]:
        """Returns the numbers of up to `most` vectors with the largest inner product with the one in `vector`, and that
        product, the largest first; with `among`, of these numbers only.
        """
        ...


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document of an index. `id` is the path of a file, or the id of a text. `problem` says why a file is not found:
    its text could not be read; None for all others.
    """

    id: str
    name: str
    is_file: bool
    """Whether it is a file, and not a text."""
    chunks: int
    """Into how many parts it is divided."""
    tags: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]
    problem: str | None = None


class FileState(NamedTuple):
    """What is known of a file, to tell whether it has changed: its size, the time of its change and its hash, which is
    empty if the file is to be read again.
    """

    size: int
    modified: int
    sha256: str
    problem: str | None


@dataclass(slots=True)
class NewDocument:
    """A document to write: its text, with the places of its pieces in the file, and its chunks. Without `tags`, it has
    those of the document that it replaces; without a `number`, it gets a new one.
    """

    id: str
    name: str
    sha256: str
    text: str = ""
    anchors: Sequence[MediaAnchor] = ()
    chunks: Sequence[Chunk] = ()
    size: int | None = None
    modified: int | None = None
    tags: Mapping[str, str] | None = None
    problem: str | None = None
    number: int | None = None


class StoredChunk(NamedTuple):
    """A chunk with its document."""

    number: int
    chunk: Chunk
    document: int
    id: str
    name: str
    is_file: bool
    tags: Mapping[str, str]


class DocumentText(NamedTuple):
    """The text of a document, and the places of its pieces in the file."""

    text: str
    anchors: Sequence[MediaAnchor]


def packed(text: str) -> bytes:
    """Returns a text as compressed bytes."""
    return zlib.compress(text.encode(), 6)


def unpacked(data: bytes) -> str:
    """Returns the text of compressed bytes."""
    return zlib.decompress(data).decode()


def anchor_data(anchors: Sequence[MediaAnchor]) -> str:
    """Returns anchors as JSON."""
    return json.dumps([to_data(anchor) for anchor in anchors])


def anchors_of(text: str) -> list[MediaAnchor]:
    """Returns the anchors of JSON."""
    return [from_data(MediaAnchor, each) for each in json.loads(text)]
