"""Transcripts: every word once, with its time; what has no words is listed. With the default model unless said."""

from __future__ import annotations

import io
import math
import random
import re
import wave
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstractcore import LLM, File, Services, create_llm
from abstractcore.errors import InvalidInputError, MediaError, StreamInterruptedError
from abstractcore.ports import Interruption, MediaContext, ModelStore
from abstractcore.schema import AudioPart, Blob, FrozenDict, MediaControls, MediaPart
from abstractcore_media import AudioHandler
from abstractcore_media.audio.options import RecognitionOptions
from abstractcore_media.audio.pauses import SpeechPiece, speech_pieces
from abstractcore_media.audio.sound import SAMPLE_RATE, SoundReader
from abstractcore_media.audio.speech import find_speech
from tests.media.parts import EXAMPLES, FILES, sound

MEETING = EXAMPLES / "meeting.wav"
SAID = ["good", "morning", "the", "meeting", "starts", "at", "nine", "thirty", "on", "tuesday", "in", "room", "twelve",
        "please", "bring", "the", "budget", "report", "and", "two", "copies", "of", "the", "contract"]  # fmt: skip
NUMBERS = {"9.30": "nine thirty", "9:30": "nine thirty", "930": "nine thirty", "12": "twelve", "2": "two"}
TINY = FrozenDict({"transcription_model": "whisper-tiny.en"})


@pytest.fixture(scope="module")
def handler() -> AudioHandler:
    return AudioHandler()


def said(text: str) -> list[str]:
    """The words, without times, with numbers as words."""
    text = re.sub(r"^\[[\d:]+\] ", "", text.lower(), flags=re.MULTILINE)
    words = (word.strip(".,") for word in text.split())
    return [word for each in words for word in NUMBERS.get(each, each).split()]


def wav_of(samples: Any) -> MediaPart:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, SAMPLE_RATE, 0, "NONE", ""))
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return AudioPart(Blob.from_bytes(out.getvalue(), "audio/wav", name="made.wav"))


def meeting() -> Any:
    return np.concatenate(list(SoundReader(sound(MEETING), 60).blocks()))


def quiet(seconds: float) -> Any:
    return np.zeros(int(seconds * SAMPLE_RATE), dtype=np.float32)


def noise(seconds: float) -> Any:
    return np.random.default_rng(7).normal(0, 0.1, int(seconds * SAMPLE_RATE)).astype(np.float32)


def music(seconds: int) -> Any:
    """A chord a second, that fades."""
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    chords = [(262, 330, 392), (220, 262, 330), (175, 220, 262), (196, 247, 294)]
    beats = [sum(np.sin(2 * math.pi * tone * time) for tone in chord) for chord in chords]
    return np.concatenate([0.15 * beats[n % 4] * np.exp(-3 * time) for n in range(seconds)]).astype(np.float32)


@pytest.mark.weights
def test_meeting_is_transcribed_without_a_wrong_word(handler: AudioHandler, models: ModelStore):
    conversion = handler.convert(sound(MEETING), MediaContext(models))
    assert said(conversion.text) == SAID
    assert conversion.text.startswith("[00:00] Good morning")
    assert (conversion.model, conversion.lost, conversion.warnings) == ("whisper-base", (), ())
    for anchor, line in zip(conversion.anchors, conversion.text.splitlines(), strict=True):
        assert conversion.text[anchor.start : anchor.end] == line.partition("] ")[2]
    begins = [anchor.seconds[0] for anchor in conversion.anchors if anchor.seconds]
    assert begins[0] < 0.5
    assert 3 < begins[-1] < 4.5


@pytest.mark.weights
def test_language_is_detected(handler: AudioHandler, models: ModelStore):
    conversion = handler.convert(sound(FILES / "french.flac", "audio/flac"), MediaContext(models))
    assert "dictée" in conversion.text


@pytest.mark.weights
def test_words_have_times_of_their_own(handler: AudioHandler, models: ModelStore):
    options = FrozenDict({**TINY, "transcription_words": True, "transcription_terms": ["contract"]})
    conversion = handler.convert(sound(MEETING), MediaContext(models, options))
    times = {conversion.text[each.start : each.end].strip(".,"): each.seconds for each in conversion.anchors}
    assert len(conversion.anchors) > 20
    assert times["morning"][0] < times["Tuesday"][0] < times["budget"][0] < times["contract"][0]
    assert times["contract"][1] <= 7.1


@pytest.mark.weights
def test_long_recording_is_split_at_pauses_and_no_word_is_lost_or_doubled(handler: AudioHandler, models: ModelStore):
    chance = random.Random(13)
    times = 5
    parts = [item for _ in range(times) for item in (meeting(), quiet(chance.uniform(0.4, 6)))]
    once = said(handler.convert(wav_of(meeting()), MediaContext(models, TINY)).text)
    conversion = handler.convert(wav_of(np.concatenate(parts)), MediaContext(models, TINY))
    for word in ("meeting", "tuesday", "budget", "contract", "morning"):
        assert said(conversion.text).count(word) == times
    assert len(said(conversion.text)) == times * len(once)
    begins = [each.seconds[0] for each in conversion.anchors if each.seconds]
    assert begins == sorted(begins)
    start = sum(len(each) for each in parts[:-2]) / SAMPLE_RATE
    last = conversion.text.rindex("Good")
    anchor = next(each for each in conversion.anchors if each.start <= last < each.end)
    assert anchor.seconds
    assert anchor.seconds[0] == pytest.approx(start, abs=1.0)
    assert all("silence" in place for loss in conversion.lost for place in loss.places)


@pytest.mark.exhaustive
@pytest.mark.parametrize("max_bytes", [10 * 32_000, float("inf")])
def test_pieces_are_within_both_limits_and_have_each_sample_of_speech_once(max_bytes: float):
    recording = np.concatenate([item for _ in range(40) for item in (meeting(), quiet(1))])
    blocks = np.array_split(recording, 97)
    pieces = list(speech_pieces(blocks, find_speech, max_seconds=28, max_bytes=max_bytes))
    spans = [span for piece in pieces for span in piece.spans]
    assert all(start + length <= after for (start, length), (after, _) in pairwise(spans))
    for piece in pieces:
        assert len(piece.samples) <= min(28 * SAMPLE_RATE, max_bytes / 2)
        taken = np.concatenate([recording[start : start + length] for start, length in piece.spans])
        assert np.array_equal(piece.samples, taken)
    loud = np.flatnonzero(np.abs(recording) > 0.1)
    covered = np.zeros(len(recording), dtype=bool)
    for start, length in spans:
        covered[start : start + length] = True
    assert covered[loud].mean() > 0.999


def test_times_in_a_piece_are_those_of_the_recording():
    """Speech at 1 to 3 and at 10 to 12 seconds."""
    rate = SAMPLE_RATE
    piece = SpeechPiece(quiet(4), ((rate, 2 * rate), (10 * rate, 2 * rate)))
    assert piece.times(0, 2) == (1, 3)
    assert piece.times(0.5, 2.2) == (1.5, 3)  # the second word begins later
    assert piece.times(1.8, 3) == (10, 11)
    assert piece.times(1, 3) == (2, 11)
    assert piece.times(3, 9) == (11, 12)
    assert piece.parts_between(2, 11) == [(2, 3), (10, 11)]


@pytest.mark.weights
@pytest.mark.parametrize("content", [quiet(5), noise(5), music(5)], ids=["silence", "noise", "music"])
def test_recording_without_speech_is_refused(handler: AudioHandler, models: ModelStore, content: Any):
    with pytest.raises(MediaError, match=r"No speech was found in made.wav \(5.0 s\)"):
        handler.convert(wav_of(content), MediaContext(models))


@pytest.mark.weights
def test_what_has_no_words_is_listed_with_its_times(handler: AudioHandler, models: ModelStore):
    recording = np.concatenate([quiet(6), meeting(), noise(8), music(6), meeting()])
    conversion = handler.convert(wav_of(recording), MediaContext(models, TINY))
    assert said(conversion.text).count("contract") == 2
    (loss,) = conversion.lost
    assert loss.what == "seconds"
    assert loss.total == pytest.approx(len(recording) / SAMPLE_RATE, abs=0.1)
    assert loss.count == pytest.approx(20, abs=3)
    assert re.fullmatch(r"00:00-00:0\d \(silence\)", loss.places[0])
    assert all("no speech" in place for place in loss.places[1:])


@pytest.mark.weights
def test_sound_of_bunny_has_no_words(handler: AudioHandler, models: ModelStore):
    """Voice activity is found in its music: the gates of the transcript refuse it."""
    part = AudioPart(Blob.from_file(EXAMPLES / "bunny.mp4", "audio/mp4"))
    with pytest.raises(MediaError, match="No speech"):
        handler.convert(part, MediaContext(models, TINY))


@pytest.mark.weights
def test_only_the_given_seconds_are_transcribed(handler: AudioHandler, models: ModelStore):
    part = AudioPart(Blob.from_file(MEETING, "audio/wav"), controls=MediaControls(start=3.7))
    conversion = handler.convert(part, MediaContext(models, TINY))
    assert "Tuesday" not in conversion.text
    assert conversion.text.startswith("[00:03] ")
    assert "contract" in conversion.text


@pytest.mark.weights
def test_start_behind_the_end_names_both(handler: AudioHandler, models: ModelStore):
    part = AudioPart(Blob.from_file(MEETING, "audio/wav"), controls=MediaControls(start=60))
    with pytest.raises(MediaError, match=r"no audio from 60 seconds on: it ends at 7\.1\."):
        handler.convert(part, MediaContext(models, TINY))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transcription_language": "klingon!"}, "transcription_language: expected a language code"),
        ({"transcription_language": f"en{'_a' * 40}!"}, "transcription_language: expected a language code"),
        ({"transcription_terms": "Kubernetes"}, "transcription_terms: expected a list of texts"),
        ({"transcription_words": 1}, "transcription_words: expected True or False"),
        ({"transcription_model": 7}, "transcription_model: expected a model name, got 7"),
    ],
)
def test_invalid_options_are_named(options: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        RecognitionOptions.of(options)


@pytest.mark.weights
def test_language_that_the_model_does_not_know_is_refused(handler: AudioHandler, models: ModelStore):
    options = FrozenDict({**TINY, "transcription_language": "fr-CA"})
    with pytest.raises(InvalidInputError, match=r"whisper-tiny.en does not know the language 'fr'.*whisper-base"):
        handler.convert(sound(MEETING), MediaContext(models, options))


@pytest.mark.weights
def test_cancelled_call_ends_the_transcription(handler: AudioHandler, models: ModelStore):
    interruption = Interruption()
    interruption.set()
    with interruption.of_this_call(), pytest.raises(StreamInterruptedError):
        handler.convert(sound(MEETING), MediaContext(models, TINY))


@pytest.mark.weights
def test_time_limit_of_the_call_ends_the_transcription(handler: AudioHandler, models: ModelStore):
    with pytest.raises(MediaError, match=r"within the time limit.*timeout"):
        handler.convert(sound(MEETING), MediaContext(models, TINY, timeout=-1.0))


def test_playlist_opens_no_other_file(tmp_path: Path):
    """FFmpeg's own formats for lists of files would read any file of this machine."""
    for content in (f"#EXTM3U\n#EXTINF:7,\n{MEETING}\n", f"ffconcat version 1.0\nfile {MEETING}\n"):
        part = AudioPart(Blob.from_bytes(content.encode(), "audio/mp4", name="list.m4a"))
        with pytest.raises(MediaError, match="cannot be decoded"):
            list(SoundReader(part, 60).blocks())


def test_file_that_changed_after_it_was_added_is_refused(tmp_path: Path):
    path = tmp_path / "a.wav"
    path.write_bytes(MEETING.read_bytes())
    part = sound(path)
    path.write_bytes(MEETING.read_bytes()[:100_000])
    with pytest.raises(MediaError, match="has changed"):
        list(SoundReader(part, 60).blocks())


@pytest.mark.process
@pytest.mark.weights
def test_transcript_reaches_a_model_that_takes_no_sound(call_style: Any, models: Any):
    services = Services(models=models, environment={})
    options = {"transcription_model": "whisper-tiny.en", "transcription_terms": ["budget"], "services": services}
    llm: LLM = create_llm("scripted", replies=["At 9:30."], **options)
    response = call_style.generate(llm, "When?", media=[File(MEETING, start=0, end=3.8)])
    (decision,) = response.media
    assert (decision.route, decision.fallback, decision.model) == ("fallback", "transcript", "whisper-tiny.en")
    assert decision.sent.text.startswith("[00:00] Good morning")
    assert "contract" not in decision.sent.text
    assert decision.sent.anchors
    services.close()
