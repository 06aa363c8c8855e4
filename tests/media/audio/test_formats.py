"""Every container and codec that FFmpeg decodes and people have: recognised, measured, decoded and converted; channels
that cancel each other; files that are cut.
"""

from __future__ import annotations

import io
import struct
import wave
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from abstractcore.errors import MediaError
from abstractcore.files.routes import _name_warnings  # pyright: ignore[reportPrivateUsage]
from abstractcore.schema import AudioPart, Blob, MediaControls, MediaPart
from abstractcore_media import AudioHandler
from abstractcore_media.audio.sound import SoundReader
from abstractcore_media.common.sniffing import media_type_of
from tests.media.audio.encoded_files import ENCODED, SECONDS, Encoded, encoded, stereo, tone, waved
from tests.media.parts import FILES, NO_MODELS, sound

CONVERT = replace(NO_MODELS, fallbacks=("convert",), accepted_outputs=frozenset({"audio/wav"}))
FRAMES = Encoded("a.m4a", "mp4", "aac", options=(("movflags", "faststart"),))
ESTIMATED = {"amr", "adts", "latm", "mp2", "ac3", "eac3", "dts", "mpegts", "mpeg", "rm", "nut", "caf", "avi"}
"""Formats without a length, or where FFmpeg derives one from bytes."""


def part_of(content: bytes, name: str) -> MediaPart:
    media_type = media_type_of(content[:8192], name)
    assert media_type is not None
    assert media_type.startswith(("audio/", "video/"))
    return AudioPart(Blob.from_bytes(content, media_type, name=name))


def heard(part: MediaPart) -> tuple[SoundReader, np.ndarray[Any, Any]]:
    reader = SoundReader(part, 600)
    return reader, np.concatenate(list(reader.blocks()))


def pitch(samples: np.ndarray[Any, Any]) -> float:
    middle = samples[8_000:-8_000]
    return float(np.abs(np.fft.rfft(middle)).argmax()) * 16_000 / len(middle)


@pytest.mark.parametrize("form", ENCODED, ids=lambda form: form.id)
def test_each_format_is_recognised_measured_and_converted(form: Encoded):
    part = part_of(encoded(form), form.name)
    assert _name_warnings(part.blob, "") == []
    handler = AudioHandler()
    handler.check(part)
    seconds = handler.measure(part).seconds
    if form.format not in ESTIMATED:
        assert seconds == pytest.approx(SECONDS, abs=0.2)
    reader, samples = heard(part)
    assert reader.seconds == pytest.approx(SECONDS, abs=0.2)
    assert (reader.missing, reader.has_end) == (0, True)
    assert np.abs(samples).mean() > 0.1
    assert pitch(samples) == pytest.approx(440, abs=5)
    conversion = handler.convert(part, CONVERT)
    assert (conversion.warnings, conversion.lost) == ((), ())
    (made,) = conversion.parts
    assert isinstance(made, AudioPart)
    with wave.open(io.BytesIO(made.blob.read())) as file:
        assert file.getnframes() / file.getframerate() == pytest.approx(SECONDS, abs=0.2)


@pytest.mark.parametrize("channels", [3, 4, 6, 8])
def test_recordings_of_many_channels_are_heard(channels: int):
    _, samples = heard(sound(waved(np.stack([tone()] * channels, axis=1))))
    assert pitch(samples) == pytest.approx(440, abs=5)


@pytest.mark.parametrize("factor", [-1.0, -0.8, -0.5])
def test_channels_that_cancel_each_other_are_heard(factor: float):
    """The sum has a quarter of the amplitude, at most."""
    left = tone()
    _, samples = heard(sound(stereo(left, (factor * left).astype(np.int16))))
    assert len(samples) == pytest.approx(SECONDS * 16_000, abs=2)
    expected = (1 - factor) / 2 * left.astype(float) / 32768
    assert np.abs(samples - expected[: len(samples)])[200:].max() < 0.01


def test_inverted_channel_beside_noise_is_heard():
    noise = np.random.default_rng(5).integers(-1500, 1500, (2, len(tone()))).astype(np.int16)
    _, samples = heard(sound(stereo(tone() + noise[0], noise[1] - tone())))
    assert pitch(samples) == pytest.approx(440, abs=5)
    assert np.abs(samples).mean() > 0.1


def test_part_of_a_recording_that_is_inverted_is_heard_as_the_rest():
    left = tone(9)
    right = left.copy()
    right[48_000:96_000] *= -1
    _, samples = heard(sound(stereo(left, right)))
    loud = np.abs(samples[: 9 * 16_000]).reshape(-1, 1_600).mean(axis=1)
    assert loud.min() > 0.8 * loud.max()


def test_voices_of_both_channels_are_heard():
    """At the same time, in turns, and with an inverted echo of each in the other channel."""
    one, other = tone(6), tone(6, hertz=1000.0)
    other[:32_000] = 0
    one[64_000:] = 0
    for left, right in ((one, other), (one - other // 10, other - one // 10), (one, -other)):
        _, samples = heard(sound(stereo(left, right)))
        parts = [np.abs(np.fft.rfft(samples[start : start + 16_000])) for start in (16_000, 48_000, 72_000)]
        assert [bool(each[440] > 500) for each in parts] == [True, True, False]
        assert [bool(each[1000] > 500) for each in parts] == [False, True, True]


def test_converted_recording_of_two_channels_keeps_both():
    left = tone()
    (made,) = AudioHandler().convert(sound(stereo(left, -left)), CONVERT).parts
    assert isinstance(made, AudioPart)
    with wave.open(io.BytesIO(made.blob.read())) as file:
        assert file.getnchannels() == 2


CUT = {
    "a.wav": ("wav", "pcm_s16le"),
    "ms.wav": ("wav", "adpcm_ms"),
    "a.flac": ("flac", "flac"),
    "a.mp3": ("mp3", "libmp3lame"),
    "a.mka": ("matroska", "pcm_s16le"),
    "a.wma": ("asf", "wmav2"),
    "a.caf": ("caf", "pcm_s16be"),
    "a.aiff": ("aiff", "pcm_s16be"),
    "a.au": ("au", "pcm_s16be"),
    "a.avi": ("avi", "libmp3lame"),
    "a.flv": ("flv", "aac"),
    "a.tta": ("tta", "tta"),
    "a.wv": ("wv", "wavpack"),
}


@pytest.mark.parametrize("name", [*CUT, "a.m4a"])
def test_cut_file_says_how_much_of_it_was_read(name: str):
    form = replace(FRAMES, name=name) if name not in CUT else Encoded(name, *CUT[name], 22_050)
    content = encoded(form, 12)
    conversion = AudioHandler().convert(part_of(content[: len(content) * 6 // 10], name), CONVERT)
    (warning,) = conversion.warnings
    assert warning.code == "media_damaged"
    assert "truncated or corrupt: only " in warning.message
    assert warning.requested == pytest.approx(12, abs=0.3)
    (lost,) = conversion.lost
    assert (lost.what, lost.places) == ("seconds", ("not decoded",))
    assert lost.total == pytest.approx(12, abs=0.3)
    assert isinstance(warning.sent, float)
    assert lost.count + warning.sent == pytest.approx(12, abs=0.3)
    assert 3.5 < lost.count < 7.5


@pytest.mark.parametrize(
    ("name", "format", "codec", "rate"), [("a.opus", "opus", "libopus", 48_000), ("a.w64", "w64", "pcm_s16le", 16_000)]
)
def test_file_whose_end_is_missing_says_so_where_its_length_is_not_known(name: str, format: str, codec: str, rate: int):
    content = encoded(Encoded(name, format, codec, rate), 12)
    conversion = AudioHandler().convert(part_of(content[: len(content) * 6 // 10], name), CONVERT)
    (warning,) = conversion.warnings
    assert warning.code == "media_damaged"
    assert warning.sent == pytest.approx(7.1, abs=1)
    assert "its end is missing" in warning.message


def test_part_before_the_place_of_a_cut_is_whole():
    part = part_of(encoded(FRAMES, 12)[:60_000], "a.m4a")
    read = heard(part)[0].seconds
    assert read < 11
    whole = AudioHandler().convert(replace(part, controls=MediaControls(start=0.5, end=read - 1)), CONVERT)
    assert (whole.warnings, whole.lost) == ((), ())
    beyond = AudioHandler().convert(replace(part, controls=MediaControls(start=read - 1)), CONVERT)
    assert beyond.lost[0].total == pytest.approx(13 - read, abs=0.5)


def test_truncated_wav_is_not_sent_itself_but_its_rest_is_converted():
    part = sound(waved(tone().reshape(-1, 1))[:50_000])
    with pytest.raises(MediaError, match=r"truncated: it has 1.6 of 3.0 seconds\. .*media_policy=") as caught:
        AudioHandler().check(part)
    assert caught.value.hint
    assert AudioHandler().measure(part).seconds == pytest.approx(1.56, abs=0.01)
    assert AudioHandler().convert(part, CONVERT).lost[0].total == pytest.approx(3, abs=0.1)


def test_length_of_a_wav_file_that_a_pipe_left_open_is_that_of_its_data():
    content = bytearray(waved(tone().reshape(-1, 1)))
    for size in (0xFFFFFFFF, 0x7FFFFFFF, 0x7FFF0000):
        content[40:44] = struct.pack("<I", size)
        reader, _ = heard(sound(bytes(content)))
        assert (reader.seconds, reader.missing) == (pytest.approx(SECONDS, abs=0.01), 0)
        AudioHandler().check(sound(bytes(content)))


def test_absurd_lengths_in_headers_are_named_and_bounded():
    content = bytearray(encoded(Encoded("a.flac", "flac", "flac")))
    content[21:26] = bytes([content[21] | 0x0F, *b"\xff\xff\xff\xff"])  # 2^36 samples
    reader, _ = heard(part_of(bytes(content), "a.flac"))
    assert reader.seconds == pytest.approx(SECONDS, abs=0.1)
    assert reader.missing > 1_000_000
    chunks = b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 5_000
    with pytest.raises(MediaError, match="no audio data"):
        AudioHandler().check(sound(chunks))


def test_recording_cut_at_ten_places_is_read_up_to_there_or_refused():
    content = (FILES / "speech.m4a").read_bytes()
    ogg = (FILES / "speech.ogg").read_bytes()
    for tenth in range(1, 10):
        with pytest.raises(MediaError, match="it is cut before its index"):
            heard(sound(content[: len(content) * tenth // 10], "audio/mp4"))
        if tenth > 2:
            reader, _ = heard(sound(ogg[: len(ogg) * tenth // 10], "audio/ogg"))
            assert not reader.has_end
