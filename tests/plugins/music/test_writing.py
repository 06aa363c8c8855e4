"""MIDI and MusicXML, read back by other libraries: mido and music21."""

from __future__ import annotations

import io
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from abstractmusic import Key, Meter, Note, Score, Voice, compose, midi_of, musicxml_of
from tests.packages import run

mido: Any = import_module("mido")
PIECES = ("a happy pop tune", "jazz in D minor at 120 bpm", "an irish jig", "calm ambient music", "an odd dance in 7/8")


def read_midi(score: Score) -> Any:
    return mido.MidiFile(file=io.BytesIO(midi_of(score)))


def read_musicxml(folder: Path, *scores: Score) -> list[dict[str, Any]]:
    """What music21 reads, in a process of its own, which shows its warnings to nobody."""
    files = [folder / f"{index}.musicxml" for index in range(len(scores))]
    for file, score in zip(files, scores, strict=True):
        file.write_bytes(musicxml_of(score))
    return json.loads(run(sys.executable, "-W", "ignore", Path(__file__).parent / "reading.py", *files))


@pytest.mark.parametrize("prompt", PIECES)
def test_midi_has_the_notes_tempo_and_signatures(prompt: str):
    score = compose(prompt, seconds=20, seed=1)
    file = read_midi(score)
    messages = [message for track in file.tracks for message in track]
    (tempo,) = [message for message in messages if message.type == "set_tempo"]
    (time,) = [message for message in messages if message.type == "time_signature"]
    (key,) = [message for message in messages if message.type == "key_signature"]
    assert mido.tempo2bpm(tempo.tempo) == pytest.approx(score.quarters_per_minute, rel=1e-4)
    assert (time.numerator, time.denominator) == (score.meter.count, score.meter.unit)
    assert key.key.endswith("m") == score.key.is_minor
    assert [message.text for message in messages if message.type == "marker"] == [each.name for each in score.sections]
    played = sorted(message.note for message in messages if message.type == "note_on" and message.velocity)
    assert played == sorted(pitch for voice in score.voices for note in voice.notes for pitch in note.pitches)
    assert file.length == pytest.approx(score.seconds, abs=1)
    drums = [
        track for track in file.tracks if any(message.type == "note_on" and message.channel == 9 for message in track)
    ]
    assert len(drums) == (score.voice("drums") is not None)


def test_swing_delays_the_second_eighth():
    notes = (Note(0, 2, (60,)), Note(2, 2, (62,)), Note(4, 4, (64,)))
    score = Score("", Key("C"), Meter(), 60, 1, (Voice("piano", "piano", notes),), is_swung=True)
    (track,) = [track for track in read_midi(score).tracks if any(message.type == "note_on" for message in track)]
    at, starts = 0, list[int]()
    for message in track:
        at += message.time
        if message.type == "note_on":
            starts.append(at)
    assert starts == [0, 320, 480]


@pytest.mark.process
def test_musicxml_has_complete_bars_and_the_same_notes(tmp_path: Path):
    scores = [compose(prompt, seconds=20, seed=1) for prompt in PIECES]
    for score, read in zip(scores, read_musicxml(tmp_path, *scores), strict=True):
        assert read["title"] == score.title
        assert (read["sharps"], read["meter"]) == (score.key.fifths, score.meter.name)
        assert read["quarters_per_minute"] == pytest.approx(score.quarters_per_minute, rel=0.001)
        assert [part["name"] for part in read["parts"]] == [voice.name for voice in score.voices]
        for part, voice in zip(read["parts"], score.voices, strict=True):
            assert (part["bars"], part["incomplete"]) == (score.bars, [])
            if not voice.played_by.is_drums:
                assert part["sounding"] == [[note.start, sorted(note.pitches)] for note in voice.notes]
        chords = [[each.start, sorted({*each.chord.pitch_classes, each.chord.lowest})] for each in score.harmony]
        assert read["chords"] == chords


def piano(key: str, bars: int, *notes: Note) -> Score:
    return Score("A & <b>\x00", Key.parse(key), Meter(), 60, bars, (Voice("piano", "piano", notes),))


@pytest.mark.process
def test_musicxml_spells_notes_ties_them_and_has_lyrics(tmp_path: Path):
    steps = [Note(index * 4, 4, (pitch,)) for index, pitch in enumerate((61, 63, 65, 66))]
    song = compose("a lullaby", lyrics="Twinkle, little star", seed=1)
    tied = piano("C", 2, Note(3, 18, (60, 64)), Note(26, 5, (67,)))
    read = read_musicxml(tmp_path, piano("C# major", 1, *steps), piano("Db", 1, *steps), tied, song)
    sharp, flat, across, sung = (each["parts"][0] for each in read)
    assert sharp["letters"] == ["C#", "D#", "E#", "F#"]
    assert flat["letters"] == ["D-", "E-", "F", "G-"]
    assert (across["incomplete"], across["sounding"]) == ([], [[3.0, [60, 64]], [26.0, [67]]])
    assert [text for text, _ in sung["lyrics"]] == ["Twin", "kle,", "lit", "tle", "star"]
    assert [syllabic for _, syllabic in sung["lyrics"]] == ["begin", "end", "begin", "end", "single"]
    assert read[0]["title"] == "A & <b>"


def test_midi_has_lyrics():
    song = compose("a lullaby", lyrics="Twinkle, little \ud800star", seed=1)
    lyrics = [message.text for track in read_midi(song).tracks for message in track if message.type == "lyrics"]
    assert lyrics == ["Twin-", "kle,", "lit-", "tle", "?star"]
