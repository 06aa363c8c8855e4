"""Lays out tables and texts for the width of a terminal. A word, such as a name, a path or a URL, is never broken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from rich.cells import cell_len, set_cell_size

_GAP = 2
_INDENT = "  "
_LEAST_NAME = 2
_LEAST_LAST = 30
"""The last column is wrapped to this width, but no narrower, so that a table fits."""
_LEAST_CROPPED = 8
_LEAST_VALUE = 30
"""Values with less room beside their names are printed below them."""


def table_lines(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yields a line of headers, and the lines of the rows."""
    yield from chain.from_iterable(table_rows(headers, rows, width))


def table_rows(headers: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[list[str]]:
    """Yields the lines of the headers, and those of each row.

    Where the table is too wide, its last column is wrapped; then names, which are in the first column, stand on lines
    of their own if they are long; then all do, with the other cells and their headers below.
    """
    widths = [max(map(cell_len, column)) for column in zip(headers, *rows, strict=True)]
    first, *others = widths
    if others:
        beside = width - _GAP * len(others)
        others[-1] = max(min(others[-1], _LEAST_LAST), min(others[-1], beside - first - sum(others[:-1])))
        first = min(first, beside - sum(others))
    if first < min(widths[0], _LEAST_NAME):
        yield [headers[0]]
        for row in rows:
            yield [*_record(headers, row, width)]
        return
    for row in (headers, *rows):
        yield [*_row(row, [first, *others])]


def cropped(
    headers: Sequence[str], rows: Sequence[Sequence[str]], width: int, least: Mapping[str, int]
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Returns a table that fits a width, if possible: columns are cropped in the order of `least`, which has the width
    that each keeps; with 0, a column without room for some characters is left out.
    """
    sizes = {header: max(map(cell_len, (header, *cells))) for header, *cells in zip(headers, *rows, strict=True)}
    for name, kept in least.items():
        excess = sum(sizes.values()) + _GAP * (len(sizes) - 1) - width
        if excess > 0:
            sizes[name] = min(sizes[name], max(kept, sizes[name] - excess))
            if sizes[name] < max(kept, _LEAST_CROPPED) and not kept:
                del sizes[name]
    indexes = [index for index, header in enumerate(headers) if header in sizes]
    limits = [sizes[headers[index]] for index in indexes]
    lines = [[_crop(row[index], limit) for index, limit in zip(indexes, limits, strict=True)] for row in rows]
    return [headers[index] for index in indexes], lines


def _crop(text: str, width: int) -> str:
    """Returns the beginning of a text that is wider."""
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}…"


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Returns the lines of a text, broken at spaces; a word that is wider than a line ends one.

    Lines after the first begin with `indent`, in addition to the spaces that the text begins with.
    """
    start = text[: len(text) - len(text.lstrip(" "))]
    return _fill(text.split(), width, start, start + indent)


def fact_lines(facts: Iterable[tuple[str, str]], width: int) -> Iterator[tuple[str, str]]:
    """Yields names and lines of their values. A name that is repeated is shown once; on a narrow terminal, long
    values are below their names.
    """
    pairs = list(facts)
    beside = max((cell_len(name) for name, _ in pairs), default=0) + _GAP
    narrow = width - beside < _LEAST_VALUE
    room = width - (len(_INDENT) if narrow else beside)
    last = ""
    for name, value in pairs:
        shown = "" if name == last else name
        last = name
        lines = wrapped(value, room)
        if narrow and shown and cell_len(shown) + _GAP + cell_len(value) <= width:
            yield _pad(shown, cell_len(shown) + _GAP), value
        elif narrow:
            if shown:
                yield shown, ""
            yield from (("", f"{_INDENT}{line}") for line in lines)
        else:
            yield _pad(shown, beside), lines[0]
            yield from ((" " * beside, line) for line in lines[1:])


def _row(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yields the lines of a row; its name has a line of its own if it is wider than its column."""
    name, *cells = row
    if cell_len(name) > widths[0]:
        yield name
        name = ""
    if not cells:
        yield name
        return
    start = "".join(_pad(cell, size + _GAP) for cell, size in zip((name, *cells[:-1]), widths[:-1], strict=True))
    lines = wrapped(cells[-1], widths[-1])
    yield f"{start}{lines[0]}".rstrip()
    yield from (f"{' ' * cell_len(start)}{line}" for line in lines[1:])


def _record(headers: Sequence[str], row: Sequence[str], width: int) -> Iterator[str]:
    """Yields the name, and below it the other cells with their headers."""
    yield row[0]
    cells = [f"{header} {cell}," for header, cell in zip(headers[1:], row[1:], strict=True) if cell]
    if cells:
        cells[-1] = cells[-1].removesuffix(",")
        words = [word for cell in cells for word in ([cell] if cell_len(cell) < width else cell.split())]
        yield from _fill(words, width, _INDENT, _INDENT)


def _fill(words: Iterable[str], width: int, start: str, indent: str) -> list[str]:
    """Returns lines with as many words as fit: the first begins with `start`, others with `indent`."""
    lines = [start]
    is_empty = True
    for word in words:
        is_full = cell_len(lines[-1]) + 1 + cell_len(word) > width
        if not is_empty and is_full and (cell_len(lines[-1]) > width or cell_len(indent) + cell_len(word) <= width):
            lines.append(indent)
            is_empty = True
        lines[-1] += word if is_empty else f" {word}"
        is_empty = False
    return lines


def _pad(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
