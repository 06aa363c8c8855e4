"""`MusicRequest`: what is asked of a remote model, before a format encodes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from abstractcore import InvalidInputError, UnknownOptionError, UnsupportedContentError
from abstractcore.mediajobs import TrackedOptions

from ..playing import AUDIO_TYPES

SCORES = ("midi", "musicxml")
_LOSSLESS = ("wav", "flac")
_SAID = {"mood": "{} mood", "key": "in {}", "tempo": "{:g} BPM", "meter": "{} time"}
"""How a prompt says an option."""
_RANGES = {"seconds": (0.5, 3600.0), "tempo": (20, 400), "steps": (1, 1000), "count": (1, 8), "guidance": (0, 100)}


@dataclass(frozen=True, slots=True)
class VendorMusicOptions:
    """What may be asked besides the prompt. `extra` are fields of the vendor, which are sent as they are."""

    lyrics: str | None = None
    format: str | None = None
    seconds: float | None = None
    seed: int | None = None
    tempo: float | None = None
    key: str | None = None
    meter: str | None = None
    mood: str | None = None
    also: Sequence[str] | None = None
    instrumental: bool | None = None
    language: str | None = None
    negative_prompt: str | None = None
    count: int | None = None
    steps: int | None = None
    guidance: float | None = None
    extra: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            _check_range(getattr(self, name), name, least, most)
        if self.seed is not None and (not isinstance(self.seed, int) or isinstance(self.seed, bool)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"expected a whole number, got {self.seed!r}", path="seed")
        if self.format in SCORES:
            hint = "Use music_backend='score' or 'rules' for MIDI and MusicXML."
            raise UnsupportedContentError("remote models make sound, and no scores", hint=hint)
        if self.format is not None and self.format not in AUDIO_TYPES:
            hint = f"Write one of {', '.join(AUDIO_TYPES)}."
            raise InvalidInputError(f"no format is called {str(self.format)[:40]!r}", path="format", hint=hint)


@dataclass(frozen=True, slots=True)
class MusicRequest:
    """One piece of music for a remote model."""

    model: str
    prompt: str
    options: VendorMusicOptions = field(default_factory=VendorMusicOptions)


def music_options(given: Mapping[str, Any]) -> VendorMusicOptions:
    """Returns options, checked; empty lyrics and an empty `also` are none.

    Raises `UnknownOptionError` with the nearest name, `InvalidInputError` and `UnsupportedContentError`.
    """
    known = VendorMusicOptions.__dataclass_fields__
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        near = get_close_matches(unknown, known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "Fields of the vendor are given in extra={...}."
        raise UnknownOptionError(f"remote music has no argument {unknown!r}", hint=hint)
    lyrics = given.get("lyrics") or None
    if lyrics is not None and not isinstance(lyrics, str):
        raise InvalidInputError(f"expected a text, got {type(lyrics).__name__}", path="lyrics")
    kept: dict[str, Any] = {
        **given,
        "lyrics": lyrics if lyrics and lyrics.strip() else None,
        "also": given.get("also") or None,
    }
    return VendorMusicOptions(**kept)


class TrackedMusicOptions(TrackedOptions):
    """The options of a request, which notes those that a format reads: the others become warnings."""

    def __init__(self, request: MusicRequest, where: str) -> None:
        super().__init__(request.options, where)
        self._prompt = request.prompt

    def prompt(self, *names: str) -> str:
        """Returns the prompt, which says the options in `names`: models mostly follow them, which is a warning."""
        said: list[str] = []
        for name in names:
            value = self.get(name)
            if value is not None:
                said.append(_SAID[name].format(value))
                self.warn(name, "it is said in the prompt, which the model need not follow", said[-1])
        return ", ".join((self._prompt.rstrip().rstrip("."), *said)) if said else self._prompt

    def seconds(self, least: float, most: float) -> float | None:
        """Returns the length, within what the vendor makes; warns if it changes."""
        seconds = self.get("seconds")
        if seconds is None:
            return None
        sent = min(max(seconds, least), most)
        if sent != seconds:
            self.warn("seconds", f"the vendor makes {least:g} to {most:g} seconds", sent)
        return sent

    def format(self, native: Sequence[str]) -> str | None:
        """Returns which of the vendor's formats to request, the best one first in `native`. Another one is converted
        afterwards, with a warning if the vendor's loses quality; None leaves the choice to the vendor.
        """
        format = self.get("format")
        if format is None or format in native:
            return format
        if native[0] not in _LOSSLESS:
            self.warn("format", f"it is converted from the vendor's {native[0]}, which is lossy", native[0])
        return native[0]


def _check_range(value: object, path: str, least: float, most: float) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InvalidInputError(f"expected a number from {least:g} to {most:g}, got {value!r}", path=path)
