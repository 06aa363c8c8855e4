"""One page: its words in reading order, tables, fields, comments, and what of it cannot be seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from ..blocks import BlockPlace, LostContent, MarkdownText, clean, table
from ..marks import Marks
from .annotations import EMPTY, Annotations, AttachedFiles, Field, annotations_of
from .continued import PageTable, table_on_page
from .drawings import Box, Drawings, drawings_of
from .frames import PageFrame, from_frame, to_frame
from .grids import grids_of, table_of
from .layout import TextTable, arranged, box_of
from .lines import WordLine, lines_of, row_text, struck_by
from .pdfium import address_of, opened_page
from .visibility import without_hidden
from .words import Run, opened_text

_MEANINGLESS = re.compile("[\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
_JUNK = 0.3
"""The share of characters without a meaning from which on a text layer is unreadable."""
_LEAST_WORDS, _LETTERS, _LETTERS_OF_A_WORD, _IN_WORDS = 20, 0.7, 3, 0.3
"""The words from which on such a text is judged, the least share of its letters, and of those in words of so many."""
_LINES_TOGETHER = 4
"""Lines that share one anchor."""
_SMALL, _WHOLE = 0.01, 0.9
"""Pictures that cover less of a page are ornaments, those that cover more are the page."""
_SCANNED, _LITTLE_TEXT = 0.5, 0.05
"""The shares of a page that a scan covers, and that text on a scan covers."""
_MANY_PATHS, _FEW_WORDS = 200, 0.01
"""Drawings that may be letters, on a page of which words cover no more than this share."""
_UNFILLED = frozenset({EMPTY, "[ ]", "( )"})
_DRAWN = 0.03
"""The share of a page from which on what is drawn on it is counted, such as a chart."""


@dataclass(slots=True)
class PageContent:
    """What is on a page. `items` are blocks, and numbers of pictures, from 0, where these stand.

    `is_scan` is whether the page is to be read or shown as an image; `items` have what text there is.
    """

    items: list[MarkdownText | LostContent | int] = field(default_factory=list[Any])
    pictures: list[tuple[float, ...]] = field(default_factory=list[tuple[float, ...]])
    files: list[tuple[str, bytes | None]] = field(default_factory=list[tuple[str, bytes | None]])
    is_scan: bool = False
    lacks_words: bool = False
    """Whether PDFium may have dropped words."""
    tables: list[PageTable] = field(default_factory=list[PageTable])
    """The first and the last one of those in the direction of most words."""
    filled_fields: int = 0
    """The fields of a form that have a value."""


def content_of_page(document: Any, number: int, has_hidden_layers: bool, files: AttachedFiles) -> PageContent:
    """Returns the content of a page, which counts from 1, of a document of pypdfium2."""
    form = address_of(document.formenv) if document.formenv else 0
    with opened_page(document, number) as page:
        frame = PageFrame(page)
        drawings = drawings_of(page)
        annotations = annotations_of(address_of(document), form, page, files)
        with opened_text(page, has_hidden_layers) as text:
            runs = text.runs()
            lacks_words = text.lacks(drawings.texts)
        hidden = without_hidden(page, runs, frame, drawings, annotations.covers)
    content = _Composer(number, frame, drawings, annotations).content(runs, hidden)
    content.lacks_words = lacks_words
    return content


def is_readable(letters: str) -> bool:
    """Returns whether there is a text that is not junk: fonts without a map to characters give random ones."""
    return bool(letters) and len(_MEANINGLESS.findall(letters)) < _JUNK * len(letters)


def _is_junk(runs: dict[int | None, list[Run]]) -> bool:
    """Returns whether most words on a picture are signs and single letters, which a program took for text."""
    words = [word for together in runs.values() for run in together for word in run.words]
    letters = [sum(map(str.isalnum, word)) for word in words]
    length = sum(map(len, words))
    in_words = sum(count for count in letters if count >= _LETTERS_OF_A_WORD)
    return len(words) >= _LEAST_WORDS and sum(letters) < _LETTERS * length and in_words < _IN_WORDS * length


class _Composer:
    """Writes one page as blocks."""

    def __init__(self, number: int, frame: PageFrame, drawings: Drawings, annotations: Annotations) -> None:
        self._place = BlockPlace(page=number)
        self._group = f"page {number}"
        self._frame = frame
        self._drawings = drawings
        self._annotations = annotations
        self._content = PageContent()
        self._tables: list[TextTable] = []
        self._written_tables = 0
        self._texts: list[str] = []
        self._boxes: list[Box] = []
        self._largest_picture = max(map(frame.share, drawings.pictures), default=0.0)

    def content(self, runs: dict[int | None, list[Run]], hidden: int) -> PageContent:
        """Returns the blocks of the page, whose words are given by their direction."""
        content, annotations = self._content, self._annotations
        letters = "".join([word for together in runs.values() for run in together for word in run.words])
        readable = is_readable(letters) and not (self._largest_picture >= _SCANNED and _is_junk(runs))
        content.is_scan = self._is_scan(runs) or not (readable or annotations.fields or annotations.comments)
        upright = {angle: together for angle, together in runs.items() if angle is not None and together}
        main = max(upright, key=lambda angle: sum(len(run.words) for run in upright[angle]), default=0)
        if readable or annotations.fields:
            for angle in sorted(upright.keys() | {main}, key=lambda angle: angle != main):
                self._compose(upright.get(angle, []), angle, angle == main)
            for line in lines_of(runs.get(None, ())):
                self._add_text(line.text(), from_frame(line.box, 0))
            self._flush()
        for comment in annotations.comments:
            content.items.append(MarkdownText(comment, self._place, self._group))
        if hidden:
            annotations.lost["hidden words"] = hidden
        if not content.is_scan and sum(map(self._frame.share, self._drawings.shapes)) >= _DRAWN:
            annotations.lost["drawings"] = annotations.lost.get("drawings", 0) + 1
        for what, count in annotations.lost.items():
            content.items.append(LostContent(what, count, None, self._group))
        content.files = annotations.files
        content.filled_fields = sum(1 for each in annotations.fields if each.value not in _UNFILLED)
        return content

    def _is_scan(self, runs: dict[int | None, list[Run]]) -> bool:
        """Returns whether a picture, or drawings that may be letters, are the page, and words beside it are few."""
        painted = [run for together in runs.values() for run in together if run.visibility != "unpainted"]
        area = sum((run.right - run.left) * run.size for run in painted) / (self._frame.width * self._frame.height)
        has_layer = any(run.visibility == "unpainted" for together in runs.values() for run in together)
        if has_layer:
            return False
        return (self._largest_picture >= _SCANNED and area < _LITTLE_TEXT) or (
            self._drawings.paths >= _MANY_PATHS and area < _FEW_WORDS
        )

    def _compose(self, runs: list[Run], angle: int, is_main: bool) -> None:
        rules = [to_frame(box, angle) for box in self._drawings.rules]
        runs = list(self._linked(runs, angle, rules))
        blocks: list[WordLine] = []
        size = median([run.size for run in runs]) if runs else 10.0
        if is_main:
            runs += self._fields(runs, angle, size)
        for grid in grids_of(rules):
            found = table_of(grid, runs)
            if found is not None:
                made, runs = found
                blocks.append(_standing(made.rows[0][1], made.rows[-1][1], size, -1 - len(self._tables)))
                self._tables.append(made)
        if is_main and not self._content.is_scan:
            blocks += self._pictures(angle, size)
        for element in arranged([*lines_of(runs), *blocks]):
            self._add(element, angle, is_main)

    def _pictures(self, angle: int, size: float) -> Iterator[WordLine]:
        for box in sorted(self._drawings.pictures, key=lambda box: -box[3]):
            place = self._frame.place(box)
            if _SMALL <= self._frame.share(box) <= _WHOLE and place not in self._content.pictures:
                self._content.pictures.append(place)
                shown = to_frame(box, angle)
                yield _standing(shown, shown, size, len(self._content.pictures) - 1)

    def _linked(self, runs: Sequence[Run], angle: int, rules: Sequence[Box]) -> Iterator[Run]:
        """Yields runs with the addresses that they link to, and whether they are struck through."""
        links = [(to_frame(box, angle), address) for box, address in self._annotations.links]
        marked = [to_frame(box, angle) for box in self._annotations.struck]
        drawn = [(left, top - 1, right, bottom + 1) for left, top, right, bottom in struck_by(rules, runs)]
        struck = [(box, "") for box in (*marked, *drawn)]
        if not links and not struck:
            yield from runs
            return
        for run in runs:
            middle = run.base - 0.3 * run.size
            beside = [each for each in links if each[0][1] <= middle <= each[0][3]]
            lined = [each for each in struck if each[0][1] <= middle <= each[0][3]]
            for part in run.parts(lambda x, sides=(beside, lined): tuple(_at(x, side) for side in sides)):
                x = (part.lefts[0] + part.rights[0]) / 2
                address = "".join([beside[index][1] for index in (_at(x, beside),) if index is not None])
                marks = Marks(is_struck=True) if _at(x, lined) is not None else part.marks
                yield replace(part, address=address, marks=marks)

    def _fields(self, runs: Sequence[Run], angle: int, size: float) -> list[Run]:
        return [_field_run(field, to_frame(field.box, angle), runs, size) for field in self._annotations.fields]

    def _add(self, element: list[WordLine] | TextTable, angle: int, is_main: bool) -> None:
        if isinstance(element, TextTable):
            self._add_table(element, angle, is_main)
            return
        together: list[WordLine] = []
        for line in element:
            if line.block is None:
                together.append(line)
                continue
            self._add_row(together, angle)
            together = []
            if line.block < 0:
                self._add_table(self._tables[-1 - line.block], angle, is_main)
            else:
                self._flush()
                self._content.items.append(line.block)
        self._add_row(together, angle)

    def _add_row(self, row: Sequence[WordLine], angle: int) -> None:
        if row:
            self._add_text(row_text(row), from_frame(box_of(row), angle))

    def _add_text(self, text: str, box: Box) -> None:
        self._texts.append(clean(text))
        self._boxes.append(box)

    def _add_table(self, made: TextTable, angle: int, is_main: bool) -> None:
        self._flush()
        self._written_tables += 1
        rows = [
            (cells, replace(self._place, box=self._frame.place(from_frame(box, angle)))) for cells, box in made.rows
        ]
        items = self._content.items
        index, name = len(items), f"{self._group}, table {self._written_tables}"
        items += table(rows, name)
        head, first, last = items[index], rows[0][1].box, rows[-1][1].box
        if is_main and isinstance(head, MarkdownText) and first and last:
            self._content.tables[1:] = [table_on_page(made, index, name, head.text, first[1], last[3])]

    def _flush(self) -> None:
        """Writes the lines so far, as they are, so that quotes of them can be found, with their places."""
        if not self._texts:
            return
        ends: list[int] = []
        for text in self._texts:
            ends.append((ends[-1] + 1 if ends else 0) + len(text))
        inner: list[tuple[int, int, BlockPlace]] = []
        for first in range(0, len(ends), _LINES_TOGETHER):
            boxes = self._boxes[first : first + _LINES_TOGETHER]
            lefts, bottoms, rights, tops = zip(*boxes, strict=True)
            box = self._frame.place((min(lefts), min(bottoms), max(rights), max(tops)))
            last = ends[min(first + _LINES_TOGETHER, len(ends)) - 1]
            inner.append((ends[first] - len(self._texts[first]), last, replace(self._place, box=box)))
        self._content.items.append(MarkdownText("\n".join(self._texts), self._place, self._group, inner))
        self._texts, self._boxes = [], []


def _at(x: float, places: Sequence[tuple[Box, str]]) -> int | None:
    return next((index for index, (box, _) in enumerate(places) if box[0] <= x <= box[2]), None)


def _standing(first: Box, last: Box, size: float, block: int) -> WordLine:
    """Returns a line for something that stands on the page from box to box."""
    return WordLine([], first[0], last[2], first[1] + 0.75 * size, size, block, last[3] - first[1])


def _field_run(field: Field, box: Box, runs: Sequence[Run], size: float) -> Run:
    """Returns the value of a field as words on the line of its label; with its name if there is no label beside it."""
    left, top, right, bottom = box
    beside = [run for run in runs if top <= run.base - 0.3 * run.size <= bottom]
    label = min(beside, key=lambda run: min(abs(run.right - left), abs(run.left - right)), default=None)
    value = field.value
    if label is not None:
        size, base = label.size, label.base
    else:
        value = f"{field.name}: {value}" if field.name else value
        base = min((top + bottom) / 2 + 0.3 * size, top + size)
    return Run([value], [left], [max(left + 0.1, min(right, left + 0.5 * size * len(value)))], base, size)
