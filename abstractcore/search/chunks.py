"""Divides the text of a document into chunks, by its structure: pages, headings, tables, turns of speech, paragraphs.

A chunk is what has one vector. Rows of tables are never divided.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from ..schema import MediaAnchor, text_tokens

BlockKind: TypeAlias = Literal["heading", "row", "speech", "text"]
_HEADING: Final = re.compile(r"(#{1,6}) +\S")
_SPEECH: Final = re.compile(r"\[\d{1,3}:\d{2}(?::\d{2})?\] ")
_FENCE: Final = re.compile(r" {0,3}(```+|~~~+)")
_MARKER: Final = re.compile(r"\[(?:page|slide|frame) \d+[^\]\n]{0,80}\]\s*")
"""A line that says where a page begins, which is no text of the document."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n")
_PART_OF_HEADING: Final = 8
_PART_OF_TABLE_HEAD: Final = 2
_LEAST_OF_CONTEXT: Final = 8
"""Of the tokens of a chunk, the part that a heading above it may have, and the head of its table; and the least."""
_LEAST_OF_HEADING: Final = 24
"""Tokens that a chunk has before a heading begins another one: a title alone is no chunk."""


class TextSpan(NamedTuple):
    """A part of a text, from `start` to `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """The part of a text from `start` to `end`. `context` are the headings that it is under and the head of its table,
    a line each, which are not in the part itself.
    """

    start: int
    end: int
    context: str = ""

    def words(self, text: str) -> str:
        """Returns what stands for the chunk: its context, and its part of the whole text."""
        own = text[self.start : self.end]
        return f"{self.context}\n{own}" if self.context else own


class _Block(NamedTuple):
    start: int
    end: int
    kind: BlockKind
    level: int = 0


def chunks_of(text: str, anchors: Sequence[MediaAnchor], most_tokens: int) -> list[Chunk]:
    """Returns the chunks of a text, in order, of about `most_tokens` at most; more only of a row of a table.

    A page, a slide or a sheet begins a chunk, and a heading does unless what is before it is short. What is not in a
    chunk is white space, and the lines that number pages.
    """
    made: list[Chunk] = []
    headings = _Headings(max(most_tokens // _PART_OF_HEADING, _LEAST_OF_CONTEXT))
    for section in _sections(text, anchors):
        _Packer(text, most_tokens, headings, made).add_all(_blocks(text, section))
    return made


def halves(text: str, chunk: Chunk) -> tuple[Chunk, Chunk] | None:
    """Returns a chunk as two, divided where that harms least; None for one that is one row of a table, or one word."""
    span = TextSpan(chunk.start, chunk.end)
    if text[span.start : span.end].lstrip().startswith("|"):
        rows = _blocks(text, span)
        if len(rows) < 2:
            return None
        middle = rows[len(rows) // 2].start
    else:
        pieces = list(_pieces(text, span, max(text_tokens(text[span.start : span.end]) * 0.55, 1)))
        if len(pieces) < 2:
            return None
        middle = pieces[len(pieces) // 2].start
    first, second = _stripped(text, span.start, middle), _stripped(text, middle, span.end)
    if first is None or second is None:
        return None
    return Chunk(*first, chunk.context), Chunk(*second, chunk.context)


class _Headings:
    """The headings above the place that is read, with up to `most` tokens of each."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, line: str) -> None:
        self._open = [each for each in self._open if each[0] < level]
        self._open.append((level, _beginning(line.strip(), self._most)))

    def lines(self, below: int | None = None) -> list[str]:
        """Returns the open headings; with `below`, those of a higher rank than that level only."""
        return [line for level, line in self._open if below is None or level < below]


class _Packer:
    """Joins blocks to chunks."""

    def __init__(self, text: str, most: int, headings: _Headings, made: list[Chunk]) -> None:
        self._text = text
        self._most = most
        self._headings = headings
        self._made = made
        self._start = self._end = -1
        self._tokens = 0.0
        self._context: list[str] = []
        self._table_head: list[str] = []

    def add_all(self, blocks: Sequence[_Block]) -> None:
        for index, block in enumerate(blocks):
            if block.kind == "row" and (index == 0 or blocks[index - 1].kind != "row"):
                most = max(self._most // _PART_OF_TABLE_HEAD, _LEAST_OF_CONTEXT)
                self._table_head = _head_of_table(self._text, blocks[index : index + 2], most)
            elif block.kind != "row":
                self._table_head = []
            self._add(block)
        self._end_chunk()

    def _add(self, block: _Block) -> None:
        tokens = text_tokens(self._text[block.start : block.end])
        if block.kind == "heading":
            if self._tokens >= _LEAST_OF_HEADING or self._tokens + tokens > self._most:
                self._end_chunk()
            if self._start < 0:
                self._context = self._headings.lines(block.level)
            self._headings.enter(block.level, self._text[block.start : block.end])
        elif self._tokens + tokens > self._most:
            self._end_chunk()
        if tokens > self._most and block.kind not in ("row", "heading"):
            for piece in _pieces(self._text, TextSpan(block.start, block.end), self._most):
                self._take(piece, text_tokens(self._text[piece.start : piece.end]))
                self._end_chunk()
            return
        self._take(TextSpan(block.start, block.end), tokens)

    def _take(self, span: TextSpan, tokens: float) -> None:
        if self._start < 0:
            self._start = span.start
            self._context = self._context or self._lines_before(span.start)
            self._tokens = sum(map(text_tokens, self._context))
        self._end = span.end
        self._tokens += tokens

    def _lines_before(self, start: int) -> list[str]:
        """Returns the context of a chunk that begins here."""
        lines = self._headings.lines()
        if self._text.startswith("#", start):
            lines = lines[:-1]
        head = self._table_head if self._text.startswith("|", start) else []
        rows = self._text[start : start + sum(map(len, head)) + len(head)]
        return lines if head and rows.startswith(head[0]) else [*lines, *head]

    def _end_chunk(self) -> None:
        if self._start >= 0 and (span := _stripped(self._text, self._start, self._end)) is not None:
            self._made.append(Chunk(*span, "\n".join(self._context)))
        self._start = self._end = -1
        self._tokens, self._context = 0.0, []


def _stripped(text: str, start: int, end: int) -> TextSpan | None:
    """Returns the span without white space around it; None if there is nothing else."""
    own = text[start:end]
    left = len(own) - len(own.lstrip())
    length = len(own.strip())
    return TextSpan(start + left, start + left + length) if length else None


def _sections(text: str, anchors: Sequence[MediaAnchor]) -> Iterator[TextSpan]:
    """Yields the parts of a text that begin with a page, a sheet or a file within the file."""
    starts = {0, len(text)}
    previous: tuple[object, ...] = ()
    for anchor in sorted(anchors, key=lambda each: (each.start, -each.end)):
        place = (anchor.page, anchor.sheet, anchor.member)
        if place != previous and anchor.start < len(text):
            starts.add(text.rfind("\n", 0, anchor.start) + 1)
        previous = place
    ordered = sorted(starts)
    yield from map(TextSpan._make, pairwise(ordered))


def _blocks(text: str, section: TextSpan) -> list[_Block]:
    """Returns the blocks of a section: lines that belong together."""
    blocks: list[_Block] = []
    begin: int | None = None
    fence = ""
    for start, end in _lines(text, section):
        line = text[start:end]
        kind, level = ("text", 0) if fence else _kind_of(line)
        if fence:
            fence = "" if line.strip().startswith(fence) else fence
        elif (opened := _FENCE.match(line)) is not None:
            fence = opened[1]
        ends = kind != "text" or (not fence and not line.strip()) or _MARKER.fullmatch(line) is not None
        if ends and begin is not None:
            blocks.append(_Block(begin, start, "text"))
            begin = None
        if kind != "text":
            blocks.append(_Block(start, end, kind, level))
        elif not ends and begin is None:
            begin = start
    if begin is not None:
        blocks.append(_Block(begin, section.end, "text"))
    return blocks


def _lines(text: str, section: TextSpan) -> Iterator[TextSpan]:
    start = section.start
    while start < section.end:
        found = text.find("\n", start, section.end)
        end = section.end if found < 0 else found + 1
        yield TextSpan(start, end)
        start = end


def _kind_of(line: str) -> tuple[BlockKind, int]:
    if (found := _HEADING.match(line)) is not None:
        return "heading", len(found[1])
    if line.startswith("|"):
        return "row", 0
    return ("speech", 0) if _SPEECH.match(line) else ("text", 0)


def _head_of_table(text: str, rows: Sequence[_Block], most: int) -> list[str]:
    """Returns the head of a Markdown table, if it has one: a row above a line of dashes. Of one with more than `most`
    tokens, these are the first columns.
    """
    if len(rows) < 2 or rows[1].kind != "row":
        return []
    head, dashes = (text[row.start : row.end].strip() for row in rows)
    if not set(dashes) <= set("|-: "):
        return []
    first = _beginning(head, most)
    return [head if first == head else first[: first.rfind("|") + 1]]


def _pieces(text: str, span: TextSpan, most: float) -> Iterator[TextSpan]:
    """Yields a span as pieces of `most` tokens or less, divided between sentences, else words, else anywhere."""
    start = span.start
    while start < span.end:
        end = _fitting(text, start, span.end, most)
        yield TextSpan(start, end)
        start = end


def _beginning(line: str, most: int) -> str:
    """Returns a line up to about `most` tokens: as the context of each chunk, a long one would be stored many times."""
    return line if len(line) <= most else line[: _fitting(line, 0, len(line), most)]


def _fitting(text: str, start: int, end: int, most: float) -> int:
    """Returns the end of the first piece of a span that has `most` tokens or less."""
    low, high = start + 1, min(end, start + max(int(most * 12), 1))
    if text_tokens(text[start:high]) <= most and high == end:
        return end
    while low < high:
        middle = (low + high + 1) // 2
        if text_tokens(text[start:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    if low >= end:
        return end
    half = start + (low - start) // 2
    ends = [found.end() for found in _SENTENCE_END.finditer(text, half, low)]
    if not ends:
        ends = [found.end() for found in re.compile(r"\s+").finditer(text, half, low)]
    return ends[-1] if ends else low


def line_of(text: str, position: int, breaks: Sequence[int]) -> int:
    """Returns the line of a position, from 1; `breaks` are the positions of all line breaks."""
    return bisect_right(breaks, position - 1) + 1
