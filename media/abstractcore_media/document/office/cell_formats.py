"""What cells show: numbers by their formats, and what the format of a number hides.

Dates are in ISO 8601, which has one order of day and month. The number itself follows in parentheses where a reader
would miss it: `13% (12.5%)`, `Mar-26 (2026-03-14)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import TypeVar
from xml.etree.ElementTree import Element

from ..marks import PLAIN, Marks
from .number_formats import FormatSection, Moment, NumberFormat, exact, general
from .package import Package

_BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);("$"#,##0.00)', 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm", 37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)",
    39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)", 41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
    42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)', 43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    48: "##0.0E+0", 49: "@", **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"),
    **dict.fromkeys(range(32, 36), "h:mm:ss"),
}  # fmt: skip
TYPED_DIGITS = 10
"""A number of more digits was computed or measured: the digits that its format hides are noise."""
_EXACT = 16
"""A number that is written in fewer characters has no more digits than a spreadsheet keeps."""
CLOSE = 0.005
_CLOSE = Decimal(str(CLOSE))
_DATE = frozenset("ymd")
_TIME = frozenset("hMs")
_T = TypeVar("_T")


class CellFormats:
    """The number formats of a workbook, and the marks of its fonts, by the index of the style of a cell."""

    def __init__(self, package: Package, path: str, *, is_1904: bool) -> None:
        self._is_1904 = is_1904
        own: dict[str, str] = {}
        fonts: list[Marks] = []
        self._styles: dict[str, tuple[str, Marks]] = {}
        for part in package.elements(path, "numFmts", "fonts", "cellXfs") if path else ():
            if part.tag == "numFmts":
                own = {each.get("numFmtId", ""): each.get("formatCode", "") for each in part}
            elif part.tag == "fonts":
                fonts = [font_marks(each) for each in part.iterfind("font")]
            else:
                for index, each in enumerate(part.iterfind("xf")):
                    key = each.get("numFmtId", "0")
                    self._styles[str(index)] = (
                        own.get(key) or _built_in(key),
                        at(fonts, each.get("fontId", "0")) or PLAIN,
                    )
        self._standard = self._styles.get("0", ("General", PLAIN))

    def shown(self, value: str, style: str, *, is_computed: bool = False) -> str:
        """Returns a number as a text; one that no number of a spreadsheet is, as it is written."""
        code = self._styles.get(style, self._standard)[0]
        if code == "General" and value.isdecimal() and len(value) < 16:
            return value
        try:
            number = float(value)
        except ValueError:
            return value
        if not isfinite(number):
            return value
        if code == "General":
            return general(number)
        digits = Decimal(value) if len(value) < _EXACT else exact(number)
        return _number_text(digits, code, is_1904=self._is_1904, is_computed=is_computed)

    def text(self, value: str, style: str) -> str:
        """Returns a text by the format of its cell."""
        return text_by_format(value, self._styles.get(style, self._standard)[0])

    def marks(self, style: str) -> Marks:
        """Returns the marks that the font of a cell has."""
        return self._styles.get(style, self._standard)[1]


def font_marks(font: Element | None) -> Marks:
    """Returns the marks of a font, or of the properties of a run."""
    if font is None:
        return PLAIN
    strike, align = font.find("strike"), font.find("vertAlign")
    kind = align.get("val", "") if align is not None else ""
    is_struck = strike is not None and strike.get("val", "1") not in ("0", "false")
    rise = {"superscript": "sup", "subscript": "sub"}.get(kind, "")
    return Marks(rise, is_struck) if rise or is_struck else PLAIN


def at(values: Sequence[_T], index: str) -> _T | None:
    """Returns the value at an index as files have it; None if there is none."""
    number = int(index) if index.isdecimal() and len(index) < 8 else len(values)
    return values[number] if number < len(values) else None


def text_by_format(value: str, code: str) -> str:
    """Returns a text as its cell shows it; one that the format hides is marked."""
    if not value or code == "@" or (code.count(";") < 3 and "@" not in code):
        return value
    shown = _format(code).text(value)
    return shown if shown.strip() else f"[not shown: {value}]"


def number_text(number: float, code: str, *, is_1904: bool = False, is_computed: bool = False) -> str:
    """Returns a number as its cell shows it, with the number itself where the format hides what matters of it."""
    if code == "General":
        return general(number)
    return _number_text(exact(number), code, is_1904=is_1904, is_computed=is_computed)


def _number_text(value: Decimal, code: str, *, is_1904: bool, is_computed: bool) -> str:
    section, has_sign = _format(code).section(value)
    if section.is_date:
        return _moment_text(value, section, is_1904=is_1904)
    found = section.shown(value, has_sign)
    shown = found.text.strip()
    if "  " in shown:  # blanks that align a number with those above it
        shown = " ".join(shown.split())
    if found.value is None:
        if value in (0, 1):
            return shown
        number = general(float(value))
        return f"{shown} ({number})" if shown else f"[not shown: {number}]"
    hidden = None if found.value == value else hidden_number(value, found.value, is_computed=is_computed)
    if not hidden:
        return shown
    number = f"{general(float(hidden * 100))}%" if section.has("percent") else general(float(hidden))
    return f"{shown} ({number})"


def hidden_number(value: Decimal, shown: Decimal, *, is_computed: bool) -> Decimal | None:
    """Returns the number where the shown one is too far from it, or lacks digits that somebody typed."""
    has_typed_digits = not is_computed and len(value.normalize().as_tuple().digits) <= TYPED_DIGITS
    if has_typed_digits:
        return value
    return None if abs(value - shown) <= _CLOSE * abs(value) else exact(float(f"{value:.6g}"))


@lru_cache(maxsize=1024)
def _moment_text(value: Decimal, section: FormatSection, *, is_1904: bool) -> str:
    fields = section.fields
    if "elapsed" in fields:
        return section.elapsed(value)
    moment = moment_of(value, section, is_1904=is_1904)
    if moment is None:
        return general(float(value))
    day = f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"
    seconds = moment.milliseconds // 1000
    minutes = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
    time = f"{minutes}:{seconds % 60:02d}" if seconds % 60 or "s" in fields else minutes
    if section.has("fraction") and (rest := moment.milliseconds % 1000):
        time += f".{rest:03d}"
    if fields >= _DATE:
        return f"{day} {time}" if seconds or fields & _TIME else day
    shown = section.date(moment)
    if value < 1 and not is_1904:
        return shown
    return f"{shown} ({day} {time})" if fields & _TIME else f"{shown} ({day})"


def moment_of(value: Decimal, section: FormatSection, *, is_1904: bool) -> Moment | None:
    """Returns the fields of a date; None for a number that is none. 1900 has a 29 February, as in Excel."""
    most = 2_957_004 if is_1904 else 2_958_466
    if not 0 <= value < most:
        return None
    step = 1 if section.has("fraction") else 1000
    milliseconds = round(value * 86_400_000 / step) * step if section.fields & _TIME else value // 1 * 86_400_000
    days, milliseconds = divmod(int(milliseconds), 86_400_000)
    if days >= most:  # rounded up to the day after the last one
        return None
    if is_1904:
        found = date(1904, 1, 1) + timedelta(days)
        return Moment(found.year, found.month, found.day, (days + 5) % 7, milliseconds)
    if days in (0, 60):
        return Moment(1900, 2 if days else 1, 29 if days else 0, (days + 6) % 7, milliseconds)
    found = date(1899, 12, 30 if days > 60 else 31) + timedelta(days)
    return Moment(found.year, found.month, found.day, (days + 6) % 7, milliseconds)


def _built_in(key: str) -> str:
    return _BUILT_IN.get(int(key), "General") if key.isdecimal() and len(key) < 8 else "General"


@lru_cache(maxsize=256)
def _format(code: str) -> NumberFormat:
    return NumberFormat(code)
