"""Recordings in the containers and codecs that people have, made by the encoders of FFmpeg in PyAV, or kept."""

from __future__ import annotations

import io
import tempfile
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

from tests.media.parts import FILES

SECONDS = 3.0


@dataclass(frozen=True)
class Encoded:
    """One form of a recording: the name of the file, FFmpeg's format and encoder, and its samples a second."""

    name: str
    format: str
    codec: str
    rate: int = 16_000
    options: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        return f"{self.name}-{self.codec}"


def _all(name: str, format: str, codecs: str, rate: int = 16_000) -> list[Encoded]:
    return [Encoded(name, format, codec, rate) for codec in codecs.split()]


ENCODED = [
    *_all("a.wav", "wav", "pcm_u8 pcm_s16le pcm_s24le pcm_s32le pcm_f32le pcm_f64le pcm_alaw pcm_mulaw"),
    *_all("a.wav", "wav", "adpcm_ima_wav adpcm_ms adpcm_yamaha g722 wmav2 mp2 libmp3lame"),
    *_all("a.wav", "wav", "g723_1", 8_000),
    Encoded("rf64.wav", "wav", "pcm_s16le", options=(("rf64", "always"),)),
    *_all("a.w64", "w64", "pcm_s16le"),
    *_all("a.aiff", "aiff", "pcm_s16be pcm_s24be pcm_f32be pcm_alaw pcm_mulaw pcm_s8"),
    *_all("a.au", "au", "pcm_s16be pcm_mulaw pcm_alaw pcm_f32be g722"),
    *_all("a.caf", "caf", "pcm_s16be pcm_mulaw alac adpcm_ima_qt"),
    *_all("a.voc", "voc", "pcm_s16le"),
    *_all("a.amr", "amr", "amrnb", 8_000),
    *_all("a.3gp", "3gp", "amrnb", 8_000),
    *_all("a.3gp", "3gp", "aac"),
    *_all("a.3g2", "3g2", "aac"),
    *_all("a.m4a", "ipod", "aac alac"),
    *_all("a.mp4", "mp4", "aac libopus libmp3lame ac3", 48_000),
    *_all("a.mov", "mov", "aac adpcm_ima_qt pcm_s16le"),
    *_all("a.aac", "adts", "aac"),
    *_all("a.loas", "latm", "aac"),
    *_all("a.mka", "matroska", "libopus ac3 eac3 pcm_s16le", 48_000),
    *_all("a.webm", "webm", "libopus", 48_000),
    *_all("a.opus", "opus", "libopus", 48_000),
    *_all("a.flac", "flac", "flac"),
    *_all("a.wv", "wv", "wavpack"),
    *_all("a.tta", "tta", "tta"),
    *_all("a.mp3", "mp3", "libmp3lame"),
    Encoded("untagged.mp3", "mp3", "libmp3lame", options=(("write_xing", "0"), ("id3v2_version", "0"))),
    *_all("a.mp2", "mp2", "mp2"),
    *_all("a.ac3", "ac3", "ac3", 48_000),
    *_all("a.eac3", "eac3", "eac3", 48_000),
    *_all("a.wma", "asf", "wmav1 wmav2", 44_100),
    *_all("a.avi", "avi", "libmp3lame adpcm_ima_wav"),
    *_all("a.flv", "flv", "aac adpcm_swf nellymoser libmp3lame", 22_050),
    *_all("a.ts", "mpegts", "mp2 aac", 48_000),
    *_all("a.mpg", "mpeg", "mp2", 48_000),
    *_all("a.ra", "rm", "real_144", 8_000),
    *_all("a.nut", "nut", "pcm_s16le"),
]


def tone(seconds: float = SECONDS, rate: int = 16_000, hertz: float = 440.0) -> np.ndarray[Any, Any]:
    """Samples of 16 bits."""
    return (0.3 * 32767 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)).astype(np.int16)


def encoded(form: Encoded, seconds: float = SECONDS) -> bytes:
    """A tone in this form."""
    if form.codec == "amrnb":  # which PyAV decodes only, from version 19 on
        return (FILES / f"tone.{form.format}").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, form.name)
        container: Any
        with av.open(str(path), "w", format=form.format, options=dict(form.options)) as container:
            stream: Any = container.add_stream(form.codec, rate=form.rate, layout="mono")
            if form.codec in _BIT_RATES:
                stream.bit_rate = _BIT_RATES[form.codec]
            if form.codec != "flac":
                stream.codec_context.open()
            size = stream.codec_context.frame_size or 1024
            resampler = av.AudioResampler(stream.format.name, "mono", form.rate, frame_size=size)
            frame = av.AudioFrame.from_ndarray(tone(seconds, form.rate).reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate = form.rate
            for each in (*resampler.resample(frame), *resampler.resample(None)):
                container.mux(stream.encode(each))
            container.mux(stream.encode(None))
        return path.read_bytes()


_BIT_RATES = {"g723_1": 6300, "wmav1": 64_000, "wmav2": 64_000}


def stereo(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any], rate: int = 16_000) -> bytes:
    """WAV of two channels."""
    return waved(np.stack([left, right], axis=1), rate)


def waved(samples: np.ndarray[Any, Any], rate: int = 16_000) -> bytes:
    """WAV of samples of 16 bits, of the shape (samples, channels)."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((samples.shape[1], 2, rate, 0, "NONE", ""))
        file.writeframes(np.ascontiguousarray(samples, "<i2").tobytes())
    return out.getvalue()
