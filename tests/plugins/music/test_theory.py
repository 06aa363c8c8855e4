"""Keys, chords, meters and syllables."""

from __future__ import annotations

import pytest

from abstractcore import InvalidInputError
from abstractmusic import Chord, Key, Meter
from abstractmusic.composing.syllables import syllables_of


@pytest.mark.parametrize(
    ("text", "name", "fifths"),
    [
        ("C", "C major", 0),
        ("f#m", "F# minor", 3),
        ("Bb major", "Bb major", -2),
        ("B flat minor", "Bb minor", -5),
        ("D dorian", "D dorian", 0),
        ("e♭ Minor", "Eb minor", -6),
        ("C sharp", "C# major", 7),
        ("G-mixolydian", "G mixolydian", 0),
    ],
)
def test_key_is_read(text: str, name: str, fifths: int):
    key = Key.parse(text)
    assert (key.name, key.fifths) == (name, fifths)


@pytest.mark.parametrize("text", ["", "H major", "C blue", "C" * 10_000, "majorminor", "C#b minor"])
def test_text_that_names_no_key_is_refused(text: str):
    with pytest.raises(InvalidInputError, match="no key is called") as caught:
        Key.parse(text)
    assert caught.value.path == "key"


def test_key_of_too_many_sharps_is_refused_with_its_other_name():
    with pytest.raises(InvalidInputError, match="G# major has more than seven") as caught:
        Key.parse("G# major")
    assert caught.value.hint == "Write Ab major."


@pytest.mark.parametrize(
    ("key", "pitch", "spelled"),
    [
        ("C major", 60, ("C", 0, 4)),
        ("D major", 66, ("F", 1, 4)),
        ("Db major", 66, ("G", -1, 4)),
        ("A minor", 68, ("G", 1, 4)),
        ("C major", 70, ("B", -1, 4)),
        ("F# major", 65, ("E", 1, 4)),
        ("Gb major", 59, ("C", -1, 4)),
        ("C# minor", 72, ("B", 1, 4)),
    ],
)
def test_pitch_is_spelled_as_the_key_writes_it(key: str, pitch: int, spelled: tuple[str, int, int]):
    assert Key.parse(key).spelled(pitch) == spelled


@pytest.mark.parametrize(
    ("symbol", "classes", "lowest"),
    [
        ("C", (0, 4, 7), 0),
        ("Am7", (9, 0, 4, 7), 9),
        ("F#dim", (6, 9, 0), 6),
        ("Bb/D", (10, 2, 5), 2),
        ("Gsus4", (7, 0, 2), 7),
        ("Cmaj7", (0, 4, 7, 11), 0),
        ("Dm7b5", (2, 5, 8, 0), 2),
        ("C6/9", (0, 4, 7, 9), 0),
    ],
)
def test_chord_symbol_is_read(symbol: str, classes: tuple[int, ...], lowest: int):
    chord = Chord.parse(symbol)
    assert chord is not None
    assert (chord.pitch_classes, chord.lowest) == (classes, lowest)


@pytest.mark.parametrize("symbol", ["", "H", "Cfoo", "N.C.", "C/X"])
def test_other_texts_are_no_chords(symbol: str):
    assert Chord.parse(symbol) is None


@pytest.mark.parametrize(
    ("degree", "key", "symbol"),
    [
        ("I", "C major", "C"),
        ("vi", "G major", "Em"),
        ("V", "A minor", "E"),
        ("VII", "A minor", "G"),
        ("bVII", "C major", "Bb"),
        ("V7/V", "C major", "D7"),
        ("iiø7", "C minor", "Dm7b5"),
        ("viio", "D major", "C#dim"),
    ],
)
def test_degree_of_a_key(degree: str, key: str, symbol: str):
    assert Chord.of_degree(degree, Key.parse(key)).symbol(Key.parse(key)) == symbol


@pytest.mark.parametrize(
    ("text", "bar", "beats"),
    [
        ("4/4", 16, (4, 4, 4, 4)),
        ("3/4", 12, (4, 4, 4)),
        ("6/8", 12, (6, 6)),
        ("7/8", 14, (4, 4, 6)),
        ("2/2", 16, (8, 8)),
    ],
)
def test_meter_has_beats(text: str, bar: int, beats: tuple[int, ...]):
    meter = Meter.parse(text)
    assert (meter.bar, meter.beats, meter.name) == (bar, beats, text)


@pytest.mark.parametrize("text", ["", "4", "4/5", "0/4", "13/8", "99/4", "4/4/4"])
def test_impossible_meters_are_refused(text: str):
    with pytest.raises(InvalidInputError):
        Meter.parse(text)


@pytest.mark.parametrize(
    ("line", "syllables"),
    [
        ("Twinkle, twinkle, little star", "Twin- kle, twin- kle, lit- tle star"),
        ("How I wonder what you are", "How I won- der what you are"),
        ("time loved wanted stones boxes", "time loved wan- ted stones bo- xes"),
        ("yellow sky", "yel- low sky"),
        ("你好", "你好"),
    ],
)
def test_line_is_divided_into_syllables(line: str, syllables: str):
    assert " ".join(syllables_of(line)) == syllables
