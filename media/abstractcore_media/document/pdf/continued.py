"""Tables that go on over pages: one at the top of a page has the head of the one at the end of the page before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..blocks import MarkdownText
from .layout import TextTable

_TOP, _BOTTOM = 0.2, 0.65
"""The shares of the height of a page within which a table begins that goes on, and below which such a one ends."""
_NEAR = 3.0
"""Points by which ruling lines of the columns may differ."""
_MOSTLY = 0.8
"""The share of the cells of a column that have digits if it is one of numbers."""


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of a page, as far as is needed to see whether another one continues it.

    `index` is that of its first row among the blocks of the page, `columns` are the left and right of each, `top` and
    `bottom` shares of the height of the page. `has_number` is, for each cell of `head`, whether it has a digit.
    """

    index: int
    name: str
    columns: Sequence[Sequence[float]]
    is_ruled: bool
    head: str
    has_number: Sequence[bool]
    are_numbers: Sequence[bool]
    top: float
    bottom: float


def table_on_page(table: TextTable, index: int, name: str, head: str, top: float, bottom: float) -> PageTable:
    """Returns what is known of a table whose blocks begin at `index`, and which stands from `top` to `bottom`."""
    first, *others = [[any(map(str.isdigit, cell)) for cell in cells] for cells, _ in table.rows]
    are_numbers = [sum(cells) >= _MOSTLY * max(1, len(cells)) for cells in zip(*others, strict=True)]
    return PageTable(index, name, table.columns, table.is_ruled, head, first, are_numbers, top, bottom)


def with_head(items: list[object], tables: Sequence[PageTable], above: PageTable | None) -> PageTable | None:
    """Inserts the head of the table that ends the page before into a table that continues it, and returns the table
    that may go on after this page, if any.
    """
    continues = above is not None and bool(tables) and _continues(tables[0], above)
    last = tables[-1] if tables and tables[-1].bottom >= _BOTTOM else None
    if above is None or not continues:
        return last
    first = tables[0]
    if first.head != above.head:
        line = items[first.index + 1]
        row = items[first.index]
        items[first.index : first.index + 2] = [MarkdownText(above.head, group=first.name), line, row]
    if last is first:
        return replace(first, head=above.head, are_numbers=above.are_numbers)
    return last


def _continues(table: PageTable, above: PageTable) -> bool:
    """Returns whether a table has the columns of the one above, and does not begin with a head of its own."""
    if table.top > _TOP or table.is_ruled != above.is_ruled or len(table.columns) != len(above.columns):
        return False
    if table.head == above.head:
        return True
    pairs = zip(table.columns, above.columns, strict=True)
    if table.is_ruled:
        is_same = all(
            abs(one - other) <= _NEAR for ours, theirs in pairs for one, other in zip(ours, theirs, strict=True)
        )
    else:
        is_same = all(ours[0] < theirs[1] and theirs[0] < ours[1] for ours, theirs in pairs)
    if not is_same:
        return False
    return any(above.are_numbers) and all(
        has_number or not are_numbers
        for has_number, are_numbers in zip(table.has_number, above.are_numbers, strict=True)
    )
