"""The text that a number has in a cell by its number format (ECMA-376, part 1, 18.8.31), in English.

Dates are not written here: a section that shows one gives its fields to `cell_formats`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import NamedTuple, TypeAlias

MAX_CODE = 255
"""The characters that a format may have, as in Excel; a longer one is read as General."""

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*.|\[(?P<bracket>[^\]]{0,255})\]|(?P<general>General)'
    r"|(?P<ampm>AM/PM|A/P)|(?P<exponent>E[+-])|(?P<date>y+|m+|d+|h+|s+|e+|g+)|(?P<seconds>(?:(?<=s)|(?<=s\]))\.0+)"
    r"|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d{1,30}(?:\.\d{0,30})?)")
_COMPARE: dict[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
_ROUNDING = Context(prec=1000, rounding=ROUND_HALF_UP)
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

_Token: TypeAlias = tuple[str, str]
"""A kind and its text: "literal", "digit" (0, #, ?), "point", "comma", "percent", "exponent", "slash", "general",
"text", "ampm", a field of a date or an elapsed time."""


class ShownNumber(NamedTuple):
    """`value` is the number that the text stands for; None where it shows no digit."""

    text: str
    value: Decimal | None


@dataclass(frozen=True, slots=True)
class Moment:
    """A date and time of day as its fields; a date that no calendar has, such as 1900-02-29, is one of Excel's."""

    year: int
    month: int
    day: int
    weekday: int
    milliseconds: int
    """Since midnight."""


class NumberFormat:
    """A format of up to four sections: for positive numbers, negative ones, zero, and text; or with conditions."""

    def __init__(self, code: str) -> None:
        sections = _sections(code if len(code) <= MAX_CODE else "General")
        self._text = sections[3] if len(sections) > 3 else None
        if self._text is None and sections[-1].has("text"):
            self._text = sections.pop()
            sections = sections or _sections("General")
        self._numbers = sections[:3]
        self._is_conditional = any(each.condition is not None for each in self._numbers)

    def text(self, text: str) -> str:
        """Returns a text as a cell of this format shows it."""
        return text if self._text is None else self._text.with_text(text)

    def section(self, value: Decimal) -> tuple[FormatSection, bool]:
        """Returns the section for a number, and whether the section shows a minus for it by itself."""
        sections = self._numbers
        if self._is_conditional:
            conditional = [each for each in sections if each.condition is not None]
            chosen = next((each for each in conditional if each.accepts(value)), None)
            others = [each for each in sections if each.condition is None]
            if chosen is None:
                negative = len(sections) == 3 and sections[1].condition is None and value < 0
                chosen = sections[1] if negative else others[-1] if others else None
                own_sign = negative or (len(sections) == 2 and sections[0].is_positive_only() and value < 0)
                return chosen or FormatSection([("literal", "########")], None), own_sign
            return chosen, value < 0 and chosen.is_negative_only()
        if value < 0 and len(sections) > 1:
            return sections[1], True
        return (sections[2] if value == 0 and len(sections) > 2 else sections[0]), False

    def shown(self, number: float) -> ShownNumber:
        """Returns a number as a section without a date shows it."""
        value = exact(number)
        section, has_sign = self.section(value)
        return section.shown(value, has_sign)


class FormatSection:
    """One section of a format."""

    def __init__(self, tokens: list[_Token], condition: tuple[str, Decimal] | None) -> None:
        self.tokens = _minutes(tokens)
        self.condition = condition
        kinds = {kind for kind, _ in tokens}
        self._kinds = kinds
        self.fields = frozenset({kind for kind, _ in self.tokens} & _FIELDS)
        """The fields of a date or a time that it shows: "y", "m", "d", "h", "M", "s", "elapsed"."""
        self.is_date = bool(self.fields) and "general" not in kinds
        self._is_fraction = "slash" in kinds and "digit" in kinds
        self._is_scientific = "exponent" in kinds
        self._has_digits = "digit" in kinds
        self._percents = sum(kind == "percent" for kind, _ in tokens)
        self._number = _NumberPattern(self.tokens)

    def has(self, kind: str) -> bool:
        return kind in self._kinds

    def accepts(self, value: Decimal) -> bool:
        return self.condition is not None and _COMPARE[self.condition[0]](value, self.condition[1])

    def is_negative_only(self) -> bool:
        return self.condition is not None and self.condition[0] in ("<", "<=") and self.condition[1] <= 0

    def is_positive_only(self) -> bool:
        return self.condition is not None and self.condition[0] in (">", ">=") and self.condition[1] >= 0

    def with_text(self, text: str) -> str:
        return "".join(text if kind in ("text", "general") else each for kind, each in self.tokens)

    def shown(self, value: Decimal, has_sign: bool) -> ShownNumber:
        """Returns a number; `has_sign` where the section itself shows that it is negative."""
        is_negative = value < 0
        size = -value if is_negative else value
        if self._is_fraction:
            text, stands_for = _fraction(self.tokens, size)
        elif self._is_scientific:
            text, stands_for = self._number.scientific(size)
        elif self._has_digits:
            shift = 2 * self._percents
            text, stands_for = self._number.shown(size.scaleb(shift) if shift else size, shift)
        elif self.has("general") or self.has("text"):
            text, stands_for = self.with_text(general(float(size))), size
        else:
            text, stands_for = "".join(text for _, text in self.tokens), None
        if not is_negative:
            return ShownNumber(text, stands_for)
        sign = "-" if not has_sign and stands_for != 0 else ""
        return ShownNumber(sign + text, -stands_for if stands_for else stands_for)

    def date(self, moment: Moment) -> str:
        """Returns a date and a time of day."""
        has_halves = self.has("ampm")
        return "".join(_date_field(kind, text, moment, has_halves=has_halves) for kind, text in self.tokens)

    def elapsed(self, days: Decimal) -> str:
        """Returns a time longer than a day, such as 30:15; it is cut to the smallest unit shown, as Excel does."""
        places = max((len(text) - 1 for kind, text in self.tokens if kind == "fraction"), default=0)
        ticks = (abs(days) * 86_400).quantize(Decimal(1).scaleb(-3), context=_ROUNDING)
        seconds = int(ticks) if places else int(ticks.quantize(Decimal(1), context=_ROUNDING))
        moment = Moment(0, 0, 0, 0, seconds % 86_400 * 1000 + (int(ticks * 1000) % 1000 if places else 0))
        units = {"h": 3600, "m": 60, "s": 1}
        pieces = [
            str(seconds // units[text[0]]).zfill(len(text))
            if kind == "elapsed"
            else _date_field(kind, text, moment, has_halves=False)
            for kind, text in self.tokens
        ]
        return ("-" if days < 0 else "") + "".join(pieces)


_FIELDS = frozenset({"y", "m", "d", "h", "M", "s", "elapsed"})


class _NumberPattern:
    """The placeholders of a number: its integer part, decimals and exponent, with what stands between them."""

    def __init__(self, tokens: list[_Token]) -> None:
        kinds = [kind for kind, _ in tokens]
        digits = [index for index, kind in enumerate(kinds) if kind == "digit"]
        self._exponent = kinds.index("exponent") if "exponent" in kinds else len(tokens)
        self._point = kinds.index("point") if "point" in kinds[: self._exponent] else self._exponent
        self._integers = [index for index in digits if index < self._point]
        self._decimals = [index for index in digits if self._point < index < self._exponent]
        last = max((index for index in digits if index < self._exponent), default=-1)
        ends = {self._integers[-1] if self._integers else -1, last}
        commas = [index for index, kind in enumerate(kinds) if kind == "comma"]
        scaling: set[int] = set()
        for end in ends:
            while end + 1 in commas:
                end += 1
                scaling.add(end)
        self._scale = len(scaling)
        inner = (index for index in commas if index not in scaling)
        self._is_grouped = bool(self._integers) and any(self._integers[0] < i < self._integers[-1] for i in inner)
        self._tokens = [
            ("skip", "") if kind == "comma" and (index in scaling or index < self._point) else (kind, text)
            for index, (kind, text) in enumerate(tokens)
        ]

        self._unit = Decimal(1).scaleb(-len(self._decimals))
        self._around = self._template()

    def shown(self, size: Decimal, shift: int) -> tuple[str, Decimal]:
        """Returns a number that was multiplied by 10 to the power of `shift`, and what its text stands for."""
        scale = 3 * self._scale
        rounded = (size.scaleb(-scale) if scale else size).quantize(self._unit, context=_ROUNDING)
        stands_for = rounded.scaleb(scale - shift) if scale or shift else rounded
        if self._around is None:
            return self._filled(rounded, 0), stands_for
        before, length, after = self._around
        text = f"{rounded:,f}" if self._is_grouped else f"{rounded:f}"
        return before + text.zfill(length) + after, stands_for

    def _template(self) -> tuple[str, int, str] | None:
        """Returns the texts around the digits, and the least number of digits; None for formats that are not common."""
        if not self._integers or self._exponent < len(self._tokens):
            return None
        first, last = self._integers[0], (self._decimals or self._integers)[-1]
        whole = "".join(self._tokens[index][1] for index in self._integers)
        decimals = "".join(self._tokens[index][1] for index in self._decimals)
        inside = [kind for kind, _ in self._tokens[first : last + 1]]
        zeros = whole.count("0")
        is_common = (
            {"digit", "skip", "point"}.issuperset(inside)
            and inside.count("point") < 2
            and whole.lstrip("#") == "0" * zeros
            and not decimals.strip("0")
        )
        has_point = self._point < len(self._tokens) and not self._decimals
        if not is_common or not zeros or has_point or (zeros > 1 and self._is_grouped):
            return None
        before, after = (
            "".join(text for _, text in tokens) for tokens in (self._tokens[:first], self._tokens[last + 1 :])
        )
        return before, zeros + (1 + len(decimals) if decimals else 0), after

    def scientific(self, size: Decimal) -> tuple[str, Decimal]:
        """Returns a number as a mantissa and an exponent, a multiple of the digits before the point."""
        step = max(1, len(self._integers))
        exponent = (size.adjusted() if size else 0) // step * step
        mantissa = _rounded(size.scaleb(-exponent), len(self._decimals))
        if mantissa >= 10**step:
            exponent += step
            mantissa = _rounded(size.scaleb(-exponent), len(self._decimals))
        return self._filled(mantissa, exponent), mantissa.scaleb(exponent)

    def _filled(self, number: Decimal, exponent: int) -> str:
        whole, _, decimals = f"{number:f}".partition(".")
        texts = self._whole("" if whole == "0" else whole)
        kept = len(decimals.rstrip("0"))
        for place, index in enumerate(self._decimals):
            symbol = self._tokens[index][1]
            digit = decimals[place : place + 1] or "0"
            texts[index] = digit if place < kept or symbol == "0" else " " if symbol == "?" else ""
        powers = [index for index in range(self._exponent, len(self._tokens)) if self._tokens[index][0] == "digit"]
        for index, digit in zip(powers, self._power(exponent, powers), strict=True):
            texts[index] = digit
        if self._exponent < len(self._tokens):
            sign = self._tokens[self._exponent][1][1]
            texts[self._exponent] = "E" + ("-" if exponent < 0 else "+" if sign == "+" else "")
        if self._point < self._exponent and not any(texts[index] for index in self._decimals):
            texts[self._point] = texts.get(self._point, "").rstrip(".")
        return "".join(texts.get(index, text) for index, (_, text) in enumerate(self._tokens))

    def _power(self, exponent: int, places: list[int]) -> list[str]:
        digits = str(abs(exponent)).zfill(len(places))
        return [digits[: len(digits) - len(places) + 1], *digits[len(digits) - len(places) + 1 :]] if places else []

    def _whole(self, digits: str) -> dict[int, str]:
        """Returns the digits of the integer part by the placeholders that they stand at."""
        texts: dict[int, str] = {}
        position = 0
        for number, index in enumerate(reversed(self._integers)):
            is_first = number == len(self._integers) - 1
            taken = digits if is_first else digits[-1:]
            digits = digits[: len(digits) - len(taken)]
            symbol = self._tokens[index][1]
            if not taken and symbol != "#":
                taken = "0" if symbol == "0" else " "
            text = ""
            for digit in reversed(taken):
                comma = "," if self._is_grouped and position and position % 3 == 0 else ""
                text = digit + (comma if digit != " " else " " * len(comma)) + text
                position += 1
            texts[index] = text
        if not self._integers and digits and self._point < len(self._tokens):
            texts[self._point] = digits + "."
        return texts


def exact(number: float) -> Decimal:
    """Returns a number with the 15 digits that spreadsheets keep."""
    return Decimal(f"{number:.15g}")


def general(number: float) -> str:
    """Returns a number as the format General shows it in a wide cell: with all of its digits."""
    is_plain = 1e-9 < abs(number) < 1e15 or number == 0
    text = f"{number:.15G}"
    return text if is_plain and "E" not in text else f"{exact(number):f}" if 1e-9 < abs(number) < 1e21 else text


def _rounded(number: Decimal, places: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places), context=_ROUNDING)


def _fraction(tokens: list[_Token], size: Decimal) -> tuple[str, Decimal]:
    slash = next(index for index, (kind, _) in enumerate(tokens) if kind == "slash")
    digits = [index for index, (kind, _) in enumerate(tokens) if kind == "digit"]
    top = _together(digits, slash, -1)
    whole = [index for index in digits if index < slash and index not in top]
    bottom, fixed = _denominator(tokens, slash)
    number = Fraction(size)
    units = int(number) if whole else 0
    rest = number - units
    if fixed:
        part = Fraction(int(rest * fixed + Fraction(1, 2)), fixed)
        over, under = int(part * fixed), fixed
    else:
        part = rest.limit_denominator(max(10 ** min(len(bottom), 6) - 1, 1))
        over, under = part.numerator, part.denominator
    if whole and part == 1:
        units, over, part = units + 1, 0, Fraction(0)
    texts = dict.fromkeys((*digits, *bottom), "")
    is_blank = whole and not over and tokens[top[0]][1] != "0" if top else False
    if whole:
        texts[whole[-1]] = str(units) if units or is_blank or tokens[whole[-1]][1] == "0" else ""
    if top:
        texts[top[-1]] = "" if is_blank else str(over)
    if bottom:
        texts[bottom[0]] = "" if is_blank else str(under)
    texts[slash] = "" if is_blank else "/"
    text = "".join(texts.get(index, text) for index, (_, text) in enumerate(tokens))
    return text.strip(), _ROUNDING.divide(Decimal((units + part).numerator), Decimal((units + part).denominator))


def _together(digits: list[int], border: int, step: int) -> list[int]:
    """Returns the placeholders that touch the border on one side, from left to right."""
    found: list[int] = []
    index = border + step
    while index in digits:
        found.append(index)
        index += step
    return sorted(found)


def _denominator(tokens: list[_Token], slash: int) -> tuple[list[int], int]:
    """Returns the tokens of the denominator, and its number where the format gives one."""
    found: list[int] = []
    for index in range(slash + 1, len(tokens)):
        kind, text = tokens[index]
        if kind == "digit" or (kind == "literal" and text.isdecimal()):
            found.append(index)
        elif found:
            break
    written = "".join(tokens[index][1] for index in found)
    return found, int(written) if written.isdecimal() and int(written) else 0


def _date_field(kind: str, text: str, moment: Moment, *, has_halves: bool) -> str:
    size = len(text)
    seconds, milliseconds = divmod(moment.milliseconds, 1000)
    match kind:
        case "y":
            return f"{moment.year % 100:02d}" if size <= 2 else f"{moment.year:04d}"
        case "m":
            name = _MONTHS[moment.month - 1]
            return (str(moment.month), f"{moment.month:02d}", name[:3], name, name[0])[min(size, 5) - 1]
        case "d":
            name = _DAYS[moment.weekday]
            return (str(moment.day), f"{moment.day:02d}", name[:3], name)[min(size, 4) - 1]
        case "h":
            hours = seconds // 3600
            return str((hours - 1) % 12 + 1 if has_halves else hours).zfill(min(size, 2))
        case "M":
            return str(seconds // 60 % 60).zfill(min(size, 2))
        case "s":
            return str(seconds % 60).zfill(min(size, 2))
        case "fraction":
            return "." + f"{milliseconds:03d}"[: size - 1]
        case "ampm":
            before, after = text.split("/")
            return before if seconds < 43_200 else after
        case _:
            return text


def _minutes(tokens: list[_Token]) -> list[_Token]:
    """Returns the tokens with each "m" that stands for minutes as "M": after hours, or before seconds."""
    fields = [index for index, (kind, _) in enumerate(tokens) if kind in ("y", "m", "d", "h", "s", "elapsed")]
    found = list(tokens)
    for number, index in enumerate(fields):
        before = tokens[fields[number - 1]] if number else ("", "")
        after = tokens[fields[number + 1]] if number + 1 < len(fields) else ("", "")
        is_after_hours = before[0] == "h" or (before[0] == "elapsed" and before[1][0] == "h")
        if tokens[index][0] == "m" and len(tokens[index][1]) <= 2 and (is_after_hours or after[0] == "s"):
            found[index] = "M", tokens[index][1]
    return found


_OTHER = {
    "0": "digit",
    "#": "digit",
    "?": "digit",
    ".": "point",
    ",": "comma",
    "%": "percent",
    "/": "slash",
    "@": "text",
}


def _sections(code: str) -> list[FormatSection]:
    """Returns the sections of a format."""
    sections: list[FormatSection] = []
    tokens: list[_Token] = []
    condition: tuple[str, Decimal] | None = None
    for found in _TOKEN.finditer(code):
        kind, text = found.lastgroup or "fill", found[0]
        if text == ";":
            sections.append(FormatSection(tokens, condition))
            tokens, condition = [], None
        elif kind == "bracket":
            inside = found["bracket"]
            if compared := _CONDITION.fullmatch(inside.strip()):
                condition = compared[1], Decimal(compared[2])
            else:
                tokens += _bracket(inside)
        elif kind != "fill":
            tokens.append(_token(kind, found[kind]))
    sections.append(FormatSection(tokens, condition))
    return sections


def _token(kind: str, text: str) -> _Token:
    match kind:
        case "quoted" | "escaped":
            return "literal", text
        case "space":
            return "literal", " "
        case "date":
            letter = text[0].lower()
            return ("y", "yyyy") if letter == "e" else ("literal", "") if letter == "g" else (letter, text.lower())
        case "seconds":
            return "fraction", text
        case "other":
            return _OTHER.get(text, "literal"), text
        case _:
            return kind, text


def _bracket(inside: str) -> list[_Token]:
    """Returns the tokens of an elapsed time or a currency; colours and languages show nothing."""
    if inside and len(set(inside.lower())) == 1 and inside[0].lower() in "hms":
        return [("elapsed", inside.lower())]
    if inside.startswith("$"):
        return [("literal", inside[1:].partition("-")[0])]
    return []
