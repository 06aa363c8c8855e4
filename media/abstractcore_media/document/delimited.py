"""CSV and TSV files: a table, whose rows keep their places."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from .blocks import Block
from .format_handler import DocumentFile
from .sheets import SheetRow, TableBudget
from .text_decoding import decoded

_DELIMITERS = ",;\t|"
_SAMPLE = 20_000


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the rows of the file."""
    text, _ = decoded(file.data, file.name)
    delimiter = "\t" if file.media_type == "text/tab-separated-values" else _delimiter(text)
    lines = text.splitlines(keepends=True)
    counted = 0

    def fed() -> Iterator[str]:
        nonlocal counted
        for counted, line in enumerate(lines, 1):  # noqa: B007
            yield line

    def rest() -> Iterator[int]:
        yield sum(1 for line in lines[counted:] if line.strip())

    reader = csv.reader(fed(), delimiter=delimiter)
    yield from TableBudget(file.work).blocks(None, _rows(reader), rest())


def _rows(reader: Iterator[list[str]]) -> Iterator[SheetRow]:
    number = 0
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        number += 1
        cells = {column: field for column, field in enumerate(fields) if field.strip()}
        if cells:
            yield SheetRow(number, cells)


def _delimiter(text: str) -> str:
    """Returns the delimiter that gives most lines of the beginning the same number of fields, above one."""
    lines = [line for line in text[:_SAMPLE].splitlines()[:50] if line.strip()]

    def fitness(delimiter: str) -> tuple[int, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        usual = max(set(counts), key=counts.count, default=1)
        return (counts.count(usual), usual) if usual > 1 else (0, 0)

    return max(_DELIMITERS, key=fitness)
