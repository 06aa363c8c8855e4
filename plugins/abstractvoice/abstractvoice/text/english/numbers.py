"""Numbers as English words."""

from __future__ import annotations

from ..tables import table, word_list

_ONES = word_list("zero_to_nineteen")
_TENS = word_list("tens")
_GROUPS = ("", "thousand", "million", "billion", "trillion", "quadrillion")
_MOST_DIGITS = 18
_ORDINALS = table("ordinals")
_PLURALS = table("plurals")
_MINUS = "-\u2212"


def cardinal(digits: str) -> str:
    """Returns a whole number, as in "one hundred five"; a very long one, or one with a leading zero, digit by digit."""
    if len(digits) > _MOST_DIGITS or (len(digits) > 1 and digits[0] == "0"):
        return spelled(digits)
    number = int(digits)
    if number == 0:
        return _ONES[0]
    words: list[str] = []
    for group in range(len(_GROUPS) - 1, -1, -1):
        part = number // 1000**group % 1000
        if part:
            words += [*_hundreds(part), *filter(None, [_GROUPS[group]])]
    return " ".join(words)


def _hundreds(number: int) -> list[str]:
    words = [_ONES[number // 100], "hundred"] if number >= 100 else []
    rest = number % 100
    if rest >= 20:
        words.append(_TENS[rest // 10])
        rest %= 10
    return [*words, _ONES[rest]] if rest else words


def spelled(digits: str) -> str:
    """Returns digits one by one, as in "zero four two"."""
    return " ".join(_ONES[int(digit)] for digit in digits if digit.isdecimal())


def number(text: str) -> str:
    """Returns a number as it is written in English, with commas, a point, a sign."""
    whole, _, fraction = text.lstrip("+" + _MINUS).replace(",", "").partition(".")
    sign = "minus " if text[0] in _MINUS else "plus " if text[0] == "+" else ""
    return sign + cardinal(whole or "0") + (f" point {spelled(fraction)}" if fraction else "")


def ordinal(digits: str) -> str:
    """Returns an ordinal number, as in "twenty first"."""
    *before, last = cardinal(digits.replace(",", "")).split()
    if last.endswith("y"):
        last = last[:-1] + "ie"
    return " ".join([*before, _ORDINALS.get(last, last + "th")])


def year(digits: str) -> str:
    """Returns a year of four digits, as in "nineteen eighty four"."""
    first, last = digits[:2], digits[2:]
    if first[1] == "0" and last[0] == "0":
        return cardinal(digits)
    if last == "00":
        return f"{cardinal(first)} hundred"
    return f"{cardinal(first)} {'oh ' if last[0] == '0' else ''}{cardinal(last.lstrip('0'))}"


def plural(word: str, amount: str) -> str:
    """Returns a word for an amount: the plural, unless that is 1."""
    return word if amount.lstrip("+" + _MINUS) == "1" else _PLURALS.get(word, f"{word}s")
