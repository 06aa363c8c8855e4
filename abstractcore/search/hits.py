"""`Hit`: a chunk that was found, with its place in its file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log
from typing import Final

from ..schema import EMPTY, Blob, DocumentPart, Source
from ..schema.reprs import RichDisplay, ShortRepr
from ..schema.source_texts import TextSource
from .chunks import Chunk
from .documents import DocumentText, StoredChunk

_WORD: Final = re.compile(r"\w+")
_LINE: Final = re.compile(r"[^\n]+")
_DASHES: Final = "| ---"
_LONGEST_LINE: Final = 200


@dataclass(frozen=True, slots=True)
class Hit(ShortRepr, RichDisplay):
    """A part of a document that was found: `text`, and `source`, the place in the file of what answers the query best
    in it, as `response.sources` has places: page and box, sheet and cell, seconds, paragraph.

    `file` is the path of the file, None for a text that was added as such; `id` is its id, or the path. `line` is the
    line of a text without other places, from 1. `score` is from 0 to 1, and compares hits of one search only: see
    `Index.search`. `similarity` is the cosine of the vectors of query and text, None for a hit that was found by its
    words alone.

    `generate(..., media=hits)` sends hits as documents that are named by their places.
    """

    id: str
    text: str
    score: float
    source: Source
    file: str | None = None
    similarity: float | None = None
    line: int | None = None
    tags: Mapping[str, str] = EMPTY  # pyright: ignore[reportAssignmentType]

    @property
    def where(self) -> str:
        """The place in words: "report.pdf, page 3", "sales.xlsx, Sales!B2", "call.mp3, 01:05", "notes.md, line 12"."""
        return self.source.where if self.line is None else f"{self.source.where}, line {self.line}"

    def media_part(self) -> DocumentPart:
        """Returns the hit as a document, whose name is its place."""
        return DocumentPart(Blob.from_bytes(self.text.encode(), "text/plain", name=self.where))

    def __display__(self) -> Iterator[object]:
        from ..schema.displays import SmallPrint

        yield self.text
        yield SmallPrint([self.where, f"score {self.score:.3f}"])

    def __display_row__(self) -> dict[str, object]:
        tags = ", ".join(f"{name}: {value}" for name, value in self.tags.items())
        return {"place": self.where, "text": self.text, "score": self.score, "tags": tags}

    def __str__(self) -> str:
        return f"{self.where}: {one_line(self.source.text or self.text)}"


def one_line(text: str) -> str:
    """Returns a text as one line of 200 characters at most."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."


def hit_of(stored: StoredChunk, whole: DocumentText, query: str, score: float, similarity: float | None) -> Hit:
    """Returns the hit of a chunk."""
    text = whole.text[stored.chunk.start : stored.chunk.end]
    source = TextSource("file" if stored.is_file else "message", stored.name, whole.text, whole.anchors)
    start, end = _best_line(whole.text, stored.chunk, query)
    place = source.place_in_text(start, end)
    found = source.placed(Source, place, whole.text[start:end], "exact")
    line = None if place.anchors or place.page or not stored.is_file else whole.text.count("\n", 0, start) + 1
    return Hit(
        stored.id, text, score, found, stored.id if stored.is_file else None, similarity, line, stored.tags
    )  # fmt: skip


def _best_line(text: str, chunk: Chunk, query: str) -> tuple[int, int]:
    """Returns the line of a chunk that has most of the rare words of the query; the whole chunk if none has any. A row
    of a table has the words of the head of its table too.
    """
    wanted = {*_WORD.findall(query.lower())}
    lines = [(found.start(), found.end()) for found in _LINE.finditer(text, chunk.start, chunk.end)]
    words: list[set[str]] = []
    head: set[str] = set()
    if chunk.context.endswith("|"):
        head = _wanted_words(chunk.context.rpartition("\n")[2], wanted)
    for index, (start, end) in enumerate(lines):
        own, is_row = _wanted_words(text[start:end], wanted), text.startswith("|", start)
        words.append(own | head if is_row else own)
        if not is_row:
            head = set()
        elif index + 1 < len(lines) and text.startswith(_DASHES, lines[index + 1][0]):
            head = own
    having = Counter(word for each in words for word in each)
    scores = [sum(log(1 + len(lines) / having[word]) for word in each) for each in words]
    best = max(scores, default=0.0)
    return lines[scores.index(best)] if best > 0 else (chunk.start, chunk.end)


def _wanted_words(line: str, wanted: set[str]) -> set[str]:
    return {*_WORD.findall(line.lower())} & wanted
