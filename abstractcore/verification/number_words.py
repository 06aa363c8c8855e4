"""English numbers in words, as transcripts have them: "twenty-four" is 24, "three point five" is 3.5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

POINT: Final = "point"
ZEROS: Final = ("oh", "o")
"""Words for a zero between numbers, as in "nine oh five"."""
_ONES: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
VALUES: Final = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)},
}
SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}


def is_number(words: Sequence[str]) -> bool:
    """Returns whether the first of `words`, in lower case, is a number, or begins with a digit."""
    return bool(words) and (words[0] in VALUES or words[0][0].isdigit())


def numbers_of(run: Sequence[str]) -> list[str]:
    """Returns the numbers that words in a row say, in digits: "nineteen eighty-four" says 19 and 84.

    A word "." is a decimal point; words in digits lose the marks between their groups, but for a point.
    """
    numbers: list[str] = []
    whole = rest = 0
    """The number so far: its finished thousands, and what comes after them."""

    def finished() -> None:
        if whole + rest:
            numbers.append(str(whole + rest))

    for word in run:
        value = 0 if word in ZEROS else VALUES.get(word)
        if word in SCALES and rest:
            scale = SCALES[word]
            whole, rest = (whole, rest * scale) if scale < 1000 else (whole + rest * scale, 0)
        elif value is not None and (fits_into(rest, value) if rest else whole):
            rest += value
        else:
            finished()
            whole, rest = 0, value or 0
            if not rest:
                numbers.append("0" if value == 0 else re.sub(r"[^\d.]", "", word))
    finished()
    return numbers


def fits_into(number: int, value: int) -> bool:
    """Returns whether a number goes on with a smaller one, as "twenty" with "four" and "one hundred" with "five"."""
    zeros = len(str(number)) - len(str(number).rstrip("0"))
    return number >= 20 and 0 < value < 10**zeros
