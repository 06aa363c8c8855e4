"""CSV and TSV files: a table, whose rows keep their places."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator

from .blocks import Block, GuessedEncoding
from .format_handler import DocumentFile
from .sheets import SheetRow, TableBudget
from .text_decoding import decoded
from .vocabularies import FormatVocabulary, LossCounter

VOCABULARY = FormatVocabulary(
    source="the grammar of RFC 4180, and of text/tab-separated-values",
    read={
        "fields, as cells": "field name escaped non-escaped nameline",
        "records, as rows of a table; the first one as its head": "record header file",
    },
    properties="delimiter",
)

_DELIMITERS = ",;\t|"
_NAMED_DELIMITER = re.compile(r"sep=(.)(?:\r\n|\r|\n)", re.IGNORECASE)
"""A first line such as "sep=;", with which a file tells spreadsheets its delimiter."""
_SAMPLE = 20_000
_END = "\0"
"""A line that is appended for the parser: it becomes a part of a quoted field that is open at the end."""


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the rows of the file."""
    text, guessed = decoded(file.data, file.name)
    if guessed is not None:
        yield GuessedEncoding(guessed)
    named = _NAMED_DELIMITER.match(text)
    if named is not None:
        text = text[named.end() :]
    tab = "\t" if file.media_type == "text/tab-separated-values" else ""
    delimiter = named[1] if named is not None else tab or _delimiter(text)
    lines = text.splitlines(keepends=True)
    counted = 0

    def fed() -> Iterator[str]:
        nonlocal counted
        for counted, line in enumerate(lines, 1):  # noqa: B007
            yield line
        yield _END

    def rest() -> Iterator[int]:
        yield sum(1 for line in lines[counted:] if line.strip())

    reader = csv.reader(fed(), delimiter=delimiter)
    yield from TableBudget(file.work).blocks(None, _rows(reader, text.endswith(("\n", "\r")), file.losses), rest())


def _rows(reader: Iterator[list[str]], has_last_break: bool, losses: LossCounter) -> Iterator[SheetRow]:
    """Yields the rows; a last one that ends in its quotes, or before its last fields, is counted as cut."""
    shortest, before = sys.maxsize, 0
    for number, fields in enumerate(reader, 1):
        if fields == [_END]:
            if before < shortest and not has_last_break:
                losses.cut()
            return
        if fields and fields[-1].endswith(_END):
            fields[-1] = fields[-1].removesuffix(_END)
            losses.cut()
        if fields:
            shortest, before = min(shortest, before or sys.maxsize), len(fields)
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
