"""`read_score`: reads a sheet: checks and repairs it, and arranges what it leaves out by rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from abstractcore import InvalidInputError

from ..composing import STYLES, CompositionPlan, Song, Wishes, part_of, plan_of, score_of, usual_tempo
from ..composing.syllables import lines_of, syllables_of
from ..scores import Note, Score, Voice, in_key, instrument_of, repaired
from ..scores.score import FASTEST, SLOWEST
from ..theory import Key, Meter
from .fitting import fitted
from .sections import DraftVoice, SectionDraft, draft_of
from .sheets import Sheet

_Named = TypeVar("_Named", Key, Meter)
_MOST_NOTED = 60
"""Repairs that are listed."""
_VELOCITY = {"melody": 92, "counter": 78, "bass": 84}


@dataclass(frozen=True, slots=True)
class ScoreReading:
    """A score, what was repaired in it, and the parts that rules arranged."""

    score: Score
    repairs: tuple[str, ...]
    by_rules: tuple[str, ...]


def read_score(sheet: Sheet, wishes: Wishes, seed: int | None = None) -> ScoreReading:
    """Returns the score of a sheet, of the length, key, tempo and meter that are asked for.

    Raises `ValueError` for a sheet without a melody: there is nothing to repair.
    """
    return _ScoreReader(wishes, Random(f"{seed}:{wishes.prompt}")).read(sheet)


class _ScoreReader:
    """Reads one sheet."""

    def __init__(self, wishes: Wishes, random: Random) -> None:
        self._wishes = wishes
        self._random = random
        self._repairs: list[str] = []

    def read(self, sheet: Sheet) -> ScoreReading:
        key = self._given("key", sheet.key, Key.parse, self._wishes.key or Key("C"))
        meter = self._given("meter", sheet.meter, Meter.parse, self._wishes.meter or Meter())
        if self._wishes.meter is not None and meter != self._wishes.meter:
            self._note(f"meter: {meter.name} becomes {self._wishes.meter.name}")
            meter = self._wishes.meter
        drafts = self._drafts(sheet, key, meter)
        if not any(voice.part == "melody" and voice.notes for draft in drafts for voice in draft.voices):
            raise ValueError("no melody can be read")
        tempo = min(max(self._wishes.tempo or sheet.tempo or usual_tempo(self._wishes), SLOWEST), FASTEST)
        if sheet.tempo != tempo:
            self._note(f"tempo: {sheet.tempo:g} becomes {tempo:g}")
        drafts, tempo = fitted(drafts, self._wishes, key, meter, tempo, self._note)
        plan = self._plan(sheet, key, meter, tempo, drafts)
        score, by_rules = self._score(plan, drafts)
        score, repairs = repaired(self._in_asked_key(score))
        self._repairs += repairs
        hidden = len(self._repairs) - _MOST_NOTED
        more = (f"{hidden} more",) if hidden > 0 else ()
        return ScoreReading(score, (*self._repairs[:_MOST_NOTED], *more), by_rules)

    def _note(self, text: str) -> None:
        self._repairs.append(text)

    def _given(self, name: str, text: str, parse: Callable[[str], _Named], usual: _Named) -> _Named:
        try:
            return parse(text)
        except InvalidInputError:
            self._note(f"{name}: {text[:40]!r} is not one that can be played; it becomes {usual.name}")
            return usual

    def _drafts(self, sheet: Sheet, key: Key, meter: Meter) -> list[SectionDraft]:
        drafts: list[SectionDraft] = []
        for index, section in enumerate(sheet.sections):
            draft = draft_of(section, key, meter, lambda text, index=index: self._note(f"sections[{index}].{text}"))
            if draft is not None:
                drafts.append(draft)
        return drafts

    def _plan(self, sheet: Sheet, key: Key, meter: Meter, tempo: float, drafts: list[SectionDraft]) -> CompositionPlan:
        """Returns the plan for what rules arrange: in the style of the sheet, unless the prompt names one."""
        style = self._wishes.style or STYLES.get(sheet.style.strip().lower())
        if style is None:
            self._note(f"style: {sheet.style[:30]!r} is not known")
        wishes = replace(self._wishes, style=style, key=key, meter=meter, tempo=tempo)
        plan = plan_of(wishes, self._random)
        lead = next((voice for draft in drafts for voice in draft.voices if voice.part == "melody"), None)
        player = instrument_of(lead.instrument) if lead else None
        players = plan.players
        if player and not player.is_drums:
            players = replace(players, melody=player)
        form = tuple(part_of(draft.name, draft.bars) for draft in drafts)
        title = sheet.title.strip() or plan.title
        return replace(plan, form=form, players=players, title=title[:120])

    def _score(self, plan: CompositionPlan, drafts: list[SectionDraft]) -> tuple[Score, tuple[str, ...]]:
        """Returns the score with the voices of the sheet, and those of the rules for parts that it has not."""
        written: dict[str, Voice] = {}
        for draft, first in _placed(drafts, plan.meter):
            for voice in draft.voices:
                known = written.get(voice.part) or Voice("", voice.instrument, (), voice.part)
                written[voice.part] = replace(known, notes=(*known.notes, *_moved(draft, voice, first, plan.meter)))
        song = Song([chords for draft in drafts for chords in draft.chords], written["melody"].notes)
        score = score_of(plan, song, self._random)
        arranged = [voice for voice in score.voices if voice.part not in written]
        voices = (written.pop("melody"), *written.values(), *arranged)
        return replace(score, voices=voices), tuple(voice.part for voice in arranged)

    def _in_asked_key(self, score: Score) -> Score:
        """Returns the score in the key that was asked for."""
        key = self._wishes.key
        if key is None or key == score.key:
            return score
        self._note(f"key: {score.key.name} becomes {key.name}")
        return in_key(score, key)


def _placed(drafts: list[SectionDraft], meter: Meter) -> list[tuple[SectionDraft, int]]:
    """Returns the sections with their beginnings."""
    firsts = [sum(draft.bars for draft in drafts[:index]) * meter.bar for index in range(len(drafts))]
    return list(zip(drafts, firsts, strict=True))


def _moved(draft: SectionDraft, voice: DraftVoice, first: int, meter: Meter) -> list[Note]:
    """Returns the notes of a voice of a section that begins at `first`, with syllables for those of the melody."""
    notes = [note for note in voice.notes if note.start < draft.bars * meter.bar]
    lyrics = draft.lyrics if voice.part == "melody" else ""
    syllables = [syllable for line in lines_of(lyrics) for syllable in syllables_of(line)]
    return [
        replace(
            note,
            start=first + note.start,
            velocity=_VELOCITY.get(voice.part, 66) + 4 * meter.strength(note.start),
            lyric=syllables[index] if index < len(syllables) else None,
        )
        for index, note in enumerate(notes)
    ]
