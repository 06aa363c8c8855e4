"""Speech as text in several readings: numbers in words, and digits that were said one by one, are numbers too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..schema.media_anchors import MediaAnchor
from ..schema.quoting import shown
from ..schema.source_texts import TextSource
from ..schema.sources import Source
from ..schema.verifications import Check, Verification
from .number_words import POINT, SCALES, ZEROS, is_number, numbers_of
from .verifying import verify

_TOKEN: Final = re.compile(r"(?<!\d)\d++(?:[.,:/]\d+)*(?!\w)|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|\s+|.", re.DOTALL)
_SPACES: Final = re.compile(r"[ \u00a0]+")


def readings(text: str) -> tuple[str, ...]:
    """Returns a text of speech in its readings, the text itself first: "at nine thirty" is also "at 930" and "at 9:30".

    English only. A number that is written in digits stays as it is.
    """
    tokens = [str(token) for token in _TOKEN.findall(text)]
    return tuple(dict.fromkeys((text, *("".join(_read(tokens, as_time)) for as_time in (False, True)))))


def check_speech(answer: str, found: Verification, sources: Sequence[TextSource]) -> Verification:
    """Returns the checks of an answer, those that are not agreed looked for in other readings of what is said.

    What only another reading has is agreed with a reason.
    """
    spoken = [each for each in sources if any(anchor.seconds is not None for anchor in each.anchors)]
    if not spoken or len(found.agreed) == len(found.checks):
        return found
    checks = {(each.start, each.end): each for each in found.checks}
    for speech in map(_Speech.of, spoken):
        for reading in speech.other_readings():
            for read in verify(answer, [reading]).agreed:
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
        read = [readings(self.source.text[line.start : line.end]) for line in self.lines]
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


def _read(tokens: Sequence[str], as_time: bool) -> Iterator[str]:
    position = 0
    while position < len(tokens):
        end, run = _run(tokens, position)
        yield _written(run, as_time) if _is_changed(run) else "".join(tokens[position:end])
        position = end


def _run(tokens: Sequence[str], start: int) -> tuple[int, list[str]]:
    """Returns where the number that begins at a token ends, and its words; no words for another token."""
    first = tokens[start].lower()
    if not is_number((first,)):
        return start + 1, []
    words, end = [first], start + 1
    while end + 1 < len(tokens) and _joins(tokens[end], tokens[end - 1], tokens[end + 1]):
        word = tokens[end + 1].lower()
        if not (is_number((word,)) or word in SCALES):
            following = [each.lower() for each in tokens[end + 3 : end + 4]]
            if not is_number(following) or not _is_between(words[-1], word):
                break
            word = "" if word == "and" else word
        if word:
            words.append("." if word == POINT else word)
        end += 2
    return end, words


def _joins(gap: str, before: str, after: str) -> bool:
    """Returns whether what is between two tokens may be inside of a number: "30-40" are two."""
    return _SPACES.fullmatch(gap) is not None or (gap == "-" and before.isalpha() and after.isalpha())


def _is_between(before: str, word: str) -> bool:
    return before in SCALES if word == "and" else word in (POINT, *ZEROS)


def _is_changed(run: Sequence[str]) -> bool:
    """Returns whether a number is not written in digits already, as "1.2 million" is."""
    return bool(run) and not (run[0][0].isdigit() and all(each in SCALES for each in run[1:]))


def _written(run: Sequence[str], as_time: bool) -> str:
    numbers = numbers_of(run)
    minutes = "".join(numbers[1:])
    if as_time and numbers[0].isdigit() and int(numbers[0]) <= 24 and re.fullmatch("[0-5][0-9]", minutes):
        return f"{numbers[0]}:{minutes}"
    return "".join(numbers)
