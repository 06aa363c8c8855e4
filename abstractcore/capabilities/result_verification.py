"""Verifies what a backend made: speech is transcribed, words in images are read, and compared with the text that was
given, word by word as they sound: without case and punctuation, and with numbers in digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, TypeVar

from ..errors import AbstractCoreError
from ..schema import (
    AudioPart,
    CallWarning,
    ImagePart,
    MediaPart,
    MediaResult,
    MediaVerification,
    WordDifference,
)
from ..verification.speech import (
    NUMBER_WORDS,
    POINT_WORD,
    SCALE_WORDS,
    ZERO_WORDS,
    begins_number,
    continues_number,
)

if TYPE_CHECKING:
    from ..engine import Pipeline

P = TypeVar("P", bound=MediaPart)

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
_QUOTED: Final = re.compile(
    r"""
    "([^"\n]+)" | \u201c([^\u201c\u201d\n]+)\u201d | \u00ab([^\u00ab\u00bb\n]+)\u00bb  # double, curly, guillemets
    | (?<!\w)'([^'\n]+)'(?!\w)                                              # not an apostrophe
    """,
    re.VERBOSE,
)


async def verified_result(
    result: MediaResult[P], asked: str, pipeline: Pipeline, transcribe: Callable[[AudioPart], Awaitable[str]]
) -> MediaResult[P]:
    """Returns a result with its verification: of the text that was to be spoken, or of what a prompt quotes.

    Where it cannot be heard or read here, or nothing was quoted, the result has a warning that says so.
    """
    try:
        found = await _verification(result.parts, asked, pipeline, transcribe)
    except AbstractCoreError as error:
        warning = CallWarning("not_verified", "verify", f"it could not be verified: {error}")
        return replace(result, warnings=(*result.warnings, warning))
    if isinstance(found, CallWarning):
        return replace(result, warnings=(*result.warnings, found))
    return replace(result, verification=found)


async def _verification(
    parts: Sequence[MediaPart], asked: str, pipeline: Pipeline, transcribe: Callable[[AudioPart], Awaitable[str]]
) -> MediaVerification | CallWarning:
    if isinstance(parts[0], AudioPart):
        heard = await transcribe(parts[0])
        # Numbers may be heard as they are said or as they are written.
        found = [compare_texts(text, heard) for text in (parts[0].transcript or asked, asked)]
        return min(found, key=lambda each: each.errors)
    quoted = [text for groups in _QUOTED.findall(asked) for text in groups if text]
    if not quoted:
        return CallWarning("not_verified", "verify", "the prompt quotes no text that is to be in the image")
    images = [part for part in parts if isinstance(part, ImagePart)]
    read = [(await pipeline.files.extract_text(image, pipeline.runtime, words_only=True)).text for image in images]
    found = [compare_texts(" ".join(quoted), text, only_missing=True) for text in read]
    return max(found, key=lambda each: each.errors)


def compare_texts(expected: str, found: str, *, only_missing: bool = False) -> MediaVerification:
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
