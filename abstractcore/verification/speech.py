"""Speech as text: English numbers in words as digits ("twenty-four" is 24), and the checks of what is said.

A text of speech has several readings: numbers in words, and digits that were said one by one, are numbers too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..schema.base_error import shown
from ..schema.evidence import Check, Source, Verification
from ..schema.media_decisions import MediaAnchor
from ..schema.source_texts import TextSource
from .claim_checks import check_claims

POINT_WORD: Final = "point"
ZERO_WORDS: Final = ("oh", "o")
"""Words for a zero between numbers, as in "nine oh five"."""
_ONES: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS: Final = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)},
}
SCALE_WORDS: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_TOKEN: Final = re.compile(r"(?<!\d)\d++(?:[.,:/]\d+)*(?!\w)|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\s+|.", re.DOTALL)
_SPACES: Final = re.compile(r"[ \u00a0]+")


def begins_number(words: Sequence[str]) -> bool:
    """Returns whether the first of `words`, in lower case, is a number, or begins with a digit."""
    return bool(words) and (words[0] in NUMBER_WORDS or words[0][0].isdigit())


def parse_number_words(run: Sequence[str]) -> list[str]:
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
        value = 0 if word in ZERO_WORDS else NUMBER_WORDS.get(word)
        if word in SCALE_WORDS and rest:
            scale = SCALE_WORDS[word]
            whole, rest = (whole, rest * scale) if scale < 1000 else (whole + rest * scale, 0)
        elif value is not None and (continues_number(rest, value) if rest else whole):
            rest += value
        else:
            finished()
            whole, rest = 0, value or 0
            if not rest:
                numbers.append("0" if value == 0 else re.sub(r"[^\d.]", "", word))
    finished()
    return numbers


def continues_number(number: int, value: int) -> bool:
    """Returns whether a number goes on with a smaller one, as "twenty" with "four" and "one hundred" with "five"."""
    zeros = len(str(number)) - len(str(number).rstrip("0"))
    return number >= 20 and 0 < value < 10**zeros


def spoken_readings(text: str) -> tuple[str, ...]:
    """Returns a text of speech in its readings, the text itself first: "at nine thirty" is also "at 930" and "at 9:30".

    English only. A number that is written in digits stays as it is.
    """
    tokens = [str(token) for token in _TOKEN.findall(text)]
    return tuple(dict.fromkeys((text, *("".join(_reading(tokens, as_times)) for as_times in (False, True)))))


def _reading(tokens: Sequence[str], as_times: bool) -> Iterator[str]:
    position = 0
    while position < len(tokens):
        end, run = _number_at(tokens, position)
        yield _digits_of_run(run, as_times) if _has_words(run) else "".join(tokens[position:end])
        position = end


def _number_at(tokens: Sequence[str], start: int) -> tuple[int, list[str]]:
    """Returns where the number that begins at a token ends, and its words; no words for another token."""
    first = tokens[start].lower()
    if not begins_number((first,)):
        return start + 1, []
    words, end = [first], start + 1
    while end + 1 < len(tokens) and _joins_number(tokens[end], tokens[end - 1], tokens[end + 1]):
        word = tokens[end + 1].lower()
        if not (begins_number((word,)) or word in SCALE_WORDS):
            following = [each.lower() for each in tokens[end + 3 : end + 4]]
            if not begins_number(following) or not _is_inside_number(words[-1], word):
                break
            word = "" if word == "and" else word
        if word:
            words.append("." if word == POINT_WORD else word)
        end += 2
    return end, words


def _joins_number(gap: str, before: str, after: str) -> bool:
    """Returns whether what is between two tokens may be inside of a number: "30-40" are two."""
    return _SPACES.fullmatch(gap) is not None or (gap == "-" and before.isalpha() and after.isalpha())


def _is_inside_number(before: str, word: str) -> bool:
    return before in SCALE_WORDS if word == "and" else word in (POINT_WORD, *ZERO_WORDS)


def _has_words(run: Sequence[str]) -> bool:
    """Returns whether a number is not written in digits already, as "1.2 million" is."""
    return bool(run) and not (run[0][0].isdigit() and all(each in SCALE_WORDS for each in run[1:]))


def _digits_of_run(run: Sequence[str], as_times: bool) -> str:
    numbers = parse_number_words(run)
    minutes = "".join(numbers[1:])
    if as_times and numbers[0].isdigit() and int(numbers[0]) <= 24 and re.fullmatch("[0-5][0-9]", minutes):
        return f"{numbers[0]}:{minutes}"
    return "".join(numbers)


def recheck_speech(answer: str, found: Verification, sources: Sequence[TextSource]) -> Verification:
    """Returns the checks of an answer, those that are not agreed looked for in other readings of what is said.

    What only another reading has is agreed with a reason.
    """
    spoken = [each for each in sources if any(anchor.seconds is not None for anchor in each.anchors)]
    if not spoken or len(found.agreed) == len(found.checks):
        return found
    checks = {(each.start, each.end): each for each in found.checks}
    for speech in map(_Speech.of, spoken):
        for reading in speech.other_readings():
            for read in check_claims(answer, [reading]).agreed:
                known = checks[read.start, read.end]
                if known.verdict != "agreed" and read.source is not None:
                    checks[read.start, read.end] = speech.agreed(known, reading, read.source)
    return replace(found, checks=tuple(checks.values()))


@dataclass(frozen=True, slots=True)
class _Speech:
    """A source, and the lines of what is said in it: each with the span of its words in the text, and its seconds."""

    source: TextSource
    lines: tuple[MediaAnchor, ...]

    @classmethod
    def of(cls, source: TextSource) -> _Speech:
        """Returns the lines of a source; of one with a place for each word, these are joined."""
        lines: list[MediaAnchor] = []
        for each in source.anchors:
            if each.seconds is None:
                continue
            last = lines[-1] if lines else None
            if last is not None and last.seconds is not None and "\n" not in source.text[last.end : each.start]:
                seconds = (last.seconds[0], max(last.seconds[1], each.seconds[1]))
                lines[-1] = replace(last, end=max(last.end, each.end), seconds=seconds)
            else:
                lines.append(replace(each, page=None, box=None))
        return cls(source, tuple(lines))

    def other_readings(self) -> Iterator[TextSource]:
        """Yields the other readings of all lines, with their anchors."""
        read = [spoken_readings(self.source.text[line.start : line.end]) for line in self.lines]
        for number in range(1, max(map(len, read), default=0)):
            texts = [each[min(number, len(each) - 1)] for each in read]
            anchors: list[MediaAnchor] = []
            start = 0
            for line, text in zip(self.lines, texts, strict=True):
                anchors.append(replace(line, start=start, end=start + len(text)))
                start += len(text) + 1
            source = self.source
            yield TextSource(source.kind, source.name, "\n".join(texts), anchors, source.document, anchored_only=True)

    def agreed(self, check: Check, reading: TextSource, found: Source) -> Check:
        """Returns a check that a reading has, at the line where it is."""
        line = next(line for line, read in zip(self.lines, reading.anchors, strict=True) if read in found.anchors)
        said = self.source.text[line.start : line.end]
        place = replace(found, start=line.start, end=line.end, text=said, anchors=(line,), match="normalised")
        return replace(check, verdict="agreed", source=place, instead=None, reason=f"there it is said as {shown(said)}")
