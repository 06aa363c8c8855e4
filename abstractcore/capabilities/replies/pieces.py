"""`SpokenPieces`: what the parts of streamed speech say, when, and where it stands in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from ...schema import AudioPart, SpokenPiece, SpokenWord

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
        self._pieces.append(SpokenPiece(text, at, seconds, start, end, _words(about.get("words"))))
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


def _words(given: object) -> tuple[SpokenWord, ...]:
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
