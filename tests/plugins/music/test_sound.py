"""Sound: its length, level, tempo and key, as librosa hears them, and the instruments of the SoundFont in tune."""

from __future__ import annotations

import io
import wave
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from abstractcore import InvalidInputError
from abstractmusic import INSTRUMENTS, Key, Meter, Note, Score, Voice, compose, sound_of
from abstractmusic.composing.drums import drum_notes
from abstractmusic.playing import AUDIO_TYPES, BUILT_IN, RATE, encoded

av: Any = import_module("av")
librosa: Any = import_module("librosa")
np: Any = import_module("numpy")
HEARD = (
    ("a happy pop tune", None),
    ("a romantic waltz", None),
    ("an irish jig in D major", None),
    ("jazz in D minor at 120 bpm", None),
    ("energetic rock", "F# minor"),
    ("electronic dance", "Bb major"),
    ("epic battle", "C minor"),
    ("sad solo piano", "E minor"),
    ("classical sonata", "G major"),
)
"""Prompts and keys. Twice and half of a tempo are the same beat on another level."""
# Krumhansl and Kessler (1982), "Tracing the dynamic changes in perceived tonal organization".
MAJOR = (6.35, 2.23, 3.48, 2.33, 4.38, 4.09, 2.52, 5.19, 2.39, 3.66, 2.29, 2.88)
MINOR = (6.33, 2.68, 3.52, 5.38, 2.60, 3.53, 2.54, 4.75, 3.98, 2.69, 3.34, 3.17)


def heard_key(samples: Any) -> tuple[int, bool]:
    """The tonic's pitch class, and whether the key is minor, by the profile nearest to the pitch classes heard."""
    harmonic = librosa.effects.harmonic(samples, hop_length=1024, kernel_size=15)
    chroma = librosa.feature.chroma_cqt(y=harmonic, sr=22050, bins_per_octave=36, hop_length=1024, tuning=0.0).mean(1)
    fits = {
        (tonic, is_minor): np.corrcoef(np.roll(profile, tonic), chroma)[0, 1]
        for is_minor, profile in ((False, MAJOR), (True, MINOR))
        for tonic in range(12)
    }
    return max(fits, key=lambda key: fits[key])


@pytest.mark.exhaustive
@pytest.mark.process
@pytest.mark.parametrize(("prompt", "key"), HEARD)
def test_tempo_and_key_are_heard(prompt: str, key: str | None):
    score = compose(prompt, key=key, seed=1)
    sound = sound_of(score, seconds=30)
    assert sound.seconds == pytest.approx(30, abs=0.01)
    assert 0.5 < np.abs(sound.mix).max() < 0.9
    samples = librosa.resample(sound.mix.mean(0), orig_sr=RATE, target_sr=22050)
    tempo = float(librosa.feature.tempo(y=samples, sr=22050)[0])
    assert min(abs(tempo * factor / score.tempo - 1) for factor in (0.5, 1, 2)) < 0.04
    assert heard_key(samples) == (score.key.pitch_class, score.key.is_minor)


def test_stems_add_up_to_the_mix():
    score = compose("a happy pop tune", seconds=6, seed=1)
    sound = sound_of(score, stems=True)
    assert list(sound.stems) == [voice.name for voice in score.voices]
    assert np.abs(sum(sound.stems.values()) - sound.mix).max() < 1e-5
    assert all(np.abs(stem).max() > 0.01 for stem in sound.stems.values())


def test_same_score_sounds_the_same_and_without_stems():
    score = compose("calm piano", seconds=5, seed=1)
    assert np.array_equal(sound_of(score).mix, sound_of(score, stems=True).mix)


def test_end_fades_out():
    sound = sound_of(compose("energetic rock", seconds=6, seed=1), seconds=6)
    assert np.abs(sound.mix[:, -200:]).max() < 0.001


@pytest.mark.parametrize("format", AUDIO_TYPES)
def test_encoded_file_has_the_sound_without_clipping(format: str):
    sound = sound_of(compose("energetic rock", seconds=6, seed=1), seconds=6)
    file = encoded(sound.mix, RATE, format)
    with av.open(io.BytesIO(file)) as container:
        frames = [frame.to_ndarray() for frame in container.decode(audio=0)]
        (stream,) = container.streams
        assert stream.channels == 2
        rate = stream.rate
    whole = np.concatenate([frame if frame.shape[0] == 2 else frame.reshape(-1, 2).T for frame in frames], axis=1)
    level = np.abs(whole.astype(float)).max() / (32768 if whole.dtype == np.int16 else 1)
    assert 0.7 < level < 1.0
    assert whole.shape[1] / rate == pytest.approx(6, abs=0.1)
    if format in ("wav", "flac"):
        assert np.abs(whole.astype(float) / 32767 - sound.mix).max() < 1e-4


def test_wav_is_read_by_the_standard_library():
    sound = sound_of(compose("calm piano", seconds=3, seed=1), seconds=3)
    with wave.open(io.BytesIO(encoded(sound.mix, RATE, "wav"))) as file:
        assert (file.getnchannels(), file.getframerate(), file.getnframes()) == (2, RATE, 3 * RATE)


def test_unknown_format_is_refused():
    with pytest.raises(InvalidInputError, match="no format is called 'aiff'"):
        encoded(np.zeros((2, 10), np.float32), RATE, "aiff")


def score_of(instrument: str, note: Note) -> Score:
    return Score("", Key("C"), Meter(), 60, 1, (Voice(instrument, instrument, (note,)),))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [name for name in INSTRUMENTS if name != "drums"])
def test_instrument_is_in_tune(name: str):
    player = INSTRUMENTS[name]
    for pitch in range(player.lowest, player.highest + 1, 5):
        sound = sound_of(score_of(name, Note(0, 4, (pitch,), 100)), seconds=1.0, room=0.1)
        assert np.sqrt((sound.mix**2).mean()) > 0.02
        assert abs(cents_off(sound.mix.sum(0)[3000:36000], float(librosa.midi_to_hz(pitch)))) < 45


def cents_off(samples: Any, frequency: float) -> float:
    """How far the strongest of the first partials is from its place."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(samples.size), 1 << 19))
    partials: list[tuple[float, float]] = []
    for partial in range(1, 7):
        first, last = (int(frequency * partial * 2 ** (cents / 1200) * (1 << 19) / RATE) for cents in (-90, 90))
        place = first + int(np.argmax(spectrum[first : last + 1]))
        partials.append((spectrum[place], 1200 * np.log2(place * RATE / (1 << 19) / frequency / partial)))
    return max(partials)[1]


@pytest.mark.parametrize("beat", ["rock", "dance", "lofi", "swing", "light", "march", "epic", "bossa"])
def test_every_drum_of_a_beat_sounds(beat: str):
    notes = drum_notes(beat, Meter(), 0, 90, fills=True, crashes=True)
    for drum in {pitch for note in notes for pitch in note.pitches}:
        sound = sound_of(score_of("drums", Note(0, 1, (drum,), 100)), seconds=0.5, room=0.1)
        assert np.sqrt((sound.mix**2).mean()) > 0.01


def test_soundfont_of_the_user_is_used(tmp_path: Path):
    font = tmp_path / "mine.sf2"
    font.write_bytes(BUILT_IN.read_bytes())
    score = compose("calm piano", seconds=3, seed=1)
    assert np.array_equal(sound_of(score, soundfont=font).mix, sound_of(score).mix)


@pytest.mark.parametrize("content", [None, b"", b"RIFF", b"RIFF\0\0\0\0WAVEfmt "])
def test_other_files_are_no_soundfonts(content: bytes | None, tmp_path: Path):
    font = tmp_path / "no.sf2"
    if content is not None:
        font.write_bytes(content)
    with pytest.raises(InvalidInputError) as caught:
        sound_of(compose("calm piano", seconds=3, seed=1), soundfont=font)
    assert caught.value.path == "music_soundfont"


def test_soundfont_is_the_one_whose_origin_is_known():
    assert sha256(BUILT_IN.read_bytes()).hexdigest() == (
        "080cfef26902f0c2cc2261f6ab588298d3d9b26de3612660ac579233ced8f50e"
    )
    notice = (BUILT_IN.parent / "NOTICE").read_text("ascii")
    assert "Copyright (c) 2004-2009 Sonic Network Inc." in notice
    assert "Apache License" in (BUILT_IN.parent / "LICENSE").read_text("ascii")
