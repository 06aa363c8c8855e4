"""The reading order of a page: bands of rows, columns of text, and tables that stand in aligned words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from .lines import WordLine, row_text, rows_of

_Row = list[WordLine]
_Interval = tuple[float, float]
_GUTTER = 0.8
"""The least width of the space between columns, in sizes of the text."""
_MOST_OF_A_GAP = 0.7
_DEPTH = 6
_LEAST_LINES = 3
"""Lines beside each other from which on they are columns."""
_MANY_GUTTERS = 3
"""Gutters from which on columns are those of a text only if they have prose."""
_PROSE_WORDS, _PROSE_SHARE = 3.5, 0.6
"""The words and the share of the width of its column that a line of prose has."""
_FAR, _VERY_FAR = 1.8, 5.0
"""The distances of rows, in usual ones, that separate two tables, and columns from what is not theirs."""
_WRAPPED = 0.85
"""The distance of rows, in usual ones, up to which one without a first cell continues the one above."""
_LEAST_FILLED = 0.45
"""The share of the cells of a table without ruling lines that have words."""
_MARKER = re.compile(r"[•◦▪‣●○■□–*·➢➤►✓❖\ue000-\uf8ff-]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,5})[.)]")  # noqa: RUF001
"""What stands before an item of a list."""
_MOSTLY, _LONG = 0.8, 7
_LEADER = re.compile(r"(?<!\.)(?<!\. ) ?\.(?: ?\.){3,}+$")
"""Dots that lead from a cell to the next one."""


@dataclass(slots=True)
class TextTable:
    """A table of aligned words, or within ruling lines, with the box of each row, and left and right of each column."""

    rows: list[tuple[list[str], tuple[float, float, float, float]]]
    columns: list[_Interval] = field(default_factory=list[_Interval])
    is_ruled: bool = False


Element = _Row | TextTable
"""A line of text, of pieces side by side; or a table."""


def arranged(lines: Iterable[WordLine], depth: int = 0) -> Iterator[Element]:
    """Yields lines and tables in the order in which they are read."""
    rows = rows_of(lines)
    if not any(len(row) > 1 for row in rows) and (depth or not _may_have_columns(rows)):
        yield from rows
        return
    for band in _bands(rows):
        yield from _arranged_band(band, depth)


def _arranged_band(band: list[_Row], depth: int) -> Iterator[Element]:
    gutters = _without_markers(band, _gutters(band))
    if not gutters or len(band) < 2:
        yield from band
    elif len(sections := _apart(band, _VERY_FAR)) > 1:
        for rows in sections:
            yield from _arranged_band(rows, depth)
    elif _is_tabular(band, gutters):
        apart = _apart(band, _FAR)
        for rows in apart:
            yield from _table_and_lines(rows, gutters) if len(apart) == 1 else _arranged_band(rows, depth)
    elif depth < _DEPTH and _are_columns(band, gutters):
        for column in _split(band, gutters):
            yield from arranged(column, depth + 1)
    else:
        yield from band


def _may_have_columns(rows: Sequence[_Row]) -> bool:
    """Returns whether rows stand beside each other though none has the same base line as another."""
    return any(below[0].left > above[0].right or below[0].right < above[0].left for above, below in pairwise(rows))


def _bands(rows: Sequence[_Row]) -> Iterator[list[_Row]]:
    """Yields successive rows that have gutters in common, or none."""
    band: list[_Row] = []
    cover: list[_Interval] = []
    width = _GUTTER * median([line.size for row in rows for line in row])
    for row in rows:
        spans = _merged([(line.left, line.right) for line in row], 0.0)
        together = _merged([*cover, *spans], 0.0)
        before, after = _gaps(cover, width), _gaps(together, width)
        kept = [gap for gap in before if any(_overlap(gap, other) >= width for other in after)]
        lost = [gap for gap in _gaps(spans, width) if not _is_left(gap, after, width, bool(before))]
        ends = bool(before) and (not kept or (len(kept) < len(before) and len(band) > 1))
        begins = bool(lost) and (not before or len(band) <= 2)
        if band and (ends or begins):
            yield band
            band, together = [], spans
        band.append(row)
        cover = together
    if band:
        yield band


def _is_left(gap: _Interval, after: Sequence[_Interval], width: float, are_rows: bool) -> bool:
    """Returns whether enough of a gap is in those `after`: most of it below a first line without one, such as a heading
    that stands over the gutter of columns.
    """
    least = width if are_rows else max(width, _MOST_OF_A_GAP * (gap[1] - gap[0]))
    return any(_overlap(gap, other) >= least for other in after)


def _gutters(band: Sequence[_Row]) -> list[_Interval]:
    sizes = [line.size for row in band for line in row]
    return _gaps(_merged([(line.left, line.right) for row in band for line in row], 0.0), _GUTTER * median(sizes))


def _merged(spans: list[_Interval], near: float) -> list[_Interval]:
    found: list[_Interval] = []
    for left, right in sorted(spans):
        if found and left <= found[-1][1] + near:
            found[-1] = found[-1][0], max(found[-1][1], right)
        else:
            found.append((left, right))
    return found


def _gaps(cover: Sequence[_Interval], width: float) -> list[_Interval]:
    return [(before[1], after[0]) for before, after in pairwise(cover) if after[0] - before[1] >= width]


def _overlap(first: _Interval, second: _Interval) -> float:
    return min(first[1], second[1]) - max(first[0], second[0])


def _column_of(line: WordLine, gutters: Sequence[_Interval]) -> int:
    return sum(1 for _, right in gutters if line.left >= right - 0.01)


def _split(band: Sequence[_Row], gutters: Sequence[_Interval]) -> list[list[WordLine]]:
    columns: list[list[WordLine]] = [[] for _ in range(len(gutters) + 1)]
    for row in band:
        for line in row:
            columns[_column_of(line, gutters)].append(line)
    return columns


def _without_markers(band: Sequence[_Row], gutters: Sequence[_Interval]) -> list[_Interval]:
    """Returns gutters without those between the items of a list, or numbered lines, and what stands before them."""
    columns = _split(band, gutters)
    return [gutter for gutter, column in zip(gutters, columns[:-1], strict=True) if not _are_markers(column)]


def _are_markers(column: Sequence[WordLine]) -> bool:
    texts = [text for text in (line.text() for line in column) if " " not in text]
    if len(texts) < _MOSTLY * len(column):
        return False
    if all(text.isdecimal() and len(text) < _LONG for text in texts):
        return len(texts) > 2 and all(int(below) == int(above) + 1 for above, below in pairwise(texts))
    return sum(1 for text in texts if _MARKER.fullmatch(text)) >= _MOSTLY * len(column)


def _are_columns(band: Sequence[_Row], gutters: Sequence[_Interval]) -> bool:
    """Returns whether there is text side by side for several lines, or beside a table or picture."""
    if len(gutters) >= _MANY_GUTTERS and not _is_prose(band, gutters):
        return False
    return all(_stand_side_by_side(first, second) for first, second in pairwise(_split(band, gutters)))


def _stand_side_by_side(first: Sequence[WordLine], second: Sequence[WordLine]) -> bool:
    beside = index = 0
    base = float("-inf")
    for line in first:
        _, top, _, bottom = line.box
        while index < len(second) and second[index].box[3] <= top:
            index += 1
        if index < len(second) and second[index].box[1] < bottom and line.base - base > 0.3 * line.size:
            base = line.base
            beside += 1 if line.block is None and second[index].block is None else _LEAST_LINES
    return beside >= _LEAST_LINES


def _is_tabular(band: Sequence[_Row], gutters: Sequence[_Interval]) -> bool:
    """Returns whether the columns of a band are those of a table: rows across them, and short cells."""
    full = sum(1 for row in band if len({_column_of(line, gutters) for line in row}) > 1)
    if full < 2 or (full < 3 and len(gutters) < 2) or full * 2 < len(_peeled(band, gutters)[1]):
        return False
    if any(line.block is not None for row in band for line in row):
        return False
    return not _is_prose(band, gutters)


def _is_prose(band: Sequence[_Row], gutters: Sequence[_Interval]) -> bool:
    """Returns whether two columns, and half of them, have lines of many words that fill them."""
    prose = 0
    columns = _split(band, gutters)
    for column in columns:
        width = max(line.right for line in column) - min(line.left for line in column)
        words = sum(line.words for line in column) / len(column)
        share = sum(line.right - line.left for line in column) / len(column) / (width or 1)
        prose += words >= _PROSE_WORDS and share >= _PROSE_SHARE and len(column) > 2
    return prose >= max(2, len(columns) / 2)


def _peeled(band: Sequence[_Row], gutters: Sequence[_Interval]) -> tuple[list[_Row], list[_Row], list[_Row]]:
    """Returns the rows before the table, such as its title, those of it, and those after it."""
    wide = [index for index, row in enumerate(band) if len({_column_of(line, gutters) for line in row}) > 1]
    first, last = wide[0], wide[-1] + 1
    pitch = _pitch(band[first:last])
    while last < len(band) and band[last][0].base - band[last - 1][0].base <= _FAR * pitch * 0.75:
        last += 1
    return list(band[:first]), list(band[first:last]), list(band[last:])


def _pitch(rows: Sequence[_Row]) -> float:
    return median([below[0].base - above[0].base for above, below in pairwise(rows)] or [rows[0][0].size * 1.5])


def _apart(band: Sequence[_Row], far: float) -> list[list[_Row]]:
    """Returns rows, those together that stand within so many usual distances."""
    pitch = _pitch(band)
    together: list[list[_Row]] = [[band[0]]]
    for above, below in pairwise(band):
        if below[0].base - above[0].base > far * pitch:
            together.append([])
        together[-1].append(below)
    return together


def _table_and_lines(rows: Sequence[_Row], gutters: Sequence[_Interval]) -> Iterator[Element]:
    """Yields a table that stands in rows, and the lines before and after it."""
    before, inner, after = _peeled(rows, gutters)
    yield from before
    table = _table(inner, _without_markers(inner, _gutters(inner)))
    filled = sum(1 for cells, _ in table.rows for cell in cells if cell)
    if filled < _LEAST_FILLED * len(table.rows) * len(table.rows[0][0]):
        yield from inner
    else:
        yield table
    yield from after


def _table(rows: Sequence[_Row], gutters: Sequence[_Interval]) -> TextTable:
    starts = [row[0].base for row in rows if _column_of(row[0], gutters) == 0]
    pitch = median([below - above for above, below in pairwise(starts)] or [0.0])
    left, right = min(row[0].left for row in rows), max(row[-1].right for row in rows)
    edges = [left, *(edge for gutter in gutters for edge in gutter), right]
    table = TextTable([], list(zip(edges[::2], edges[1::2], strict=True)))
    base = 0.0
    for row in rows:
        cells: list[_Row] = [[] for _ in range(len(gutters) + 1)]
        for line in row:
            cells[_column_of(line, gutters)].append(line)
        texts = [_LEADER.sub("", row_text(cell)) if cell else "" for cell in cells]
        box = box_of(row)
        if table.rows and not texts[0] and row[0].base - base <= _WRAPPED * pitch:
            above, place = table.rows[-1]
            texts = [" ".join(filter(None, pair)) for pair in zip(above, texts, strict=True)]
            table.rows[-1] = texts, (min(place[0], box[0]), place[1], max(place[2], box[2]), box[3])
        else:
            table.rows.append((texts, box))
        base = row[0].base
    for column in reversed(range(1, len(gutters))):
        if _is_one_column([(texts[column], texts[column + 1]) for texts, _ in table.rows]):
            for texts, _ in table.rows:
                texts[column : column + 2] = [texts[column] or texts[column + 1]]
            table.columns[column : column + 2] = [(table.columns[column][0], table.columns[column + 1][1])]
    return table


def _is_one_column(pairs: Sequence[tuple[str, str]]) -> bool:
    """Returns whether cells are of one column: its head and words on the left, and numbers on the right."""
    head, beside = pairs[0]
    is_headed = head[:1].isalpha() and not beside and sum(1 for _, second in pairs if second) > 1
    return is_headed and not any(first and second for first, second in pairs)


def box_of(lines: Sequence[WordLine]) -> tuple[float, float, float, float]:
    """Returns the box around lines."""
    boxes = [line.box for line in lines]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
