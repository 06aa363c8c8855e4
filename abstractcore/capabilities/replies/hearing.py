"""`heard_until`: what was heard of speech when its playing ended. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...schema import HeardMeans, SpokenPiece, SpokenWord

_TOLERANCE_SECONDS = 0.02
"""Players count in blocks of samples."""
_CHARACTERS_A_SECOND = 15.0
"""Of English speech, where nothing has been spoken yet that tells."""


@dataclass(frozen=True, slots=True)
class Heard:
    """The end of what was heard in the text, the words that were said until then, and how that is known."""

    source_end: int
    spoken: str
    means: HeardMeans


def heard_until(pieces: Sequence[SpokenPiece], played: float | None, *, complete: bool) -> Heard:
    """Returns what was heard in the first `played` seconds; None if all that was delivered was played.

    `complete` is whether the pieces are all of the reply; otherwise more sound of the last one may be missing.
    """
    if not pieces or (played is not None and played <= 0):
        return Heard(0, "", "nothing")
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


def _whole(pieces: Sequence[SpokenPiece], means: HeardMeans) -> Heard:
    end = pieces[-1].source_end if pieces else 0
    return Heard(end, " ".join(piece.text for piece in pieces), means)


def _within(before: Sequence[SpokenPiece], piece: SpokenPiece, share: float, played: float) -> Heard:
    """Returns what was heard if playing ended within `piece`, after a `share` of its sound."""
    start = before[-1].source_end if before else piece.source_start
    timed = [word for word in piece.words if word.until is not None]
    if timed:
        means: HeardMeans = "word_times"
        count = sum(1 for word in timed if (word.until or 0.0) <= played + _TOLERANCE_SECONDS)
        words: Sequence[SpokenWord] = timed
    else:
        means = "proportion"
        words = piece.words or _words_of(piece)
        count = _said(words, share * sum(len(word.text) + 1 for word in words))
    while 0 < count < len(words) and words[count - 1].source_end == words[count].source_end:
        count -= 1  # "forty two dollars" stands for one word of the text, which was not heard to its end
    said = [*(each.text for each in before), *(word.text for word in words[:count])]
    return Heard(words[count - 1].source_end if count else start, " ".join(said), means)


def _said(words: Sequence[SpokenWord], characters: float) -> int:
    """Returns how many words are said in so many characters."""
    size = 0
    for count, word in enumerate(words):
        size += len(word.text) + 1
        if size > characters:
            return count
    return len(words)


def _words_of(piece: SpokenPiece) -> list[SpokenWord]:
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
