"""Pieces composed by rules: what was asked for, well formed, and music by its rules."""

from __future__ import annotations

from itertools import pairwise

import pytest

from abstractcore import InvalidInputError
from abstractmusic import Score, compose

PROMPTS = (
    "a happy pop tune",
    "calm piano",
    "jazz in D minor at 120 bpm",
    "an epic battle",
    "an irish jig",
    "a sad song for solo cello",
    "bossa nova without drums",
    "energetic rock",
    "electronic dance",
    "a romantic waltz",
    "mysterious forest",
    "lofi beats to study",
    "a proud march",
    "a lullaby",
    "classical sonata for violin",
    "something odd in 7/8",
)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_piece_is_well_formed(prompt: str):
    for seed in range(4):
        score = compose(prompt, seed=seed)
        assert sum(section.bars for section in score.sections) == score.bars
        assert score.harmony[0].start == 0
        assert len({voice.name for voice in score.voices}) == len(score.voices)
        for voice in score.voices:
            ends = 0
            for note in voice.notes:
                assert 0 <= note.start < note.end <= score.length
                assert all(voice.played_by.lowest <= pitch <= voice.played_by.highest for pitch in note.pitches)
                assert 1 <= note.velocity <= 127
                assert note.start >= ends or voice.played_by.is_drums
                ends = note.end


@pytest.mark.exhaustive
@pytest.mark.parametrize("seconds", [5, 17.5, 30, 61, 180])
@pytest.mark.parametrize("prompt", PROMPTS[:8])
def test_piece_lasts_as_long_as_asked_for(prompt: str, seconds: float):
    assert 0.6 * seconds <= compose(prompt, seconds=seconds, seed=3).seconds <= seconds
    if seconds >= 17.5:
        assert compose(prompt, seconds=seconds, seed=3).seconds >= 0.85 * seconds


def test_same_seed_gives_the_same_piece_and_another_one_another():
    assert compose("a happy tune", seed=7) == compose("a happy tune", seed=7)
    assert len({compose("a happy tune", seed=seed) for seed in range(5)}) == 5


def test_options_win_over_the_prompt():
    score = compose("a sad waltz in C minor at 90 bpm", key="E major", tempo=132, meter="4/4", mood="happy", seed=1)
    assert (score.key.name, score.tempo, score.meter.name) == ("E major", 132, "4/4")
    assert score.moods == ("happy", "waltz")


def test_words_of_the_prompt_are_followed():
    score = compose("A sad waltz in C# minor at 96 bpm for clarinet and accordion, no drums", seed=1)
    assert (score.key.name, score.tempo, score.meter.name, score.moods) == ("C# minor", 96, "3/4", ("sad", "waltz"))
    assert [voice.instrument for voice in score.voices if voice.part in ("melody", "chords")] == [
        "clarinet",
        "accordion",
    ]
    assert score.voice("drums") is None


def test_solo_is_one_instrument():
    assert {voice.instrument for voice in compose("a sad song for solo piano", seed=1).voices} == {"piano"}
    assert [voice.instrument for voice in compose("solo violin", seed=1).voices] == ["violin"]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_melody_is_sung_in_the_key_and_ends_at_home(prompt: str):
    for seed in range(3):
        score = compose(prompt, seed=seed)
        melody = score.voice("melody")
        assert melody is not None
        pitches = [note.pitches[0] for note in melody.notes]
        assert pitches[-1] % 12 == score.key.pitch_class
        assert score.harmony[-1].chord.root == score.key.pitch_class
        foreign = [note for note in melody.notes if note.pitches[0] % 12 not in _allowed(score, note.start)]
        assert foreign == []
        assert max(pitches) - min(pitches) <= 20
        leaps = [abs(second - first) for first, second in pairwise(pitches)]
        assert sum(leap <= 4 for leap in leaps) >= 0.6 * len(leaps)


def test_verses_return_with_the_same_beginning():
    score = compose("a happy pop tune", seconds=120, seed=2)
    verses = [section for section in score.sections if section.name == "verse"]
    melody = score.voice("melody")
    assert melody is not None
    assert len(verses) > 1
    rhythms = [
        [
            (note.start - verse.bar * score.meter.bar, note.length)
            for note in melody.notes
            if verse.bar <= note.start // score.meter.bar < verse.bar + 4
        ]
        for verse in verses
    ]
    assert rhythms[0] == rhythms[1]


def test_lyrics_are_set_a_syllable_a_note():
    lyrics = "[Verse]\nTwinkle, twinkle, little star\nHow I wonder what you are\n"
    melody = compose("a lullaby", lyrics=lyrics, seed=1).voice("melody")
    assert melody is not None
    sung = [note.lyric for note in melody.notes if note.lyric]
    assert " ".join(sung).replace("- ", "") == "Twinkle, twinkle, little star How I wonder what you are"


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"prompt": ""}, "prompt"),
        ({"prompt": " \n"}, "prompt"),
        ({"prompt": "la " * 400_000}, "prompt"),
        ({"lyrics": "la " * 400_000}, "lyrics"),
        ({"seconds": 0}, "seconds"),
        ({"seconds": -5}, "seconds"),
        ({"seconds": 1e9}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": "30"}, "seconds"),
        ({"tempo": 0}, "tempo"),
        ({"tempo": 100_000}, "tempo"),
        ({"tempo": float("inf")}, "tempo"),
        ({"tempo": True}, "tempo"),
        ({"key": "H"}, "key"),
        ({"key": ""}, "key"),
        ({"meter": "4/5"}, "meter"),
        ({"mood": "hapy"}, "mood"),
    ],
)
def test_impossible_wishes_are_refused(options: dict[str, object], path: str):
    with pytest.raises(InvalidInputError) as caught:
        compose(**{"prompt": "a tune", **options})  # pyright: ignore[reportArgumentType]
    assert caught.value.path == path


def test_unknown_mood_is_refused_with_the_nearest_names():
    with pytest.raises(InvalidInputError, match="no mood is called 'hapy'") as caught:
        compose("a tune", mood="hapy")
    assert "happy" in str(caught.value.hint)


def _allowed(score: Score, start: int) -> set[int]:
    chord = next(harmony.chord for harmony in reversed(score.harmony) if harmony.start <= start)
    return {*score.key.scale, *chord.pitch_classes}
