"""The rows of spreadsheets as tables: blank rows end a table, and rows over a limit are counted and left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .blocks import Block, BlockPlace, LostContent, MarkdownText, table
from .work_limits import Work

MAX_COLUMNS = 16_384


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row of cells that are not empty: texts by column, from 0. `number` counts from 1."""

    number: int
    cells: Mapping[int, str]


@dataclass(slots=True)
class TableBudget:
    """The characters that the tables of one file may still take."""

    work: Work
    characters: int = field(init=False)
    tables: int = 0

    def __post_init__(self) -> None:
        self.characters = self.work.limits.table_characters

    def blocks(self, sheet: str | None, rows: Iterable[SheetRow], rest: Iterable[int] = ()) -> Iterator[Block]:
        """Yields the tables of a sheet. `rest` are counts of further rows, taken when the budget is used up."""
        total = left_out = first_left_out = 0
        together: list[SheetRow] = []
        for row in rows:
            self.work.check()
            total += 1
            self.characters -= sum(map(len, row.cells.values())) + 3 * len(row.cells)
            if self.characters < 0:
                left_out, first_left_out = 1, row.number
                break
            if together and row.number != together[-1].number + 1:
                yield from self._table(together, sheet)
                together = []
            together.append(row)
        yield from self._table(together, sheet)
        if left_out:
            more = sum(rest)
            left_out, total = left_out + more, total + more
            where = f"{sheet}: from row {first_left_out}" if sheet else f"from row {first_left_out}"
            yield LostContent("rows", left_out, total, where)
            yield MarkdownText(f"[{left_out:,} rows {where} are not shown here]", BlockPlace(sheet=sheet))
        else:
            yield LostContent("rows", 0, total)

    def _table(self, rows: list[SheetRow], sheet: str | None) -> Iterator[MarkdownText]:
        self.tables += 1
        return _table(rows, sheet, f"sheet table {self.tables}")


def column_name(index: int) -> str:
    """Returns the name of a column: "A" for 0, "AA" for 26."""
    name = ""
    index += 1
    while index > 0:
        index, digit = divmod(index - 1, 26)
        name = chr(ord("A") + digit) + name
    return name


def column_index(cell: str) -> int:
    """Returns the column of a cell by its name, such as "B7"; -1 if that is not valid."""
    index = 0
    for letter in cell:
        if not "A" <= letter <= "Z":
            break
        index = index * 26 + ord(letter) - ord("A") + 1
        if index > MAX_COLUMNS:
            return -1
    return index - 1


def hidden_columns(ranges: Sequence[tuple[int, int]], place: BlockPlace) -> MarkdownText:
    """Returns the mark of columns that a sheet does not show, by the first and last one of each range."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(each for each in ranges if 0 <= each[0] <= each[1]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    names = ("-".join(column_name(min(column, MAX_COLUMNS)) for column in dict.fromkeys(each)) for each in joined)
    return MarkdownText(f"[hidden columns: {', '.join(names)}]" if joined else "", place)


def with_hidden_mark(cells: dict[int, str]) -> dict[int, str]:
    """Returns the cells of a row that a sheet does not show, marked as such."""
    first = min(cells)
    return {**cells, first: f"[hidden row] {cells[first]}"}


def not_calculated(formula: str) -> str:
    """Returns the text of a cell whose formula no program has computed; "" stands for one that is not known."""
    return f"={formula} [not calculated]" if formula else "[formula, not calculated]"


def comment_text(text: str, author: str) -> str:
    """Returns a comment on a cell with its author, whose name programs also write before the text."""
    text, author = " ".join(text.split()), " ".join(author.split())
    text = text.removeprefix(f"{author}:").strip() if author else text
    return f"[comment by {author}: {text}]" if author else f"[comment: {text}]"


def _table(rows: list[SheetRow], sheet: str | None, name: str) -> Iterator[MarkdownText]:
    columns = sorted({column for row in rows for column in row.cells})
    if not columns:
        return
    first, last = columns[0], columns[-1]
    shown = range(first, last + 1) if last - first < 4 * len(columns) else columns
    texts = (
        (
            [row.cells.get(column, "") for column in shown],
            BlockPlace(sheet=sheet, cell=_range(first, last, row.number)),
        )
        for row in rows
    )
    yield from table(texts, name)


def _range(first: int, last: int, row: int) -> str:
    start = f"{column_name(first)}{row}"
    return start if first == last else f"{start}:{column_name(last)}{row}"
