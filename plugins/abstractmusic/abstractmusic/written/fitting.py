"""`fitted`: sections made as long as asked for: by the tempo, by sections that come again, or by cuts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..composing import Wishes, bars_in
from ..scores import Note
from ..scores.score import FASTEST, SLOWEST, TAIL
from ..theory import Chord, Key, Meter
from .sections import SectionDraft

_MOST_CHANGE = 0.15
"""How much the tempo of a sheet may change, so that its bars fill the time."""
_ONCE = ("intro", "outro", "coda", "ending")
"""Sections that do not come again."""


def fitted(
    drafts: list[SectionDraft], wishes: Wishes, key: Key, meter: Meter, tempo: float, note: Callable[[str], None]
) -> tuple[list[SectionDraft], float]:
    """Returns the sections that are played, and the tempo."""
    total = sum(draft.bars for draft in drafts)
    if wishes.tempo is None:
        needed = total / bars_in(wishes.seconds - min(TAIL, wishes.seconds / 4), meter, tempo)
        if abs(needed - 1) <= _MOST_CHANGE:
            tempo = min(max(round(tempo * needed, 1), SLOWEST), FASTEST)
    bars = max(int(bars_in(wishes.seconds - TAIL / 3, meter, tempo)), 1)
    if bars == total:
        return drafts, tempo
    note(f"{total} bars: {bars} are played, for {wishes.seconds:g} seconds")
    again = [draft for draft in drafts if not draft.name.lower().startswith(_ONCE)] or drafts
    found, left, turn = list(drafts), bars - total, 0
    while left > 0:
        found.append(again[turn % len(again)])
        left, turn = left - found[-1].bars, turn + 1
    return _ended(_first(found, bars), key, meter), tempo


def _first(drafts: list[SectionDraft], bars: int) -> list[SectionDraft]:
    """Returns the sections of the first bars."""
    found: list[SectionDraft] = []
    for draft in drafts:
        if bars > 0:
            found.append(draft if draft.bars <= bars else draft.cut(bars))
            bars -= draft.bars
    return found


def _ended(drafts: list[SectionDraft], key: Key, meter: Meter) -> list[SectionDraft]:
    """Returns sections whose last bar is the tonic: chord and melody."""
    last = drafts[-1]
    start = (last.bars - 1) * meter.bar
    chords = [*last.chords[:-1], (Chord(key.pitch_class, "m" if key.is_minor else ""),)]
    voices = tuple(replace(voice, notes=_with_end(voice.notes, start, key, meter)) for voice in last.voices)
    return [*drafts[:-1], SectionDraft(last.name, chords, voices, last.lyrics)]


def _with_end(notes: tuple[Note, ...], start: int, key: Key, meter: Meter) -> tuple[Note, ...]:
    """Returns notes that end with the tonic nearest to the note before, held for a bar."""
    if not notes:
        return ()
    before = next((note.pitches[0] for note in reversed(notes) if note.start < start), notes[0].pitches[0])
    tonic = before + (key.pitch_class - before + 6) % 12 - 6
    return (*(note for note in notes if note.start < start), Note(start, meter.bar, (tonic,)))
