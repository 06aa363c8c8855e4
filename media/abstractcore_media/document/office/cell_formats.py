"""Shows numbers of cells by their number formats: dates and times in ISO 8601, percentages, other numbers plainly."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from math import isfinite

from .package import Package

_BUILT_IN_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_BUILT_IN_PERCENT = frozenset((9, 10))
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]{0,255}\]|_.|\*.')


class CellFormats:
    """The number formats of a workbook, by the index of the style of a cell."""

    def __init__(self, package: Package, path: str, *, is_1904: bool) -> None:
        self._epoch = datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)
        own: dict[str, str] = {}
        self._kinds: list[str] = []
        for part in package.elements(path, "numFmts", "cellXfs") if path else ():
            if part.tag == "numFmts":
                own = {each.get("numFmtId", ""): each.get("formatCode", "") for each in part}
            else:
                self._kinds = [kind_of(own.get(key), key) for each in part if (key := each.get("numFmtId", "0"))]

    def shown(self, value: str, style: str) -> str:
        """Returns a number as a text; one that no number of a spreadsheet is, as it is written."""
        kind = self._kinds[int(style)] if style.isdecimal() and int(style) < len(self._kinds) else ""
        try:
            number = float(value)
        except ValueError:
            return value
        return number_text(number, kind, self._epoch) if isfinite(number) else value


def kind_of(code: str | None, key: str) -> str:
    """Returns "date", "percent" or "" for a number format: its code, or else its built-in number."""
    if code is None:
        number = int(key) if key.isdecimal() else 0
        return "date" if number in _BUILT_IN_DATES else "percent" if number in _BUILT_IN_PERCENT else ""
    plain = _QUOTED.sub("", code.partition(";")[0]).lower()
    if "general" in plain:
        return ""
    if any(letter in plain for letter in "ymdhs"):
        return "date"
    return "percent" if "%" in plain else ""


def number_text(number: float, kind: str, epoch: datetime) -> str:
    """Returns a number as a text, with the 15 digits that spreadsheets keep."""
    if kind == "percent":
        return f"{number * 100:.12g}%"
    if kind == "date":
        try:
            moment = epoch + timedelta(seconds=round(number * 86_400))
        except (OverflowError, ValueError):
            return f"{number:.15g}"
        if 0 <= number < 1:
            return moment.time().isoformat()
        return moment.date().isoformat() if moment.time() == moment.min.time() else moment.isoformat(sep=" ")
    return (
        f"{number:.15g}"
        if abs(number) < 1e15 or not number.is_integer()
        else f"{number:.0f}"
        if abs(number) < 1e21
        else f"{number:.15g}"
    )
