"""`llm.music` as users call it: a model that writes a score, rules, files and warnings, sync and async."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from abstractcore import (
    ArtifactError,
    AudioPart,
    Blob,
    CallProgress,
    DocumentPart,
    InvalidInputError,
    OutputValidationError,
    RateLimitError,
    RequestTimeoutError,
    create_llm,
)
from abstractcore.testing import CallStyle
from abstractmusic.composing import MOODS
from tests.backend_doubles import call
from tests.plugins.music.sheets import sheet

Composers = Callable[..., Any]
mido: Any = import_module("mido")


def midi_of(part: Any) -> Any:
    return mido.MidiFile(file=io.BytesIO(part.blob.read()))


def wav_seconds(part: Any) -> float:
    with wave.open(io.BytesIO(part.blob.read())) as file:
        return file.getnframes() / file.getframerate()


def test_model_writes_the_score(call_style: CallStyle, composer: Composers):
    result = call(call_style, composer(sheet()).music, "t2m", "a sad song", format="midi", seconds=24.0)
    assert (result.backend, result.model) == ("abstractmusic:score", "scripted/scripted")
    assert (result.metadata["title"], result.metadata["key"], result.metadata["by_rules"]) == (
        "Rain", "A minor", ["chords", "pad"],
    )  # fmt: skip
    assert (result.warnings, result.metadata["repairs"]) == ((), [])
    notes = [message.note for track in midi_of(result.part).tracks for message in track if message.type == "note_on"]
    assert {76, 74, 72, 69} <= set(notes)


def test_model_is_asked_with_the_description(composer: Composers):
    llm = composer(sheet())
    llm.music.t2m("a sad song about rain", format="midi", seconds=24.0, key="A minor")
    assert "a sad song about rain" in llm.calls[0].messages[0].text
    assert "The key is A minor." in llm.calls[0].messages[0].text


@pytest.mark.parametrize("reply", ["I am no composer.", '{"title": "x"}', sheet(sections=[]), RateLimitError("slow")])
def test_rules_compose_where_the_model_cannot(call_style: CallStyle, composer: Composers, reply: Any):
    llm = composer(*[reply] * 6, max_retries=0)
    result = call(call_style, llm.music, "t2m", "a sad waltz", format="midi", seconds=5.0)
    assert (result.model, result.metadata["composer"]) == ("rules", "rules")
    (warning,) = result.warnings
    assert (warning.code, warning.path) == ("composed_by_rules", "composer")


@pytest.mark.parametrize("reply", ["I am no composer.", sheet(sections=[])])
def test_model_that_must_compose_and_cannot_is_an_error(composer: Composers, reply: str):
    with pytest.raises(OutputValidationError):
        composer(*[reply] * 6, music_composer="model").music.t2m("a sad waltz", format="midi")


def test_rules_compose_without_asking_the_model(call_style: CallStyle, composer: Composers):
    llm = composer(music_backend="rules")
    result = call(call_style, llm.music, "t2m", "a sad waltz", seconds=5.0, seed=1)
    assert wav_seconds(result.part) == pytest.approx(5, abs=0.01)
    assert result.metadata["understood"] == ["sad", "waltz"]
    assert (result.warnings, llm.calls, result.cost) == ((), [], 0)


def test_embedded_model_is_not_asked():
    result = create_llm(music_backend="score").music.t2m("a sad waltz", format="midi", seconds=5.0)
    assert (result.model, result.warnings) == ("rules", ())


def test_prompt_without_a_known_word_is_a_warning(composer: Composers):
    (warning,) = composer(music_backend="rules").music.t2m("xyz", format="midi", seconds=5.0).warnings
    assert (warning.code, warning.path) == ("prompt_not_understood", "prompt")


def test_further_files_follow_the_sound(composer: Composers, tmp_path: Path):
    llm = composer(music_backend="rules")
    result = llm.music.t2m("a happy tune", format="flac", seconds=4.0, also=["midi", "musicxml", "stems"])
    sound, midi, score, *stems = result.parts
    assert [type(part) for part in (sound, midi, score)] == [AudioPart, AudioPart, DocumentPart]
    assert [part.blob.media_type for part in (sound, midi, score)] == [
        "audio/flac", "audio/midi", "application/vnd.recordare.musicxml+xml",
    ]  # fmt: skip
    assert len(stems) == len(result.metadata["voices"])
    assert {part.blob.media_type for part in stems} == {"audio/flac"}
    assert score.save(tmp_path).suffix == ".musicxml"
    assert result.save(tmp_path / "song.flac").read_bytes()[:4] == b"fLaC"


@pytest.mark.parametrize(
    ("format", "head"), [("wav", b"RIFF"), ("flac", b"fLaC"), ("mp3", b"ID3"), ("opus", b"OggS"), ("midi", b"MThd")]
)
def test_file_is_of_the_format(composer: Composers, format: str, head: bytes):
    content = composer(music_backend="rules").music.t2m("a tune", format=format, seconds=2.0).part.blob.read()
    assert content.startswith(head)


def test_lyrics_are_in_the_score_and_not_in_the_sound(composer: Composers):
    llm = composer(music_backend="rules")
    (warning,) = llm.music.t2m("a lullaby", lyrics="Sleep well", seconds=4.0).warnings
    assert (warning.code, warning.path) == ("lyrics_not_sung", "lyrics")
    assert llm.music.t2m("a lullaby", lyrics="Sleep well", seconds=4.0, format="musicxml").warnings == ()


def test_bar_longer_than_the_time_is_a_warning(composer: Composers):
    result = composer(music_backend="rules").music.t2m("a tune", seconds=3.0, tempo=30)
    (warning,) = [each for each in result.warnings if each.path == "seconds"]
    assert (warning.requested, warning.sent) == (3.0, 8.0)
    assert wav_seconds(result.part) == pytest.approx(8.4, abs=0.01)


def test_progress_is_reported_by_voices(composer: Composers):
    seen: list[CallProgress] = []
    result = composer(music_backend="rules").music.t2m("a happy tune", seconds=3.0, on_progress=seen.append)
    voices = len(result.metadata["voices"])
    assert [(each.done, each.total, each.what) for each in seen] == [(n, voices, "voices") for n in range(voices + 1)]


@pytest.mark.parametrize("mood", sorted(MOODS))
def test_every_mood_sounds(composer: Composers, mood: str):
    result = composer(music_backend="rules").music.t2m("a tune", seconds=2.0, mood=mood)
    assert result.metadata["moods"][0] == mood
    assert wav_seconds(result.part) >= 2.0


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"prompt": "la " * 400_000}, "prompt"),
        ({"lyrics": "la " * 400_000}, "lyrics"),
        ({"format": "aiff"}, "format"),
        ({"also": ["pdf"]}, "also"),
        ({"seconds": 1e6}, "seconds"),
        ({"tempo": 1e6}, "tempo"),
        ({"key": "H"}, "key"),
        ({"meter": "4/5"}, "meter"),
        ({"mood": "hapy"}, "mood"),
    ],
)
def test_impossible_wishes_are_refused_before_the_model_is_asked(
    call_style: CallStyle, composer: Composers, options: dict[str, Any], path: str
):
    llm = composer(sheet())
    given = {"prompt": "a tune", **options}
    with pytest.raises(InvalidInputError) as caught:
        call(call_style, llm.music, "t2m", given.pop("prompt"), **given)
    assert (caught.value.path, llm.calls) == (path, [])


def test_unknown_composer_is_refused(composer: Composers):
    with pytest.raises(InvalidInputError, match="no composer is called 'mozart'"):
        composer(music_composer="mozart").music.t2m("a tune")


def test_empty_prompt_is_refused(composer: Composers):
    with pytest.raises(InvalidInputError):
        composer(sheet()).music.t2m(" ")


def test_soundfont_that_cannot_be_read_is_refused(composer: Composers, tmp_path: Path):
    llm = composer(music_backend="rules", music_soundfont=str(tmp_path / "none.sf2"))
    with pytest.raises(InvalidInputError, match=r"none\.sf2 cannot be read"):
        llm.music.t2m("a tune", seconds=2.0)


def test_full_disk_is_a_typed_error_and_leaves_nothing(composer: Composers):
    class Full:
        def put(self, data: bytes, media_type: str, name: str | None = None) -> Blob:
            raise ArtifactError("No space left on device.")

        def get(self, sha256: str) -> bytes:
            raise ArtifactError("not found")

    with pytest.raises(ArtifactError, match="No space left"):
        composer(music_backend="rules").music.t2m("a tune", seconds=2.0, artifact_store=Full())


def test_time_limit_ends_a_call(call_style: CallStyle, composer: Composers):
    with pytest.raises(RequestTimeoutError):
        call(call_style, composer(music_backend="rules").music, "t2m", "a tune", seconds=600.0, timeout=0.01)
