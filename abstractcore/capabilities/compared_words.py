"""Compares texts word by word, as they sound: without case and punctuation, and with numbers in digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from ..schema import MediaVerification, WordDifference
from ..verification.speech import (
    NUMBER_WORDS,
    POINT_WORD,
    SCALE_WORDS,
    ZERO_WORDS,
    begins_number,
    continues_number,
)

_WORD: Final = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[%\u00b0]")
_AMOUNT: Final = re.compile(
    r"([$\u20ac\u00a3])\s?(\d+(?:,\d{3})*)(?:\.(\d\d)(?!\d))?((?:\.\d+)?(?:\s(?:thousand|million|billion)\b)?)"
)
_CURRENCIES: Final = {"$": "dollars", "\u20ac": "euros", "\u00a3": "pounds"}
_SPELLINGS: Final = {
    "%": "percent",
    "\u00b0": "degrees",
    "cent": "cents",
    "degree": "degrees",
    "dollar": "dollars",
    "euro": "euros",
    "pound": "pounds",
    "km": "kilometers",
    "kilometer": "kilometers",
    "kilometre": "kilometers",
    "kilometres": "kilometers",
    "kg": "kilograms",
    "kilogram": "kilograms",
    "gb": "gigabytes",
    "gigabyte": "gigabytes",
}
"""Signs, units and singular forms, each as one spelling."""


def compared(expected: str, found: str, *, only_missing: bool = False) -> MediaVerification:
    """Returns the comparison of two texts. With `only_missing`, words of `found` that were not expected are ignored."""
    wanted, heard = words_of(expected), words_of(found)
    errors = 0
    differences: list[WordDifference] = []
    for kind, start, end, other, other_end in SequenceMatcher(None, wanted, heard, autojunk=False).get_opcodes():
        missing, added = wanted[start:end], heard[other:other_end]
        if kind == "equal" or (only_missing and not missing) or "".join(missing) == "".join(added):
            continue
        errors += len(missing) if only_missing else max(len(missing), len(added))
        differences.append(WordDifference(" ".join(missing), " ".join(added)))
    return MediaVerification(expected, found, len(wanted), errors, tuple(differences))


def words_of(text: str) -> list[str]:
    """Returns the words of a text for comparisons. English numbers in words are digits: "twenty-four" is "24"."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("-", " ")
    words = [str(word) for word in _WORD.findall(_AMOUNT.sub(_amount, plain))]
    return [*_with_digits([_SPELLINGS.get(word, word) for word in words])]


def _amount(found: re.Match[str]) -> str:
    """Returns an amount as it is said: "42 dollars and 50 cents" for "$42.50"."""
    sign, whole, cents, more = found.groups()
    return f"{whole}{more} {_CURRENCIES[sign]}{f' and {cents} cents' if cents else ''}"


def _with_digits(words: Sequence[str]) -> Iterator[str]:
    """Yields the words, each run of numbers as one: "nine thirty" and "9:30" are both "930"."""
    run: list[str] = []
    for index, word in enumerate(words):
        between = word in ("and", POINT_WORD) and bool(run) and begins_number(words[index + 1 : index + 2])
        if between and word == POINT_WORD:
            run.append(".")
        elif word in ZERO_WORDS and run and begins_number(words[index + 1 : index + 2]):
            run.append("zero")
        elif begins_number([word]) or (word in SCALE_WORDS and run):
            run.append(word)
        elif not (between and run[-1] in SCALE_WORDS):
            if run:
                yield _digits(run)
            run = []
            yield word
    if run:
        yield _digits(run)


def _digits(run: Sequence[str]) -> str:
    """Returns the digits of number words in a row, without separators: "two thousand five" is "2005"."""
    digits: list[str] = []
    whole, rest = 0, 0
    """The number so far: its finished thousands, and what comes after them."""
    is_decimal = False
    for word in run:
        value = _value(word)
        is_decimal = is_decimal or "." in word
        if word in SCALE_WORDS and is_decimal:
            digits += [str(whole + rest) if whole + rest else "", word]
            whole = rest = 0
        elif word in SCALE_WORDS and rest:
            scale = SCALE_WORDS[word]
            whole, rest = (whole, rest * scale) if scale < 1000 else (whole + rest * scale, 0)
        elif value is not None and (continues_number(rest, value) if rest else whole):
            rest += value
        else:
            digits.append(str(whole + rest) if whole + rest else "")
            whole, rest = 0, value or 0
            if not rest:
                digits.append("0" if value == 0 else re.sub(r"\D", "", word))
    return "".join([*digits, str(whole + rest) if whole + rest else ""])


def _value(word: str) -> int | None:
    """Returns the value of a number in words or digits; None for one with a point, or a zero before it."""
    return NUMBER_WORDS.get(word) if not (word.isdecimal() and str(int(word)) == word) else int(word)
