"""XLS: the cells of all sheets, hidden ones too, read by xlrd.

A formula without a cached value shows as an empty cell: xlrd does not give formulas.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib import import_module
from typing import Any, cast

from ...common.extras import missing_extra
from ..blocks import Block, BlockPlace, heading
from ..format_handler import DocumentFile
from ..marks import PLAIN, MarkedText, Marks, marked
from ..office.cell_formats import number_text, text_by_format
from ..office.decryption import decrypted, needs_password
from ..sheets import SheetRow, TableBudget, comment_text, hidden_columns, with_hidden_mark
from .xls_objects import XLS, beside_cells

VOCABULARY = XLS
_MAX_BYTES = 100_000_000


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a workbook, sheet by sheet."""
    try:
        xlrd = cast(Any, import_module("xlrd"))  # it has no types
    except ImportError as error:
        raise missing_extra("Reading XLS files", "xlrd", "documents") from error
    if len(file.data) > _MAX_BYTES:
        raise file.work.too_large(f"it has {len(file.data):,} bytes")
    data = file.data if file.password is None else decrypted(file)
    try:
        book = xlrd.open_workbook(
            file_contents=data, formatting_info=True, on_demand=True, ragged_rows=True, logfile=io.StringIO()
        )
    except xlrd.XLRDError as error:
        if "encrypted" in str(error):
            raise needs_password(file.name) from error
        raise
    beside = beside_cells(book, data, file.losses)
    budget = TableBudget(file.work)
    texts = _CellTexts(book)
    for number, name in enumerate(book.sheet_names()):
        file.work.check()
        sheet = book.sheet_by_index(number)
        yield heading(f"{name}{' (hidden)' if sheet.visibility else ''}", 2, BlockPlace(sheet=name))
        hidden = sorted(column for column, info in sheet.colinfo_map.items() if info.hidden)
        yield hidden_columns([(column, column) for column in hidden if column < sheet.ncols], BlockPlace(sheet=name))
        rows = _rows(sheet, texts)
        yield from budget.blocks(name, rows, (1 for _ in rows))
        yield from beside.get(name, ())
        book.unload_sheet(number)


def _rows(sheet: Any, texts_of_cells: _CellTexts) -> Iterator[SheetRow]:
    links = {place: link.url_or_path for place, link in sheet.hyperlink_map.items() if link.type == "url"}
    notes = {place: _note(note) for place, note in sheet.cell_note_map.items()}
    runs = sheet.rich_text_runlist_map
    noted: dict[int, list[int]] = {}
    for row, column in sorted(notes):
        noted.setdefault(row, []).append(column)
    for number in range(max(sheet.nrows, 1 + max(noted, default=-1))):
        texts: dict[int, str] = {}
        for column, cell in enumerate(sheet.row(number) if number < sheet.nrows else ()):
            if text := texts_of_cells.text(cell, runs.get((number, column)) if runs else None):
                link = links.get((number, column)) if links else None
                texts[column] = f"[{text}]({link})" if link else text
        for column in noted.get(number, ()):
            texts[column] = f"{texts.get(column, '')} {notes[number, column]}".strip()
        if texts:
            row = sheet.rowinfo_map.get(number)
            yield SheetRow(number + 1, with_hidden_mark(texts) if row is not None and row.hidden else texts)


def _note(note: Any) -> str:
    return comment_text(note.text or "", note.author or "")


class _CellTexts:
    """The texts of the cells of a workbook, as their formats show them."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._is_1904 = bool(book.datemode)
        self._kinds = cast(Any, import_module("xlrd.biffh"))
        self._empty = (self._kinds.XL_CELL_EMPTY, self._kinds.XL_CELL_BLANK)
        self._formats: dict[int | None, tuple[str, Marks]] = {}

    def text(self, cell: Any, runs: list[tuple[int, int]] | None) -> str:
        """Returns the text of a cell; `runs` are the places where its font changes."""
        kind = cell.ctype
        if kind in self._empty:
            return ""
        found = self._formats.get(cell.xf_index)
        if found is None:
            found = self._formats[cell.xf_index] = self._format(cell.xf_index)
        code, marks = found
        if kind == self._kinds.XL_CELL_NUMBER or kind == self._kinds.XL_CELL_DATE:
            return marked(number_text(cell.value, code, is_1904=self._is_1904), marks)
        if kind == self._kinds.XL_CELL_TEXT:
            return self._rich_text(cell.value, runs, marks) if runs else marked(text_by_format(cell.value, code), marks)
        if kind == self._kinds.XL_CELL_BOOLEAN:
            return marked("TRUE" if cell.value else "FALSE", marks)
        return self._kinds.error_text_from_code.get(cell.value, "#ERROR")

    def _format(self, index: int | None) -> tuple[str, Marks]:
        """Returns the number format and the marks of a style of cells."""
        if index is None:
            return "General", PLAIN
        form = self._book.xf_list[index]
        found = self._book.format_map.get(form.format_key)
        return (found.format_str if found is not None else "") or "General", self._marks(form.font_index)

    def _rich_text(self, text: str, runs: list[tuple[int, int]], marks: Marks) -> str:
        """Returns a text whose fonts change at the places of its runs."""
        found = MarkedText()
        units = text.encode("utf-16-le")  # the places count these
        begin = 0
        for place, font in runs:
            found.add(units[2 * begin : 2 * place].decode("utf-16-le", "replace"), marks)
            begin, marks = place, self._marks(font)
        found.add(units[2 * begin :].decode("utf-16-le", "replace"), marks)
        return found.taken()

    def _marks(self, font: int) -> Marks:
        if not 0 <= font < len(self._book.font_list):
            return PLAIN
        found = self._book.font_list[font]
        return Marks({1: "sup", 2: "sub"}.get(found.escapement, ""), bool(found.struck_out))
