"""`Wishes`: what a prompt and its options ask for, read by words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeVar

from abstractcore import InvalidInputError

from ..scores import Instrument
from ..scores.instruments import NAMES
from ..scores.score import FASTEST, SLOWEST
from ..theory import Key, Meter
from .moods import MOOD_WORDS, MOODS, Mood
from .styles import STYLE_WORDS, Style

T = TypeVar("T")
LONGEST_PROMPT = 100_000
"""Characters of a prompt or of lyrics."""
SHORTEST, LONGEST = 2.0, 600.0
"""Seconds that a piece may last."""
USUAL_SECONDS = 30.0
_KEY = re.compile(r"\b([A-G](?:[ -]?(?:sharp|flat)|[#b♯♭])?)[ -]?(major|minor|dorian|phrygian|lydian|mixolydian)\b")
_TEMPO = re.compile(r"\b(\d{2,3})\s?(?:bpm|beats per minute)\b", re.IGNORECASE)
_METER = re.compile(r"\b(\d{1,2}/[248])\b")
_WITHOUT = re.compile(r"\b(?:no|without|minus|not any)\s+([a-z -]{3,30})", re.IGNORECASE)
_ALONE = re.compile(r"\b(?:solo|only|just|unaccompanied)\b|\balone\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked for; None and empty where nothing is said.

    `meter_of_style` is that of any style that is named, as in a waltz of jazz; `understood` are the words of the prompt
    that decided something.
    """

    prompt: str
    seconds: float = USUAL_SECONDS
    mood: Mood | None = None
    style: Style | None = None
    key: Key | None = None
    tempo: float | None = None
    meter: Meter | None = None
    instruments: tuple[Instrument, ...] = ()
    without: frozenset[str] = frozenset()
    is_solo: bool = False
    lyrics: str = ""
    meter_of_style: str = ""
    understood: tuple[str, ...] = ()


def wishes_of(
    prompt: str,
    *,
    lyrics: str = "",
    seconds: float | None = None,
    tempo: float | None = None,
    key: str | None = None,
    meter: str | None = None,
    mood: str | None = None,
) -> Wishes:
    """Returns the wishes of a prompt and of options, which win. Raises `InvalidInputError` for impossible ones."""
    prompt, lyrics = (text.encode("utf-8", "replace").decode() for text in (prompt, lyrics))
    for name, text in (("prompt", prompt), ("lyrics", lyrics)):
        if len(text) > LONGEST_PROMPT:
            raise InvalidInputError(f"it has {len(text)} characters: at most {LONGEST_PROMPT} are read", path=name)
    if not prompt.strip():
        raise InvalidInputError("it is empty", path="prompt", hint="Describe the music: 'a calm waltz for piano'.")
    found_key, found_tempo, found_meter = (pattern.search(prompt) for pattern in (_KEY, _TEMPO, _METER))
    styles, players = _found(prompt, STYLE_WORDS), _found(prompt, NAMES)
    moods = _found(_without(prompt, styles), MOOD_WORDS)
    without = frozenset(players[word].name for gone in _WITHOUT.findall(prompt) for word in _found(gone, NAMES))
    chosen = mood_of(mood) if mood is not None else _first(moods)
    wanted = tuple(dict.fromkeys(player for player in players.values() if player.name not in without))
    return Wishes(
        prompt=prompt,
        seconds=_number(USUAL_SECONDS if seconds is None else seconds, SHORTEST, LONGEST, "seconds"),
        mood=chosen,
        style=_first(styles),
        key=Key.parse(key) if key is not None else Key.parse(found_key[0]) if found_key else None,
        tempo=_tempo(tempo, found_tempo),
        meter=Meter.parse(meter) if meter is not None else Meter.parse(found_meter[1]) if found_meter else None,
        instruments=wanted,
        without=without,
        is_solo=bool(wanted and _ALONE.search(prompt)),
        lyrics=lyrics,
        meter_of_style=next((style.meter for style in styles.values() if style.meter != "4/4"), ""),
        understood=tuple(dict.fromkeys((*moods, *styles, *players))),
    )


def mood_of(name: str) -> Mood:
    """Returns the mood that a word names. Raises `InvalidInputError` with the nearest names."""
    mood = MOOD_WORDS.get(name.strip().lower())
    if mood is None:
        near = get_close_matches(name.strip().lower()[:40], MOOD_WORDS, 3) or sorted(MOODS)
        raise InvalidInputError(f"no mood is called {name[:40]!r}", path="mood", hint=f"Write {', '.join(near)}.")
    return mood


def _tempo(given: float | None, found: re.Match[str] | None) -> float | None:
    if given is None:
        given = None if found is None else float(found[1])
    return None if given is None else _number(given, SLOWEST, FASTEST, "tempo")


def _number(value: float, lowest: float, highest: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"expected a number, got {type(value).__name__}", path=name)
    if not lowest <= value <= highest:
        raise InvalidInputError(f"expected {lowest:g} to {highest:g}, got {value:g}", path=name)
    return float(value)


def _found(text: str, table: dict[str, T]) -> dict[str, T]:
    """Returns the entries whose words a text has, in the order of the text; longer words first at one place."""
    plain = f" {re.sub(r'[^a-z0-9-]+', ' ', text.lower())} "
    places: list[tuple[int, str]] = []
    for word in sorted(table, key=len, reverse=True):
        place = next((at for form in (word, f"{word}s") if (at := plain.find(f" {form} ")) >= 0), -1)
        if place >= 0:
            plain = plain[: place + 1] + "_" * len(word) + plain[place + 1 + len(word) :]
            places.append((place, word))
    return {word: table[word] for _, word in sorted(places)}


def _without(text: str, words: Iterable[str]) -> str:
    """Returns a text without some words, such as those of styles: a sea shanty is not about the sea."""
    for word in words:
        text = re.sub(rf"\b{re.escape(word)}\b", " ", text, flags=re.IGNORECASE)
    return text


def _first(found: dict[str, T]) -> T | None:
    return next(iter(found.values()), None)
