"""The tables of a DOC: cells between marks, rows with the places of their edges, and tables in cells."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..blocks import Block, BlockPlace, MarkdownText, inner_row, table
from ..work_limits import Work
from .doc_properties import TableRow

_NEAR = 20
"""Edges that are a point or less from each other are one."""
_MAX_COLUMNS = 64
_MAX_CELLS = 300_000


@dataclass(slots=True)
class _Row:
    cells: list[str] = field(default_factory=list[str])
    place: BlockPlace = field(default_factory=BlockPlace)
    edges: Sequence[int] = ()


@dataclass(slots=True)
class _Table:
    name: str
    rows: list[_Row] = field(default_factory=list[_Row])
    row: _Row | None = None
    texts: list[str] = field(default_factory=list[str])
    inside: list[Block] = field(default_factory=list[Block])
    first: list[Block] = field(default_factory=list[Block])
    """What is in the first cell, as if it stood outside: a table with one cell may be a frame around others."""
    has_tables: bool = False

    @property
    def is_begin(self) -> bool:
        return not self.rows and (self.row is None or not self.row.cells)


class OpenTables:
    """The table that paragraphs are in, and those around it. `new_name` names each table."""

    def __init__(self, new_name: Callable[[], str], work: Work) -> None:
        self._new_name = new_name
        self._work = work
        self._open: list[_Table] = []
        self._cells = 0

    def at_depth(self, depth: int) -> Iterator[Block]:
        """Opens tables, or closes them: yields the blocks of one that is in no other."""
        while len(self._open) > depth:
            found = self._open.pop()
            _end(found)
            if not self._open:
                yield from _blocks(found)
                self._cells = 0
                continue
            around = self._open[-1]
            if around.is_begin:
                around.first += _blocks(found)
            around.has_tables = True
            around.texts += filter(None, (inner_row(cells) for cells, _ in _rows(found)))
            around.inside += found.inside
        while len(self._open) < depth:
            self._open.append(_Table(self._new_name()))

    def add(self, blocks: Iterable[Block], place: BlockPlace) -> None:
        """Adds what is in a paragraph of a cell; what cannot stand in a cell follows the table."""
        found = self._open[-1]
        if found.row is None:
            found.row = _Row(place=place)
        is_begin = found.is_begin
        for block in blocks:
            if is_begin:
                found.first.append(block)
            if isinstance(block, MarkdownText):
                found.texts.append(block.text)
            else:
                found.inside.append(block)

    def end_cell(self) -> None:
        """Ends a cell."""
        found = self._open[-1]
        row = found.row = found.row or _Row()
        row.cells.append("\n".join(found.texts))
        found.texts = []
        self._cells += 1
        if self._cells > _MAX_CELLS:
            raise self._work.too_large(f"a table of it has more than {_MAX_CELLS:,} cells")

    def end_row(self, properties: TableRow | None) -> None:
        """Ends a row."""
        found = self._open[-1]
        if found.texts:
            self.end_cell()
        row, found.row = found.row or _Row(), None
        self._cells += 1
        if properties is not None:
            row.cells = ["" if index in properties.below else cell for index, cell in enumerate(row.cells)]
            row.edges = properties.edges if len(properties.edges) == len(row.cells) + 1 else ()
        if row.cells:
            found.rows.append(row)


def _end(found: _Table) -> None:
    """Ends the last row of a damaged table, which has no mark."""
    if found.texts or found.row is not None:
        row = found.row or _Row()
        row.cells += ["\n".join(found.texts)] if found.texts else []
        found.rows.append(row)
        found.texts, found.row = [], None


def _blocks(found: _Table) -> Iterator[Block]:
    if found.has_tables and len(found.rows) == 1 and len(found.rows[0].cells) == 1:
        yield from found.first
        return
    yield from table(_rows(found), found.name)
    yield from found.inside


def _rows(found: _Table) -> Iterator[tuple[list[str], BlockPlace]]:
    columns = _columns(found.rows)
    return ((_in_columns(row, columns), row.place) for row in found.rows)


def _columns(rows: Iterable[_Row]) -> list[int]:
    """Returns the edges of the columns of all rows; none if there are too many of them."""
    columns: list[int] = []
    for edge in sorted({edge for row in rows for edge in row.edges}):
        if not columns or edge - columns[-1] > _NEAR:
            columns.append(edge)
    return columns if len(columns) <= _MAX_COLUMNS + 1 else []


def _in_columns(row: _Row, columns: Sequence[int]) -> list[str]:
    """Returns a cell for each column: empty ones follow a cell that is as wide as several columns."""
    if not row.edges or not columns:
        return row.cells
    cells: list[str] = []
    for cell, edge in zip(row.cells, row.edges, strict=False):
        column = bisect_left(columns, edge - _NEAR)
        cells += [""] * (column - len(cells))
        cells.append(cell)
    last = bisect_left(columns, row.edges[-1] - _NEAR)
    return cells + [""] * (last - len(cells))
