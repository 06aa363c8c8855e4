"""Numbers as lists count them: letters, Roman numbers, English words, and the number formats of WordprocessingML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

BULLET = "-"

_LEAST, _MOST = 1, 3999
_ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
          (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
              "twelve": "twelfth"}  # fmt: skip


def alphabetic(number: int, letters: str) -> str:
    """Returns the letter of a number; after the last one they are doubled, then tripled: z, aa, bb."""
    if not 1 <= number <= 50 * len(letters):
        return str(number)
    times, index = divmod(number - 1, len(letters))
    return letters[index] * (times + 1)


def roman(number: int) -> str:
    """Returns a Roman number; one that has none stays decimal."""
    if not _LEAST <= number <= _MOST:
        return str(number)
    text = ""
    for value, digit in _ROMAN:
        text += digit * (number // value)
        number %= value
    return text


def ordinal_ending(number: int) -> str:
    """Returns "st", "nd", "rd" or "th"."""
    return "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def english_cardinal(number: int) -> str:
    """Returns a number in English words, from 0 to 9999."""
    if not 0 <= number <= 9999:
        return str(number)
    if number < 20:
        return _ONES[number]
    for size, name in ((1000, "thousand"), (100, "hundred")):
        count, rest = divmod(number, size)
        if count:
            return f"{_ONES[count]} {name}" + (f" {english_cardinal(rest)}" if rest else "")
    tens, rest = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[rest]}" if rest else "")


def english_ordinal(number: int) -> str:
    """Returns an ordinal number in English words, from 0 to 9999."""
    words = english_cardinal(number)
    if words.isdecimal():
        return f"{words}{ordinal_ending(number)}"
    head, mark, last = words.rpartition("-") if "-" in words.rpartition(" ")[2] else words.rpartition(" ")
    last = _IRREGULAR.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return f"{head}{mark}{last}"


def numbered(number: int, style: str) -> str:
    """Returns a number in a number format of WordprocessingML; in decimal where the format is not known."""
    if style in _FORMATS:
        return _FORMATS[style](number)
    if style.isdecimal():  # a format of its own, such as 001
        return str(number).zfill(min(len(style), 20))
    return str(number)


def _in_range(first: str, last: int, otherwise: Callable[[int], str] = str) -> Callable[[int], str]:
    return lambda number: chr(ord(first) + number - 1) if 1 <= number <= last else otherwise(number)


def _repeated(letters: str) -> Callable[[int], str]:
    return lambda number: alphabetic(number, letters)


def _cjk(number: int) -> str:
    """Returns a number in Chinese characters, up to 99."""
    digits = "〇一二三四五六七八九"
    if not 0 <= number < 100:
        return "".join(digits[int(digit)] for digit in str(number)) if number >= 0 else str(number)
    tens, ones = divmod(number, 10)
    if not tens:
        return digits[ones]
    return (digits[tens] if tens > 1 else "") + "十" + (digits[ones] if ones else "")


_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_FORMATS: dict[str, Callable[[int], str]] = {
    "none": lambda number: "",
    "decimalZero": lambda number: f"{number:02d}",
    "lowerLetter": _repeated(_LATIN),
    "upperLetter": _repeated(_LATIN.upper()),
    "lowerRoman": lambda number: roman(number).lower(),
    "upperRoman": roman,
    "ordinal": lambda number: f"{number}{ordinal_ending(number)}",
    "cardinalText": lambda number: english_cardinal(number).capitalize(),
    "ordinalText": lambda number: english_ordinal(number).capitalize(),
    "numberInDash": lambda number: f"- {number} -",
    "hex": lambda number: f"{number:X}",
    "chicago": _repeated("*†‡§"),
    "decimalFullWidth": lambda number: str(number).translate({48 + digit: 0xFF10 + digit for digit in range(10)}),
    "decimalEnclosedCircle": _in_range("①", 20),
    "decimalEnclosedParen": _in_range("⑴", 20),
    "decimalEnclosedFullstop": _in_range("⒈", 20),
    "russianLower": _repeated(_RUSSIAN),
    "russianUpper": _repeated(_RUSSIAN.upper()),
    "aiueoFullWidth": _repeated(
        "アイウエオカキクケコサシスセソタチツテト"
        "ナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
    ),
    "iroha": _repeated("ｲﾛﾊﾆﾎﾍﾄﾁﾘﾇﾙｦﾜｶﾖﾀﾚｿﾂﾈﾅﾗﾑｳヰﾉｵｸﾔﾏｹﾌｺｴﾃｱｻｷﾕﾒﾐｼヱﾋﾓｾｽ"),
    "ganada": _repeated("가나다라마바사아자차카타파하"),
    "ideographDigital": lambda number: "".join("〇一二三四五六七八九"[int(digit)] for digit in str(abs(number))),
    "ideographTraditional": _repeated("甲乙丙丁戊己庚辛壬癸"),
    **dict.fromkeys(
        ("chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting",
         "taiwaneseCountingThousand", "koreanCounting"), _cjk
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ListLevel:
    """How the items of a level of a list are numbered. `text` has "%2" where the number of the second level stands."""

    start: int
    style: str
    text: str
    is_decimal: bool = False
    """Whether the numbers of all levels in its text are decimal, with or without leading zeros."""
    restart: int | None = None
    paragraph_style: str = ""


class ListCounters:
    """The numbers of the items of all lists of a document, as Word counts them.

    Lists with the same key count on, unless one starts at a number of its own.
    """

    def __init__(self) -> None:
        self._counters: dict[str, dict[int, int]] = {}

    def marker(self, key: str, levels: Mapping[int, ListLevel], level: int, starts: Mapping[int, int]) -> str:
        """Returns the marker of the next item, "-" or "2.1."; "" if the item has none.

        `starts` are numbers that this item sets before it is counted, by level.
        """
        own = levels.get(level)
        if own is None:
            return BULLET
        counters = self._counters.setdefault(key, {})
        for each, start in starts.items():
            counters[each] = start if each < level else start - 1
        counters[level] = counters.get(level, own.start - 1) + 1
        for higher in range(level):
            counters.setdefault(higher, levels[higher].start if higher in levels else 1)
        for deeper in [each for each in counters if each > level]:
            restart = levels[deeper].restart if deeper in levels else None
            if restart is None or level < restart:
                del counters[deeper]
        if own.style == "bullet":
            return BULLET

        def counted(found: re.Match[str]) -> str:
            index = int(found[1]) - 1
            there = levels.get(index, own)
            style = "decimal" if own.is_decimal and there.style != "decimalZero" else there.style
            return numbered(counters.get(index, there.start), style)

        return " ".join(re.sub(r"%([1-9])", counted, own.text).split())
