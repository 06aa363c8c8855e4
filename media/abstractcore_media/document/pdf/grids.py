"""Tables within ruling lines: their cells, merged ones included, and the words in each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .drawings import Box
from .layout import TextTable
from .lines import WordLine, lines_of, row_text, rows_of
from .words import Run

_NEAR = 3.0
"""Points between lines that are one, or that meet."""
_NARROW = 4.0
"""Points of the least width of a column, and height of a row: double lines are none."""
_MAX_RULES, _MAX_CELLS = 500, 20_000
_LEAST_FILLED = 0.15
"""The share of the cells of a table that have words: drawings have less."""
_SEVERAL, _ALIGNED = 3, 0.6
"""Lines in a cell, and the share of cells that have them, from which on they are rows without lines between them."""


@dataclass(slots=True)
class _Rule:
    """A line at `place`, from `begin` to `end`."""

    place: float
    begin: float
    end: float


@dataclass(slots=True)
class Grid:
    """The cells between lines. `xs` and `ys` are the borders of columns and rows, the walls are the lines on these."""

    xs: list[float]
    ys: list[float]
    column_walls: list[list[_Rule]]
    row_walls: list[list[_Rule]]

    def has(self, x: float, y: float) -> bool:
        """Returns whether a point is in the grid."""
        return self.xs[0] <= x <= self.xs[-1] and self.ys[0] <= y <= self.ys[-1]

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Returns the row and column of a point; of merged cells those of the first one."""
        column = min(max(bisect_right(self.xs, x) - 1, 0), len(self.xs) - 2)
        row = min(max(bisect_right(self.ys, y) - 1, 0), len(self.ys) - 2)
        middle = (self.ys[row] + self.ys[row + 1]) / 2
        while column and not _is_covered(self.column_walls[column], middle):
            column -= 1
        middle = (self.xs[column] + self.xs[column + 1]) / 2
        while row and not _is_covered(self.row_walls[row], middle):
            row -= 1
        return row, column


def grids_of(rules: Iterable[Box]) -> list[Grid]:
    """Returns the grids that lines form. Boxes are those of the frame of the text: left, top, right and bottom."""
    across: list[_Rule] = []
    down: list[_Rule] = []
    for left, top, right, bottom in rules:
        if bottom - top < right - left:
            across.append(_Rule((top + bottom) / 2, left, right))
        else:
            down.append(_Rule((left + right) / 2, top, bottom))
    across, down = _joined(across), _joined(down)
    if not across or not down or len(across) > _MAX_RULES or len(down) > _MAX_RULES:
        return []
    found = [_grid(*group) for group in _groups(across, down)]
    return [grid for grid in found if grid is not None]


def table_of(grid: Grid, runs: list[Run]) -> tuple[TextTable, list[Run]] | None:
    """Returns the table of words in a grid, and the other words; None if they are in one row, column or cell of it."""
    cells: dict[tuple[int, int], list[Run]] = {}
    others: list[Run] = []
    for run in runs:
        middle = run.base - 0.3 * run.size
        if not grid.ys[0] <= middle <= grid.ys[-1] or run.right < grid.xs[0] or run.left > grid.xs[-1]:
            others.append(run)
            continue
        for part in run.parts(_cell_at(grid, middle)):
            x = (part.lefts[0] + part.rights[0]) / 2
            if grid.has(x, middle):
                cells.setdefault(grid.cell(x, middle), []).append(part)
            else:
                others.append(part)
    columns = {column for _, column in cells}
    if len(columns) < 2 or len(cells) < _LEAST_FILLED * (len(grid.xs) - 1) * (len(grid.ys) - 1):
        return None
    table = TextTable([], list(pairwise(grid.xs)), is_ruled=True)
    for row in range(len(grid.ys) - 1):
        texts = {column: rows_of(lines_of(cells[row, column])) for column in columns if (row, column) in cells}
        if any(sum(len(line) > 1 for line in text) >= _SEVERAL for text in texts.values()):
            return None  # columns without lines between them
        for parts in _aligned(texts):
            cells_of_row = [_text(parts.get(column, ())) for column in range(len(grid.xs) - 1)]
            table.rows.append((cells_of_row, (grid.xs[0], grid.ys[row], grid.xs[-1], grid.ys[row + 1])))
    return table, others


def _aligned(texts: Mapping[int, list[list[WordLine]]]) -> list[dict[int, list[list[WordLine]]]]:
    """Returns the lines of cells by rows that have no ruling line between them; one row for cells with wrapped text."""
    count = max((len(text) for text in texts.values()), default=0)
    filled = sum(len(text) for text in texts.values())
    whole = [dict(texts)]
    if len(texts) < 2 or count < _SEVERAL or filled < _ALIGNED * count * len(texts):
        return whole
    bases = [row[0].base for row in rows_of([line for text in texts.values() for row in text for line in row])]
    if len(bases) > count / _ALIGNED:
        return whole
    found: list[dict[int, list[list[WordLine]]]] = [{} for _ in bases]
    for column, text in texts.items():
        for row in text:
            nearest = min(range(len(bases)), key=lambda index: abs(bases[index] - row[0].base))
            found[nearest].setdefault(column, []).append(row)
    return found


def _cell_at(grid: Grid, y: float) -> Callable[[float], tuple[int, int] | None]:
    return lambda x: grid.cell(x, y) if grid.has(x, y) else None


def _text(rows: Iterable[list[WordLine]]) -> str:
    return " ".join([row_text(row) for row in rows])


def _joined(rules: list[_Rule]) -> list[_Rule]:
    """Returns rules, those joined that continue or repeat each other."""
    found: list[_Rule] = []
    by_place: list[_Rule] = sorted(rules, key=lambda rule: rule.place)
    begin = 0
    for index in range(1, len(by_place) + 1):
        if index < len(by_place) and by_place[index].place - by_place[begin].place <= _NEAR:
            continue
        same = sorted(by_place[begin:index], key=lambda rule: rule.begin)
        place = sum(rule.place for rule in same) / len(same)
        current: _Rule | None = None
        for rule in same:
            if current is not None and rule.begin <= current.end + _NEAR:
                current.end = max(current.end, rule.end)
            else:
                current = _Rule(place, rule.begin, rule.end)
                found.append(current)
        begin = index
    return found


def _groups(across: list[_Rule], down: list[_Rule]) -> Iterator[tuple[list[_Rule], list[_Rule]]]:
    """Yields the lines that are connected."""
    waiting = [set(range(len(across))), set(range(len(down)))]
    rules = across, down
    while waiting[0]:
        new = {waiting[0].pop()}
        group = [set(new), set[int]()]
        ours = 0
        while new:
            others = 1 - ours
            new = {index for index in waiting[others] if any(_meet(rules[ours][i], rules[others][index]) for i in new)}
            waiting[others] -= new
            group[others] |= new
            ours = others
        yield [across[index] for index in group[0]], [down[index] for index in group[1]]


def _meet(first: _Rule, second: _Rule) -> bool:
    return (
        first.begin - _NEAR <= second.place <= first.end + _NEAR
        and second.begin - _NEAR <= first.place <= second.end + _NEAR
    )


def _grid(across: list[_Rule], down: list[_Rule]) -> Grid | None:
    """Returns the grid of connected lines, whose ends are its borders where no line is; None for less than 2 x 2."""
    if not across or not down:
        return None
    xs = _borders([rule.place for rule in down], [end for rule in across for end in (rule.begin, rule.end)])
    ys = _borders([rule.place for rule in across], [end for rule in down for end in (rule.begin, rule.end)])
    if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > _MAX_CELLS:
        return None
    grid = Grid(xs, ys, [_at(x, down) for x in xs], [_at(y, across) for y in ys])
    sides = [
        (walls[index], ends) for walls, ends in ((grid.column_walls, ys), (grid.row_walls, xs)) for index in (0, -1)
    ]
    return grid if all(_is_whole_or_open(walls, ends[0], ends[-1]) for walls, ends in sides) else None


def _is_whole_or_open(walls: Sequence[_Rule], begin: float, end: float) -> bool:
    """Returns whether lines are on all of a side, or on none of it: boxes beside each other are no grid."""
    covered = sum(max(min(rule.end, end) - max(rule.begin, begin), 0.0) for rule in walls)
    return not 0.05 < covered / (end - begin) < 0.8


def _borders(places: list[float], ends: list[float]) -> list[float]:
    found: list[float] = []
    for place in sorted([*places, min(ends), max(ends)]):
        if not found or place - found[-1] >= _NARROW:
            found.append(place)
    return found


def _at(place: float, rules: Sequence[_Rule]) -> list[_Rule]:
    return [rule for rule in rules if abs(rule.place - place) < _NARROW]


def _is_covered(walls: Sequence[_Rule], at: float) -> bool:
    return any(rule.begin - _NEAR <= at <= rule.end + _NEAR for rule in walls)
