"""`SaidPiece`: what a piece of sound says, when, and where that stands in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from abstractcore import AudioPart, Blob

from .text import Utterance

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class SaidWord:
    """A word as it is said, and the end of what it stands for in the text; `until` is the second at which it has been
    said, if that is known.
    """

    text: str
    source_end: int
    until: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns it as JSON."""
        time = {} if self.until is None else {"until": round(self.until, 4)}
        return {"text": self.text, "source_end": self.source_end, **time}


@dataclass(frozen=True, slots=True)
class SaidPiece:
    """What is said from the second `at` on for `seconds`, and the characters of the text that it stands for."""

    text: str
    at: float
    seconds: float
    source_start: int
    source_end: int
    words: tuple[SaidWord, ...] = ()

    @classmethod
    def of(cls, utterance: Utterance, text: str, start: int, end: int, at: float, seconds: float) -> SaidPiece:
        """Returns the piece of an utterance from one of its characters to another."""
        return cls(
            text,
            at,
            seconds,
            utterance.heard(start),
            utterance.heard(end),
            said_words(utterance, start, end),
        )

    @classmethod
    def joined(cls, pieces: Sequence[SaidPiece]) -> list[SaidPiece]:
        """Returns the pieces, each with those without words after it: the rest of what it says."""
        found: list[SaidPiece] = []
        for piece in pieces:
            if piece.text or not found:
                found.append(piece)
            else:
                found[-1] = found[-1].followed_by(piece)
        return found

    def followed_by(self, other: SaidPiece) -> SaidPiece:
        """Returns this and the next piece as one."""
        text = f"{self.text} {other.text}".strip()
        seconds, words = self.seconds + other.seconds, (*self.words, *other.words)
        return replace(self, text=text, seconds=seconds, source_end=other.source_end, words=words)

    def as_json(self) -> dict[str, Any]:
        """Returns it as JSON without its words, with times in tenths of milliseconds."""
        times = {"at": round(self.at, 4), "seconds": round(self.seconds, 4)}
        return {"text": self.text, **times, "source_start": self.source_start, "source_end": self.source_end}

    def part(self, data: bytes, media_type: str) -> AudioPart:
        """Returns its sound as a part."""
        about = {name: value for name, value in self.as_json().items() if name != "text"}
        if self.words:
            about["words"] = [word.as_json() for word in self.words]
        return AudioPart(
            Blob.from_bytes(data, media_type), transcript=self.text or None, provider_options={"voice": about}
        )


def said_words(utterance: Utterance, start: int, end: int) -> tuple[SaidWord, ...]:
    """Returns the words from one of an utterance's characters to another."""
    found = _WORD.finditer(utterance.text, start, end)
    return tuple(SaidWord(word[0], utterance.heard(word.end())) for word in found)


class SoundParts:
    """The parts of a stream: pieces whose sound the encoder still holds are joined with the next one."""

    def __init__(self, media_type: str) -> None:
        self._media_type = media_type
        self._waiting: SaidPiece | None = None

    def feed(self, piece: SaidPiece, data: bytes) -> list[AudioPart]:
        """Returns the part that is complete with a piece."""
        piece = self._waiting.followed_by(piece) if self._waiting is not None else piece
        self._waiting = None if data else piece
        return [piece.part(data, self._media_type)] if data else []

    def finish(self, rest: bytes) -> list[AudioPart]:
        """Returns the part with the end of the file."""
        if not rest:
            return []
        if self._waiting is not None:
            return [self._waiting.part(rest, self._media_type)]
        return [AudioPart(Blob.from_bytes(rest, self._media_type))]
