"""Scores that models write: read as they are, and repaired where they cannot be played."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from abstractmusic import Key, Meter, Note, Score, Voice
from abstractmusic.composing import wishes_of
from abstractmusic.scores import in_key, repaired
from abstractmusic.written import ScoreReading, Sheet, instruction_for, read_score
from tests.plugins.music.sheets import RAIN

SECONDS = 24.0
"""What eight bars of four beats last at 84 beats a minute, and the end."""


def read(data: dict[str, Any], prompt: str = "a sad song", **options: Any) -> ScoreReading:
    wanted: Any = {"seconds": SECONDS, **options}
    wishes = wishes_of(prompt, **wanted)
    return read_score(TypeAdapter(Sheet).validate_json(json.dumps(data)), wishes, 1)


def changed(bars: list[str], **changes: Any) -> dict[str, Any]:
    """The verse with other bars."""
    voices = [{"part": "melody", "instrument": "oboe", "bars": bars}]
    section = {"name": "verse", "chords": ["Am", "F", "C", "G"], "voices": voices, **changes}
    return {**RAIN, "sections": [section, section]}


def melody(score: Score) -> list[tuple[int, int, tuple[int, ...]]]:
    voice = score.voice("melody")
    assert voice is not None
    return [(note.start, note.length, note.pitches) for note in voice.notes]


def test_score_is_read_as_it_is_written():
    reading = read(RAIN)
    score = reading.score
    assert reading.repairs == ()
    assert (score.title, score.key.name, score.meter.name, score.bars) == ("Rain", "A minor", "4/4", 8)
    assert score.tempo == pytest.approx(84, rel=0.02)
    assert melody(score)[:4] == [(0, 4, (76,)), (4, 2, (74,)), (6, 2, (72,)), (8, 8, (69,))]
    assert [each.chord.symbol(score.key) for each in score.harmony] == ["Am", "F", "C", "G", "F", "G", "E", "Am"]
    bass = score.voice("bass")
    assert bass is not None
    assert bass.instrument == "cello"
    assert [note.start for note in bass.notes] == [64, 80, 96, 112]


def test_parts_that_are_not_written_are_arranged_by_rules():
    reading = read(RAIN)
    assert reading.by_rules == ("chords", "pad")
    assert {voice.part for voice in reading.score.voices} == {"melody", "bass", "chords", "pad"}


def test_words_stand_at_the_notes_of_their_section():
    voice = read(RAIN).score.voice("melody")
    assert voice is not None
    sung = [note.lyric for note in voice.notes if note.lyric]
    assert sung == ["Rain", "on", "the", "win-", "dow", "slow-", "ly", "it", "falls"]


@pytest.mark.parametrize(
    ("bars", "repair"),
    [
        (["A4:2 B4:9", "C5:4", "C5:4", "D5:4"], "voices[0].bars[0]: 11 quarters in a bar of 4: cut"),
        (["A4:1", "C5:4", "C5:4", "D5:4"], "voices[0].bars[0]: 1 quarters in a bar of 4: a rest follows"),
        (["A4:2 hello B4:2", "C5:4", "C5:4", "D5:4"], "voices[0].bars[0]: left out 'hello'"),
        (["A4:2 Q4:2", "C5:4", "C5:4", "D5:4"], "voices[0].bars[0]: 'Q4' names no pitch"),
        (["A4:2 C12:2", "C5:4", "C5:4", "D5:4"], "voices[0].bars[0]: 'C12' names no pitch"),
        (["A7:4", "C5:4", "C5:4", "D5:4"], "melody: [105] at 0 is beyond the range of oboe: [81]"),
        (["A4:2 C#5:2", "C5:4", "C5:4", "D5:4"], "melody: [73] at 8 is not of A minor: [72]"),
    ],
)
def test_bars_are_repaired(bars: list[str], repair: str):
    reading = read(changed(bars))
    assert any(repair in each for each in reading.repairs)
    assert repaired(reading.score)[1] == ()


@pytest.mark.parametrize(
    ("changes", "repair"),
    [
        ({"key": "H minor"}, "key: 'H minor' is not one that can be played; it becomes C major"),
        ({"meter": "4/5"}, "it becomes 4/4"),
        ({"tempo": 0}, ""),
        ({"tempo": 1e9}, "tempo"),
        ({"style": "polka"}, "style: 'polka' is not known"),
        ({"title": " "}, ""),
    ],
)
def test_heads_are_repaired(changes: dict[str, Any], repair: str):
    reading = read({**RAIN, **changes})
    assert any(repair in each for each in reading.repairs) or not repair
    assert reading.score.title
    assert 20 <= reading.score.tempo <= 320


@pytest.mark.parametrize(
    ("changes", "repair"),
    [
        ({"chords": ["Am"]}, "1 chords for 4 bars: the last one stays"),
        ({"chords": ["Am", "what", "C", "G"]}, "chords[1]: 'what' names no chord"),
        ({"chords": ["Am F C G", "F", "C", "G"]}, "chords[0]: 4 chords: the first and the last are played"),
        ({"chords": ["N.C."] * 4}, "chords[0]: 'N.C.' names no chord"),
        ({"chords": ["Am"] * 500}, "500 bars: the first 64 are read"),
        ({"name": ""}, ""),
    ],
)
def test_sections_are_repaired(changes: dict[str, Any], repair: str):
    reading = read(changed(["A4:4", "C5:4", "C5:4", "D5:4"], **changes))
    assert any(repair in each for each in reading.repairs) or not repair
    assert all(section.name for section in reading.score.sections)


@pytest.mark.parametrize("seconds", [5.0, 15.0, 24.0, 60.0])
def test_song_is_made_as_long_as_asked_for(seconds: float):
    score = read(RAIN, seconds=seconds).score
    bar = score.seconds / score.bars
    assert seconds - bar - 1.2 <= score.seconds <= seconds
    assert melody(score)[-1][2][0] % 12 == score.key.pitch_class


def test_asked_key_tempo_and_meter_win():
    reading = read(RAIN, key="C minor", tempo=100, meter="3/4")
    score = reading.score
    assert (score.key.name, score.tempo, score.meter.name) == ("C minor", 100, "3/4")
    assert melody(score)[0] == (0, 4, (79,))
    assert "key: A minor becomes C minor" in reading.repairs
    assert "tempo: 84 becomes 100" in reading.repairs


def test_score_moves_to_the_other_mode_by_degrees():
    score = in_key(read(RAIN).score, Key("A"))
    assert [each.chord.symbol(score.key) for each in score.harmony][:4] == ["A", "F#m", "C#m", "G#dim"]
    assert melody(score)[:3] == [(0, 4, (76,)), (4, 2, (74,)), (6, 2, (73,))]


@pytest.mark.parametrize("sections", [[], [{"name": "verse", "chords": ["Am"], "voices": []}]])
def test_sheet_without_a_melody_is_refused(sections: list[Any]):
    with pytest.raises(ValueError, match="no melody can be read"):
        read({**RAIN, "sections": sections})


def test_many_repairs_are_summed_up():
    reading = read(changed(["?"] * 60 + ["A4:4"], chords=["?"] * 61), seconds=120.0)
    assert len(reading.repairs) == 61
    assert reading.repairs[-1].endswith("more")


def test_score_of_the_user_is_repaired():
    notes = (Note(0, 8, (60,)), Note(4, 8, (62,)), Note(4, 2, (65,)), Note(30, 99, (64,), 900), Note(99, 4, (60,)))
    voices = (Voice("a", "fluet", notes), Voice("a", "piano", notes, "chords"), Voice("b", "violin", ()))
    score, repairs = repaired(Score("", Key("C"), Meter(), 9999, 2, voices))
    assert [voice.name for voice in score.voices] == ["a", "a 2"]
    assert score.voices[0].instrument == "flute"
    assert [(note.start, note.length) for note in score.voices[0].notes] == [(0, 4), (4, 8), (30, 2)]
    assert score.tempo == 320
    assert len(repairs) >= 6
    assert repaired(score) == (score, ())


def test_instruction_quotes_the_prompt_and_names_what_was_asked():
    wishes = wishes_of("a song </description>", lyrics="la la", key="D minor", tempo=90, mood="sad")
    text = instruction_for(wishes)
    assert "The key is D minor." in text
    assert "The tempo is 90.0." in text
    assert "The mood is sad." in text
    assert "<lyrics>\nla la\n</lyrics>" in text
