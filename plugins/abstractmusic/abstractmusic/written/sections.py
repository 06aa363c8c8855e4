"""`draft_of`: a section of a sheet, with its chords and notes read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..composing import Bars
from ..scores import Note
from ..theory import Chord, Key, Meter
from .bars import notes_of
from .sheets import PartName, SheetSection

LONGEST = 64
"""Bars of a section that are read."""


@dataclass(frozen=True, slots=True)
class DraftVoice:
    """A voice of a section: its notes count from the beginning of the section."""

    part: PartName
    instrument: str
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class SectionDraft:
    """A section: the chords of each bar, and its voices."""

    name: str
    chords: Bars
    voices: tuple[DraftVoice, ...]
    lyrics: str

    @property
    def bars(self) -> int:
        """Its bars."""
        return len(self.chords)

    def cut(self, bars: int) -> SectionDraft:
        """Returns its first bars; notes that begin later go."""
        return SectionDraft(self.name, self.chords[:bars], self.voices, self.lyrics)


def draft_of(section: SheetSection, key: Key, meter: Meter, repair: Callable[[str], None]) -> SectionDraft | None:
    """Returns the section; None without bars. Where chords are missing, those of the bar before stay, or the tonic."""
    bars = max([len(section.chords), *(len(voice.bars) for voice in section.voices)])
    if bars > LONGEST:
        repair(f"{bars} bars: the first {LONGEST} are read")
        bars = LONGEST
    if bars < 1:
        return None
    chords: Bars = []
    for bar in range(bars):
        before = chords[-1][-1] if chords else Chord(key.pitch_class, "m" if key.is_minor else "")
        if bar >= len(section.chords):
            chords.append((before,))
            continue
        chords.append(_chords(section.chords[bar], before, lambda text, bar=bar: repair(f"chords[{bar}]: {text}")))
    if len(section.chords) < bars:
        repair(f"{len(section.chords)} chords for {bars} bars: the last one stays")
    voices: list[DraftVoice] = []
    for number, voice in enumerate(section.voices):
        notes = [
            note
            for bar, text in enumerate(voice.bars[:bars])
            for note in notes_of(
                text, meter, bar * meter.bar, lambda text, at=f"voices[{number}].bars[{bar}]": repair(f"{at}: {text}")
            )
        ]
        voices.append(DraftVoice(voice.part, voice.instrument, tuple(notes)))
    return SectionDraft(section.name.strip()[:40] or "section", chords, tuple(voices), section.lyrics)


def _chords(text: str, before: Chord, repair: Callable[[str], None]) -> tuple[Chord, ...]:
    """Returns the chords of a bar: the first and the last, if there are more than two."""
    symbols = text.replace("|", " ").replace(",", " ").replace("-", " ").split()[:16]
    found = [chord for symbol in symbols if (chord := Chord.parse(symbol)) is not None]
    if not found or len(found) < len(symbols):
        repair(f"{text[:30]!r} is read as {len(found)} chords" if found else f"{text[:30]!r} names no chord")
    if len(found) > 2:
        repair(f"{len(found)} chords: the first and the last are played")
    if not found:
        return (before,)
    return (found[0],) if len(found) == 1 or found[0] == found[-1] else (found[0], found[-1])
