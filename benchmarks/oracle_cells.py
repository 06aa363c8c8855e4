"""Cells as our readers give them and as LibreOffice shows them, compared one by one."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple, TypeAlias

from abstractcore.ports import Conversion

Rows: TypeAlias = Mapping[int, Sequence[str]]
"""The cells of a sheet that are not empty, by the number of their row."""

csv.field_size_limit(10_000_000)
_LONG = 10_000
"""Characters of a text of which only the first ones are compared."""
_CELL = re.compile(r"(?<!\\)\|")
_ROW = re.compile(r"[A-Z]+(\d+)(?::|$)")
_COMMENT = re.compile(r"\s*\[(?:comment|note)(?: by [^\]:]*)?: .*\]$", re.DOTALL)
_LINK = re.compile(r"\[(.*)\]\([^()]+\)$", re.DOTALL)
_MARK = re.compile(r"~~|</?su[bp]>|\[hidden row\] ")
_SUFFIX = re.compile(r"(?<=.)\([^()]*\)$")
_HIDDEN = re.compile(r"\[not shown: (.*)\]$", re.DOTALL)
_FORMULA = re.compile(r"=.*|\[formula[^\]]*\]", re.DOTALL)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d)(?::(\d\d))?)?")
_NUMBER = re.compile(r"[-+]?[\d,]*\.?\d+(?:E[-+]?\d+)?%?", re.IGNORECASE)
SMALL = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+-=()ni0123456789+-=()")


class Compared(NamedTuple):
    """One cell or word: `how` is "same", how the two differ by intention, or "" if one of them is wrong."""

    place: str
    ours: str
    theirs: str
    how: str


def compared_sheets(conversion: Conversion, shown: Sequence[Path]) -> Iterator[Compared]:
    """Yields each cell of the sheets that LibreOffice wrote as a file each."""
    ours = {_file_name(name): rows for name, rows in _our_sheets(conversion).items()}
    for path in shown:
        name = path.stem.partition("-")[2]
        yield from _compared(name, ours.get(_file_name(name), {}), _their_sheet(path))


def _file_name(sheet: str) -> str:
    """Returns the name of a sheet as far as names of files keep it."""
    return "".join(letter for letter in sheet if letter.isalnum())


def _our_sheets(conversion: Conversion) -> dict[str, dict[int, list[str]]]:
    """Returns the cells of each sheet in the text of a spreadsheet, by its anchors."""
    sheets: dict[str, dict[int, list[str]]] = {}
    for line in re.finditer(r"^## (.*)$", conversion.text, re.MULTILINE):
        sheets.setdefault(line[1].removesuffix(" (hidden)"), {})
    for anchor in conversion.anchors:
        text = conversion.text[anchor.start : anchor.end]
        found = _ROW.match(anchor.cell or "")
        if anchor.sheet is not None and anchor.member is None and found and text.startswith("| ") and "\n" not in text:
            cells = [cell.strip().replace(r"\|", "|") for cell in _CELL.split(text[1:-1])]
            sheets.setdefault(anchor.sheet, {})[int(found[1])] = [cell for cell in cells if cell]
    return sheets


def _their_sheet(path: Path) -> dict[int, list[str]]:
    """Returns the cells of a sheet that LibreOffice wrote as CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = ([cell for cell in map(str.strip, row) if cell] for row in csv.reader(file))
        return {number: row for number, row in enumerate(rows, 1) if row}


def _compared(sheet: str, ours: Rows, theirs: Rows) -> Iterator[Compared]:
    """Yields each cell that one of the two has."""
    for number in sorted({*ours, *theirs}):
        our_row, their_row = ours.get(number, ()), theirs.get(number, ())
        if len(our_row) == len(their_row):
            pairs: Sequence[tuple[str, str]] = list(zip(our_row, their_row, strict=True))
        else:
            pairs = _aligned(our_row, their_row)
        place = f"{sheet} row {number}"
        yield from (Compared(place, one, other, _difference(one, other)) for one, other in pairs)


def _difference(ours: str, theirs: str) -> str:
    """Returns how two texts of a cell differ: "same", the name of a difference by intention, or ""."""
    if max(len(ours), len(theirs)) > _LONG:
        return "same" if ours[:100].split() == theirs[:100].split() else "long text"
    ours = ours.removeprefix("[hidden row] ")
    plain = _plain(ours)
    if plain == _folded(theirs):
        return "same"
    if hidden := _HIDDEN.match(ours):
        return "hidden by its format" if not theirs or _folded(theirs) != _folded(hidden[1]) else ""
    if not plain and not theirs:
        return "comment alone"
    if _FORMULA.match(ours) and theirs:
        return "formula without a value, which LibreOffice computes"
    if theirs.startswith("###"):
        return "too wide for LibreOffice"
    if theirs.startswith(("Err:", "#")) or (ours.startswith("#") and theirs):
        return "error of one of the two"
    if (ours, theirs) in (("TRUE", "1"), ("FALSE", "0")):
        return "truth value as a number"
    if _SUFFIX.sub("", plain) == _folded(theirs):
        return "number after what is shown"
    if _is_same_number(plain, theirs) or _is_same_number(_SUFFIX.sub("", plain), theirs):
        return "digits of General"
    if _is_same_date(ours, theirs):
        return "date in ISO 8601"
    return ""


def _aligned(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[str, str]]:
    """Returns pairs of cells of two rows that differ in length; a cell without a partner has an empty one."""
    keys = [_key(each[:_LONG]) for each in ours]
    matcher = SequenceMatcher(None, keys, [_folded(each[:_LONG]) for each in theirs], autojunk=False)
    pairs: list[tuple[str, str]] = []
    for _, first, last, begin, end in matcher.get_opcodes():
        left, right = list(ours[first:last]), list(theirs[begin:end])
        size = max(len(left), len(right))
        pairs += zip(left + [""] * (size - len(left)), right + [""] * (size - len(right)), strict=True)
    return pairs


def _key(text: str) -> str:
    plain = _SUFFIX.sub("", _plain(text))
    return {"TRUE": "1", "FALSE": "0"}.get(plain, plain)


def _plain(text: str) -> str:
    """Returns the text of a cell without our marks, links and comments."""
    text = _MARK.sub("", _COMMENT.sub("", text))
    while found := _LINK.match(text):
        text = found[1]
    return _folded(text)


def _folded(text: str) -> str:
    return re.sub(r"\s+|<br>", "", text.translate(SMALL)).replace("\N{MINUS SIGN}", "-")


def _is_same_number(ours: str, theirs: str) -> bool:
    theirs = _folded(theirs)
    if not (_NUMBER.fullmatch(ours) and _NUMBER.fullmatch(theirs)) or ours.endswith("%") != theirs.endswith("%"):
        return False
    one, other = (float(text.rstrip("%").replace(",", "")) for text in (ours, theirs))
    return abs(one - other) <= 1e-5 * abs(one)


def _is_same_date(ours: str, theirs: str) -> bool:
    """Returns whether the fields of a date in ISO 8601 are those that the other text shows."""
    found = _ISO.search(ours)
    if not found:
        return False
    year, month, day, *time = found.groups()
    numbers = [int(number) for number in re.findall(r"\d+", theirs)]
    known = {int(year), int(year) % 100, int(month), int(day), *(int(each) for each in time if each)}
    known |= {hour % 12 or 12 for hour in known} | {0}
    return bool(numbers) and all(number in known for number in numbers)
