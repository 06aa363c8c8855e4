"""The figures, dates and names of an answer, with their places. Knows no sources.

Names are capitalised words that do not merely begin a sentence; scripts without capitals have none. Digits that are
neither number, time nor day are compared as they are written: "1,2,3", "16:9", "31/02/2026".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ..schema.evidence import CheckKind
from .dates import TimeOfDay, WrittenDate, date_shaped_spans, written_dates, written_months, written_times
from .measures import VULGAR_FRACTIONS
from .written_numbers import Separators, WrittenNumber, numbers_in

MOST_CLAIMS = 5000
_IGNORED = re.compile(r"\[\^?\d{1,4}\]|^[ \t]{0,3}(?:(?:[-*+>]|#{1,6})[ \t]+){0,3}\d{1,3}[.)][ \t]", re.M)
"""Marks of notes, and of the items of a list."""
_CODE = re.compile(
    r"(?<![\w./@-])(?:https?://[^\s<>\"')\]]{1,2000}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"
    r"|(?=[^\s]{0,60}?\d)(?=[^\s]{0,60}?[^\W\d_])\w{1,200}(?:[-/.]\w{1,60}){0,8})(?!\w)"
)
CODE_PART = re.compile(r"(?:[/.@_?&=#+:]|-(?![a-z]{3}))\w")
CODE_PART_BEFORE = re.compile(r"\w[-/.@_?&=#+]$")
"""What continues a code, a URL or a mail address, after it and before it."""
NOT_A_NUMBER: Final = "digits that are not one number are compared as they are written"
NOT_A_DAY: Final = "it is not a day of the calendar, and is compared as it is written"
_DIGIT: Final = rf"(?:\d+|[{VULGAR_FRACTIONS}])"
_DIGIT_JOINTS: Final = ".,;:/'\u2019\u2044\u00d7*^~+=\u2013\u2212-"
_SUPERSCRIPTS: Final = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079"
_DIGIT_RUN: Final = re.compile(rf"#?{_DIGIT}(?:[{_DIGIT_JOINTS}]{{0,2}}(?:{_DIGIT}|[{_SUPERSCRIPTS}]))*")
_DIGITS: Final = re.compile(_DIGIT)
_AFTER_DIGITS: Final = re.compile(rf"\w|[{_SUPERSCRIPTS}]|[,;]\s?\d|[{_DIGIT_JOINTS}]{{1,2}}\d")
_BEFORE_DIGITS: Final = re.compile(rf"(?:\w|\d[,;]\s|\d[{_DIGIT_JOINTS}]{{1,2}}|(?<![^\s(])[-\u2212])$")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_NAME_JOINTS = re.compile(r"\.? |-|, (?=(?:Inc|Ltd|LLC)\b)| & ")
_PARTICLE_WORDS = "bin da de del della der di do dos du el la le of ten ter van von y zu"
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_SENTENCE_STARTS = '\n.!?:;\u2026*_#>|\u2022"\u201c\u201e\u00ab(['
_POSSESSIVE = re.compile(r"(?:['\u2019]s|['\u2019])$")
_COMMON_WORDS = (
    "a according additionally after all also although an and are as at based be because before both but by can could "
    "did do does during each either finally first for from furthermore had has have he hence her here his how however "
    "i if in is it its last let many may more most my neither next no none not note of on one only or our over per "
    "please second several she should since so some such than that the their then there therefore these they third "
    "this those though three thus to total two under until was we were what when where whether which while who why "
    "will with would yes yet you your der die das ein eine und le la les un une el los das im am zum"
)
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words at the beginning of a sentence that do not belong to a name."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure, date or name: `text` at `start` to `end` of the answer, with what was read in it.

    `variants` are the texts of a name, one of which must stand in a source. `literal_reason` says why digits are
    compared as they are written; it is empty for all others.
    """

    kind: CheckKind
    start: int
    end: int
    text: str
    number: WrittenNumber | None = None
    date: WrittenDate | None = None
    month: tuple[int, int] | None = None
    time: TimeOfDay | None = None
    variants: tuple[str, ...] = ()
    is_code: bool = False
    literal_reason: str = ""


def claims_in(text: str, separators: Separators) -> tuple[list[Claim], bool]:
    """Returns the claims of an answer in order, up to 5,000, and whether there are more.

    All its digits are in a claim, but for the marks of notes and lists.
    """
    taken = bytearray(len(text))
    for found in _IGNORED.finditer(text):
        _take(taken, *found.span())
    claims: list[Claim] = []
    for kind in (_dates, _impossible_dates, _months, _times, _numbers(separators), _codes, _names):
        for claim in islice(kind(text), MOST_CLAIMS + 1):
            if not any(taken[claim.start : claim.end]):
                _take(taken, claim.start, claim.end)
                claims.append(claim)
    for start, end in islice(_unclaimed_digits(text, taken), MOST_CLAIMS + 1):
        digits = text[start:end]
        claims.append(
            Claim("number", start, end, digits, variants=_list_spellings(digits), literal_reason=NOT_A_NUMBER)
        )
    claims.sort(key=lambda each: each.start)
    return claims[:MOST_CLAIMS], len(claims) > MOST_CLAIMS


def _take(taken: bytearray, start: int, end: int) -> None:
    taken[start:end] = b"\1" * (end - start)


def _dates(text: str) -> Iterator[Claim]:
    for each in written_dates(text):
        yield Claim("date", each.start, each.end, text[each.start : each.end], date=each)


def _impossible_dates(text: str) -> Iterator[Claim]:
    for start, end in date_shaped_spans(text):
        yield Claim("date", start, end, text[start:end], variants=(text[start:end],), literal_reason=NOT_A_DAY)


def _months(text: str) -> Iterator[Claim]:
    for start, end, month in written_months(text):
        yield Claim("date", start, end, text[start:end], month=month)


def _times(text: str) -> Iterator[Claim]:
    for start, end, time in written_times(text):
        yield Claim("number", start, end, text[start:end], time=time)


def _numbers(separators: Separators):
    def numbers(text: str) -> Iterator[Claim]:
        for each in numbers_in(text, separators, is_answer=True):
            yield Claim("number", each.start, each.end, text[each.start : each.end], number=each)

    return numbers


def _codes(text: str) -> Iterator[Claim]:
    for found in _CODE.finditer(text):
        code = found[0].rstrip(".,;:")
        if any(map(str.isalpha, code)):
            yield Claim("name", found.start(), found.start() + len(code), code, variants=(code,), is_code=True)


def _names(text: str) -> Iterator[Claim]:
    for start, end, variants in _names_in(text):
        yield Claim("name", start, end, text[start:end], variants=variants)


def _unclaimed_digits(text: str, taken: bytearray) -> Iterator[tuple[int, int]]:
    """Yields every run of digits that is not in `taken`, which has a byte for each character."""
    for found in _DIGIT_RUN.finditer(text):
        if not any(taken[found.start() : found.end()]):
            yield found.span()
            continue
        for piece in _DIGITS.finditer(text, *found.span()):
            if not any(taken[piece.start() : piece.end()]):
                yield piece.span()


def _list_spellings(digits: str) -> tuple[str, ...]:
    """Returns the texts that are the same digits: lists have a space after each comma, or none."""
    return tuple(dict.fromkeys((digits, re.sub("([,;])", r"\1 ", digits))))


def is_separate(text: str, start: int, end: int) -> bool:
    """Returns whether digits in a text are not a part of longer ones, or of a word, and drop no minus."""
    return _AFTER_DIGITS.match(text, end) is None and _BEFORE_DIGITS.search(text, max(start - 3, 0), start) is None


def _names_in(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yields start, end and the texts of names in order; a second text is without a first word that may be no part.

    At the beginning of a sentence the first word may be a part of the name or not. A single word there is none, unless
    it is in capitals. Lines that begin with `#` are titles, whose capitals mean nothing.
    """
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if run and not _continues_name(text, run[-1], word):
            yield from _name_of_run(text, run)
            run = []
        if not _is_in_code(text, word) and (_is_capitalised(word[0]) or (run and word[0] in _PARTICLES)):
            run.append(word)
        elif run:
            yield from _name_of_run(text, run)
            run = []
    if run:
        yield from _name_of_run(text, run)


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() and (len(word) > 1 or not word.isascii() or word != "I")


def _is_in_code(text: str, word: re.Match[str]) -> bool:
    """Returns whether letters are a part of a code, such as "HL-2093"."""
    before, after = text[max(word.start() - 2, 0) : word.start()], text[word.end() : word.end() + 2]
    joined = after[:1] in ("-", "/", "_", ".") and after[1:].isdigit()
    return after[:1].isdigit() or joined or before[-1:].isdigit() or (before[-1:] == "-" and before[:1].isdigit())


def _continues_name(text: str, before: re.Match[str], word: re.Match[str]) -> bool:
    between = text[before.end() : word.start()]
    if _POSSESSIVE.search(before[0]):
        return False
    if between == ". ":  # after an initial or a title
        return len(before[0]) <= 2
    return len(between) < 8 and _NAME_JOINTS.fullmatch(between) is not None


def _name_of_run(text: str, run: list[re.Match[str]]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    while run and not _is_capitalised(run[-1][0]):
        run.pop()
    if not run or _is_title(text, run[0].start()):
        return
    begins = _begins_sentence(text, run[0].start())
    while run and begins and (run[0][0].lower() in _COMMON or run[0][0] in _PARTICLES):
        run, begins = run[1:], False
    if not run or (len(run) == 1 and begins and not (len(run[0][0]) > 1 and run[0][0].isupper())):
        return
    if len(run) == 1 and len(run[0][0]) == 1:
        return
    start, end = run[0].start(), run[-1].end()
    end -= len(text[start:end]) - len(_POSSESSIVE.sub("", text[start:end]))
    variants = [text[start:end]]
    if begins and len(run) > 1:
        variants.append(text[run[1].start() : end])
    yield start, end, tuple(variants)


def _begins_sentence(text: str, position: int) -> bool:
    before = text[max(position - 20, 0) : position].rstrip(" \t")
    return not before or before[-1] in _SENTENCE_STARTS or (position > 20 and not before.strip())


def _is_title(text: str, position: int) -> bool:
    line = text.rfind("\n", max(position - 200, 0), position) + 1
    return text[line : line + 4].lstrip().startswith("#") and (line > 0 or position < 200)
