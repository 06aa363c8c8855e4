"""Audio, transcribed by a real model; durations are those of ffprobe 5.1."""

import io
import math
import os
import re
import struct
import subprocess
import sys
import threading
import wave
from array import array
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstractcore.errors import InvalidInputError, MediaError, MissingExtraError, ModelStoreError
from abstractcore.ports import MediaContext, ModelStore
from abstractcore.schema import AudioPart, Blob, FrozenDict, ImagePart, MediaPart, VideoPart
from abstractcore_media import AudioHandler
from abstractcore_media.audio.sound import SoundReader
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, NoModels, sound, takes, type_of

MEETING = EXAMPLES / "meeting.wav"
SPOKEN = {"good", "morning", "the", "meeting", "starts", "at", "on", "tuesday", "room", "please", "bring", "budget",
          "report", "two", "copies", "of", "contract"}  # fmt: skip


def wav(samples: list[float], rate: int = 8000) -> bytes:
    """One channel of 16 bits."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(array("h", [int(32767 * sample) for sample in samples]).tobytes())
    return out.getvalue()


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(struct.pack("<4sI", name, len(data)) + data for name, data in chunks)
    return struct.pack("<4sI4s", b"RIFF", len(body) + 4, b"WAVE") + body


SILENCE = wav([0.0] * 16_000)
FLOAT_FORMAT = struct.pack("<HHIIHH", 3, 1, 8000, 32_000, 4, 32)


@pytest.fixture(scope="session")
def handler() -> AudioHandler:
    """One for all, so that the model is loaded once."""
    return AudioHandler()


@pytest.fixture
def context(models: ModelStore) -> MediaContext:
    """With the quickest model."""
    return MediaContext(models, FrozenDict({"transcription_model": "whisper-tiny.en"}))


def read(part: MediaPart, seconds: float = 60) -> tuple[SoundReader, Any]:
    reader = SoundReader(part, seconds)
    return reader, np.concatenate(list(reader.blocks()))


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


@pytest.mark.smoke
@pytest.mark.weights
def test_recording_is_transcribed(handler: AudioHandler, context: MediaContext):
    conversion = handler.convert(sound(MEETING), context)
    assert words(conversion.text) >= SPOKEN
    assert "12" in conversion.text
    assert re.search(r"9[.:]?30", conversion.text)
    assert (conversion.label, conversion.warnings, conversion.lost) == ("transcript", (), ())
    assert conversion.model == "whisper-tiny.en"


@pytest.mark.weights
def test_transcription_is_deterministic(handler: AudioHandler, context: MediaContext):
    first, second = (handler.convert(sound(MEETING), context) for _ in range(2))
    assert first == second


@pytest.mark.weights
@pytest.mark.parametrize(
    ("file", "media_type"), [("speech.mp3", "audio/mpeg"), ("speech.m4a", "audio/mp4"), ("speech.webm", "audio/webm")]
)
def test_compressed_audio_is_transcribed(handler: AudioHandler, context: MediaContext, file: str, media_type: str):
    conversion = handler.convert(sound(FILES / file, media_type), context)
    assert words(conversion.text) >= {"meeting", "tuesday", "budget", "report", "contract"}
    assert conversion.warnings == ()


@pytest.mark.parametrize(
    ("path", "seconds"),
    [
        (MEETING, 7.059),
        (FILES / "speech.flac", 1.5),
        (FILES / "speech.m4a", 7.059),
        (FILES / "speech.mp3", 7.164),
        (FILES / "speech.ogg", 7.059),
        (FILES / "speech.webm", 7.066),
        (FILES / "clip.mp4", 1.0),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_decoded_duration_matches_ffprobe(path: Path, seconds: float):
    reader, samples = read(sound(path))
    assert reader.seconds == pytest.approx(seconds, abs=0.15)
    assert reader.announced == pytest.approx(seconds, abs=0.15)
    assert len(samples) == round(reader.seconds * 16_000)
    assert abs(samples).max() <= 1


@pytest.mark.weights
@pytest.mark.parametrize(
    "content", [SILENCE, wav([0.3 * math.sin(n / 3) for n in range(16_000)])], ids=["silence", "tone"]
)
def test_audio_without_speech_is_refused(handler: AudioHandler, context: MediaContext, content: bytes):
    with pytest.raises(MediaError, match=r"No speech was found in the-file \(2.0 s\).*accepts audio"):
        handler.convert(sound(content), context)
    handler.check(sound(content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (MEETING.read_bytes()[:44], "has no audio: its length is 0 seconds"),
        (wav([]), "has no audio: its length is 0 seconds"),
        (MEETING.read_bytes()[:30], "corrupt WAV file: its header is cut"),
        (riff((b"LIST", b"INFO")), "corrupt WAV file: it has a header and no audio data"),
        (riff((b"data", b"\0\0" * 9)), "corrupt WAV file: its header has no audio format"),
        (b"RIFF" + bytes(range(256)), "corrupt or not audio/wav"),
        (bytes(range(256)) * 9, "corrupt or not audio/wav"),
        (b"Not found", "corrupt or not audio/wav: its content is text/plain"),
        ((FILES / "small.png").read_bytes(), "corrupt or not audio/wav: its content is image/png"),
    ],
    ids=[
        "44-bytes",
        "0-seconds",
        "cut-in-header",
        "no-data",
        "no-format",
        "riff-garbage",
        "garbage",
        "text",
        "png",
    ],
)
def test_corrupt_audio_is_refused_before_sending_and_before_loading_a_model(content: bytes, message: str):
    part = sound(content)
    for step in (AudioHandler().check, lambda part: AudioHandler().convert(part, NO_MODELS)):
        with pytest.raises(MediaError, match=message) as caught:
            step(part)
        assert caught.value.source == "the-file"
        assert caught.value.hint


@pytest.mark.parametrize(
    ("content", "media_type", "message"),
    [
        ((FILES / "speech.m4a").read_bytes()[:3000], "audio/mp4", "cannot be decoded"),
        (b"\xff\xfb\x90\x00" + bytes(500), "audio/mpeg", "cannot be decoded|holds no sound"),
        (b"OggS\0\2" + bytes(500), "audio/ogg", "cannot be decoded|holds no sound"),
        ((FILES / "clip.avi").read_bytes(), "audio/x-msvideo", "has no audio track"),
    ],
    ids=["m4a-cut", "mp3-garbage", "ogg-garbage", "video-without-sound"],
)
def test_corrupt_compressed_audio_is_refused_during_decoding(content: bytes, media_type: str, message: str):
    with pytest.raises(MediaError, match=message):
        AudioHandler().convert(sound(content, media_type), NO_MODELS)


@pytest.mark.weights
def test_truncated_recording_is_transcribed_partially_with_a_warning(handler: AudioHandler, context: MediaContext):
    half = (FILES / "speech.mp3").read_bytes()[:11_000]
    conversion = handler.convert(sound(half, "audio/mpeg"), context)
    assert words(conversion.text) >= {"good", "morning", "meeting"}
    (warning,) = conversion.warnings
    assert warning.code == "media_damaged"
    assert re.search(r"3\.\d of 7\.\d seconds", warning.message)


@pytest.mark.parametrize(
    "content",
    [
        riff((b"fmt ", FLOAT_FORMAT), (b"data", struct.pack("<800f", *[0.5] * 800))),
        riff((b"JUNK", bytes(28)), (b"fmt ", FLOAT_FORMAT), (b"data", bytes(800))),
        SILENCE[:40] + b"\xff\xff\xff\xff" + SILENCE[44:],
    ],
    ids=["floating-point", "junk-first", "length-left-open"],
)
def test_unusual_wav_files_are_accepted(content: bytes):
    AudioHandler().check(sound(content))
    read(sound(content))


def test_audio_over_the_limit_is_refused_during_decoding(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(AudioHandler, "max_seconds", 5)
    with pytest.raises(MediaError, match=r"meeting.wav is longer than .* minutes.*ffmpeg"):
        AudioHandler().convert(sound(MEETING), NO_MODELS)


def test_wav_named_pdf_is_recognised_as_audio(tmp_path: Path):
    path = tmp_path / "meeting.pdf"
    path.write_bytes(MEETING.read_bytes())
    assert type_of(AudioHandler(), path.read_bytes()[:8192], path.name) == "audio/wav"
    AudioHandler().check(sound(path))


def test_only_audio_is_recognised():
    handler = AudioHandler()
    assert takes(handler, sound(b"x"))
    assert not takes(handler, ImagePart(Blob.from_bytes(b"x", "audio/wav")))
    assert not takes(handler, VideoPart(Blob.from_bytes(b"x", "audio/wav")))
    assert not takes(handler, AudioPart(Blob.from_bytes(b"x", "application/pdf")))
    assert type_of(handler, b"words", "a.wav") is None


@pytest.mark.weights
def test_threads_share_one_loaded_model(context: MediaContext):
    asked: list[str] = []
    barrier = threading.Barrier(2, timeout=30)

    class Counting(NoModels):
        def path(self, name: str) -> Path:
            asked.append(name)
            return context.models.path(name)

    shared, counting = AudioHandler(), replace(context, models=Counting())

    def transcribe() -> str:
        barrier.wait()
        return shared.convert(sound(MEETING), counting).text

    with ThreadPoolExecutor(2) as pool:
        texts = [task.result() for task in [pool.submit(transcribe) for _ in range(2)]]
    assert texts[0] == texts[1]
    assert asked == ["whisper-tiny.en"]


def test_transcription_model_can_be_chosen():
    with pytest.raises(AssertionError, match="asked for my-model"):
        AudioHandler().convert(
            sound(MEETING), MediaContext(NoModels(), FrozenDict({"transcription_model": "my-model"}))
        )
    with pytest.raises(InvalidInputError, match="transcription_model: expected a model name, got 7"):
        AudioHandler().convert(sound(MEETING), MediaContext(NoModels(), FrozenDict({"transcription_model": 7})))


@pytest.mark.parametrize("content", [None, b"", b"garbage"], ids=["no-file", "empty", "garbage"])
def test_corrupt_weights_are_a_model_store_error(tmp_path: Path, content: bytes | None):
    if content is not None:
        (tmp_path / "model.bin").write_bytes(content)

    class Broken(NoModels):
        def path(self, name: str) -> Path:
            return tmp_path

    with pytest.raises(ModelStoreError, match=r"whisper-base cannot be loaded.*Remove it"):
        AudioHandler().convert(sound(MEETING), MediaContext(Broken()))


@pytest.mark.parametrize("package", ["av", "faster_whisper", "numpy"])
def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, package: str):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="pip install faster-whisper"):
        AudioHandler().convert(sound(MEETING), NO_MODELS)
    AudioHandler().check(sound(MEETING))


@pytest.mark.process
@pytest.mark.weights
def test_transcription_writes_nothing_to_the_home_folder_and_sends_no_telemetry(tmp_path: Path, models: Any):
    """Newer versions of a library below write a device id there and report to their maker: see pyproject.toml."""
    code = """
import sys
from pathlib import Path
from abstractcore.stores.models import FileModelStore
from abstractcore.ports import MediaContext
from abstractcore.schema import AudioPart, Blob
from abstractcore_media import AudioHandler
part = AudioPart(Blob.from_file(sys.argv[1], "audio/wav"))
context = MediaContext(FileModelStore(Path(sys.argv[2])), {"transcription_model": "whisper-tiny.en"})
assert "Tuesday" in AudioHandler().convert(part, context).text
"""
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code, MEETING, models.root], env=environment, check=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
