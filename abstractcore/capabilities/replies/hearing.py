"""What a spoken answer says, when, and what was heard of it when its playing ended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ...schema import (
    AudioPart,
    HeardMeans,
    Message,
    Part,
    SpokenPiece,
    SpokenWord,
    TextPart,
    ToolCall,
    ToolResult,
)

_TOLERANCE_SECONDS = 0.02
"""Players count in blocks of samples."""
_CHARACTERS_A_SECOND = 15.0
"""Of English speech, where nothing has been spoken yet that tells."""
_PCM = re.compile(r"audio/pcm;rate=(\d+)(?:;channels=(\d+))?")
_SAMPLE_BYTES = 2


class SpokenPieces:
    """The pieces of the parts that were delivered.

    A part of a backend has its times and places in `provider_options["voice"]`: docs/plugins.md. Those that it does not
    have follow from the length of its sound and of what it says.
    """

    def __init__(self) -> None:
        self._pieces: list[SpokenPiece] = []
        self._until = 0.0
        self._source_end = 0
        self.rate: int | None = None
        """Samples a second, of speech in PCM."""

    @property
    def all(self) -> tuple[SpokenPiece, ...]:
        """The pieces so far, each with its sound so far."""
        return tuple(self._pieces)

    def add(self, part: AudioPart) -> float:
        """Adds what a part says; returns its seconds, 0 if they are not known."""
        about = cast("Mapping[str, Any]", part.provider_options.get("voice", {}))
        seconds = _number(about, "seconds", self._seconds(part))
        text = part.transcript or ""
        at = _number(about, "at", self._until)
        self._until = at + seconds
        if not text and (self._pieces or not about):
            self._continue(at + seconds)
            return seconds
        start = int(_number(about, "source_start", self._source_end))
        end = max(start, int(_number(about, "source_end", start + len(text) + 1)))
        self._source_end = max(self._source_end, end)
        self._pieces.append(SpokenPiece(text, at, seconds, start, end, _reported_words(about.get("words"))))
        return seconds

    def _continue(self, until: float) -> None:
        """The latest piece goes on until a second of the reply."""
        if self._pieces:
            latest = self._pieces[-1]
            self._pieces[-1] = replace(latest, seconds=max(latest.seconds, until - latest.at))

    def _seconds(self, part: AudioPart) -> float:
        found = _PCM.fullmatch(part.blob.media_type)
        if found is None:
            return 0.0
        self.rate = int(found[1])
        frame = _SAMPLE_BYTES * int(found[2] or 1)
        return (part.blob.size or 0) / frame / self.rate


def _number(about: Mapping[str, Any], name: str, otherwise: float) -> float:
    value = about.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else otherwise


def _reported_words(given: object) -> tuple[SpokenWord, ...]:
    """Returns the words that a backend reports; none if they are not of the expected form."""
    if not isinstance(given, Sequence):
        return ()
    words: list[SpokenWord] = []
    for each in cast("Sequence[object]", given):
        if not isinstance(each, Mapping):
            return ()
        about = cast("Mapping[str, Any]", each)
        text, end, until = about.get("text"), about.get("source_end"), about.get("until")
        if not isinstance(text, str) or not isinstance(end, int):
            return ()
        words.append(SpokenWord(text, end, float(until) if isinstance(until, int | float) else None))
    return tuple(words)


@dataclass(frozen=True, slots=True)
class HeardExtent:
    """The end of what was heard in the text, the words that were said until then, and how that is known."""

    source_end: int
    spoken: str
    means: HeardMeans


def heard_until(pieces: Sequence[SpokenPiece], played: float | None, *, complete: bool) -> HeardExtent:
    """Returns the part of the reply that was heard in the first `played` seconds; None if all was played.

    `complete` is whether the pieces are all of the reply; otherwise more sound of the last one may be missing.
    """
    if not pieces or (played is not None and played <= 0):
        return HeardExtent(0, "", "nothing")
    if played is None:
        return _whole(pieces, "all" if complete else "delivered")
    for index, piece in enumerate(pieces):
        ends = index < len(pieces) - 1 or complete
        seconds = piece.seconds if ends else max(piece.seconds, len(piece.text) / _rate(pieces[:index]))
        if played >= piece.at + seconds - _TOLERANCE_SECONDS:
            continue
        if played <= piece.at + _TOLERANCE_SECONDS:
            return _whole(pieces[:index], "sentences")
        return _within(pieces[:index], piece, (played - piece.at) / seconds, played)
    return _whole(pieces, "all" if complete else "sentences")


def _whole(pieces: Sequence[SpokenPiece], means: HeardMeans) -> HeardExtent:
    end = pieces[-1].source_end if pieces else 0
    return HeardExtent(end, " ".join(piece.text for piece in pieces), means)


def _within(before: Sequence[SpokenPiece], piece: SpokenPiece, share: float, played: float) -> HeardExtent:
    """Returns the part of the reply that was heard if playing ended within `piece`, after a `share` of its sound."""
    start = before[-1].source_end if before else piece.source_start
    timed = [word for word in piece.words if word.until is not None]
    if timed:
        means: HeardMeans = "word_times"
        count = sum(1 for word in timed if (word.until or 0.0) <= played + _TOLERANCE_SECONDS)
        words: Sequence[SpokenWord] = timed
    else:
        means = "proportion"
        words = piece.words or _words_by_proportion(piece)
        count = _said(words, share * sum(len(word.text) + 1 for word in words))
    while 0 < count < len(words) and words[count - 1].source_end == words[count].source_end:
        count -= 1  # "forty two dollars" stands for one word of the text, which was not heard to its end
    said = [*(each.text for each in before), *(word.text for word in words[:count])]
    return HeardExtent(words[count - 1].source_end if count else start, " ".join(said), means)


def _said(words: Sequence[SpokenWord], characters: float) -> int:
    """Returns how many words are said in so many characters."""
    size = 0
    for count, word in enumerate(words):
        size += len(word.text) + 1
        if size > characters:
            return count
    return len(words)


def _words_by_proportion(piece: SpokenPiece) -> list[SpokenWord]:
    """Returns the words of a piece of which only the whole has a place: their places by proportion."""
    words: list[SpokenWord] = []
    place = 0
    for text in piece.text.split():
        place = piece.text.index(text, place) + len(text)
        share = place / len(piece.text)
        words.append(SpokenWord(text, round(piece.source_start + share * (piece.source_end - piece.source_start))))
    return words


def _rate(pieces: Sequence[SpokenPiece]) -> float:
    """Returns the characters that are spoken in a second."""
    seconds = sum(piece.seconds for piece in pieces)
    characters = sum(len(piece.text) for piece in pieces)
    return characters / seconds if seconds > 0 and characters else _CHARACTERS_A_SECOND


def heard_messages(messages: Sequence[Message], characters: int) -> tuple[Message, ...]:
    """Returns the messages with the first `characters` of the assistant's text; citations after them are left out.

    Tool calls stay with their results: what they did is done. A call without a result is left out, and so are messages
    without anything else.
    """
    answered = {part.call_id for message in messages for part in message.parts if isinstance(part, ToolResult)}
    messages_so_far: list[Message] = []
    left = characters
    for message in messages:
        if message.role != "assistant":
            messages_so_far.append(message)
            continue
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, TextPart):
                heard, left = _beginning(part, left)
                parts += [heard] if heard is not None else []
            elif not isinstance(part, ToolCall) or part.id in answered:
                parts.append(part)
        if any(isinstance(part, TextPart | ToolCall) for part in parts):
            messages_so_far.append(replace(message, parts=tuple(parts)))
    return tuple(messages_so_far)


def _beginning(part: TextPart, characters: int) -> tuple[TextPart | None, int]:
    """Returns the beginning of a text, and how many characters are left for the next one."""
    if characters >= len(part.text):
        return part, characters - len(part.text)
    text = part.text[:characters].rstrip()
    if not text:
        return None, 0
    citations = tuple(each for each in part.citations if each.end is None or each.end <= len(text))
    return replace(part, text=text, citations=citations), 0
