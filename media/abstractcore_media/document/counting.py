"""Numbers as lists count them: letters, Roman numbers and English words."""

from __future__ import annotations

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
