"""Damaged and extreme videos: typed errors, and no more work than the limits allow."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from fractions import Fraction
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from abstractcore.errors import MediaError, StreamInterruptedError
from abstractcore.ports import Conversion, Interruption
from abstractcore.schema import Blob, FrozenDict, ImagePart, VideoPart
from abstractcore_media import VideoHandler
from abstractcore_media.video import reader
from tests.media.mutations import mutations
from tests.media.parts import FILES, NO_MODELS

TYPES = {"clip.mp4": "video/mp4", "clip.webm": "video/webm", "clip.avi": "video/x-msvideo"}
CONTEXT = replace(NO_MODELS, accepted_outputs=frozenset({"text", "image/jpeg"}), fallbacks=("frames",), timeout=300.0)


def part(content: bytes, media_type: str = "video/mp4") -> VideoPart:
    return VideoPart(Blob.from_bytes(content, media_type, name="bad"))


def small_reader(content: bytes) -> reader.VideoReader:
    return reader.VideoReader(part(content), max_side=64, max_pixels=1_000_000, threads=1, check_stop=lambda: None)


def encoded(frames: int, *, rate: int = 25, ticks: int | None = None, container: str = "mp4") -> bytes:
    """Grey frames, each brighter than the one before, `ticks` in a second, of which the header says `rate`."""
    width, height = 64, 48
    out = io.BytesIO()
    with av.open(out, "w", format=container) as file:
        stream: Any = file.add_stream("mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.codec_context.time_base = Fraction(1, ticks or rate)
        for number in range(frames):
            frame = av.VideoFrame.from_ndarray(np.full((height, width), number % 256, np.uint8), format="gray")
            frame.pts, frame.time_base = number, stream.codec_context.time_base
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return out.getvalue()


@pytest.mark.parametrize("file", TYPES)
def test_damaged_files_are_read_or_refused(file: str):
    """Thousands were tried by hand; nothing crashed the process."""
    outcomes: set[str] = set()
    for content in mutations((FILES / file).read_bytes(), 40):
        try:
            conversion = VideoHandler().convert(part(content, TYPES[file]), CONTEXT)
            outcomes.add("read")
            assert any(each.type == "image" for each in conversion.parts)
        except MediaError:
            outcomes.add("refused")
    assert "refused" in outcomes


@pytest.mark.parametrize("kept", [0.02, 0.3, 0.7])
def test_truncated_file_is_refused_or_read_up_to_its_end(kept: float):
    content = (FILES / "scenes.mp4").read_bytes()
    with pytest.raises(MediaError, match="cannot be decoded"):  # the index of an MP4 is at its end
        VideoHandler().convert(part(content[: int(kept * len(content))]), CONTEXT)
    webm = encoded(100, container="matroska")
    conversion = VideoHandler().convert(part(webm[: int((0.2 + kept) * len(webm))], "video/x-matroska"), CONTEXT)
    assert conversion.label.endswith("frames")


@pytest.mark.exhaustive
def test_ten_thousand_frames_a_second_are_a_few():
    conversion = VideoHandler().convert(part(encoded(3000, rate=10_000)), CONTEXT)
    assert sum(each.type == "image" for each in conversion.parts) <= 16
    assert conversion.lost[0].total == 3000


def test_frames_of_another_size_than_in_the_header_have_their_own():
    content = bytearray((FILES / "clip.avi").read_bytes())
    sizes = content.index(b"strf") + 12  # BITMAPINFOHEADER: biWidth, biHeight
    content[sizes : sizes + 8] = struct.pack("<ii", 30_000, 30_000)
    conversion = VideoHandler().convert(part(bytes(content), "video/x-msvideo"), CONTEXT)
    image = next(each for each in conversion.parts if isinstance(each, ImagePart))
    assert Image.open(io.BytesIO(image.blob.read())).size == (160, 90)


def test_huge_frames_are_refused_before_decoding(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(VideoHandler, "max_pixels", 10_000)
    with pytest.raises(MediaError, match=r"160 x 90 pixels; the limit is 10,000 pixels.*ffmpeg"):
        VideoHandler().convert(part((FILES / "clip.avi").read_bytes(), "video/x-msvideo"), CONTEXT)


def test_video_with_more_frames_than_its_header_says_is_looked_at_by_keyframe(monkeypatch: pytest.MonkeyPatch):
    """A header that says one frame a second, of 25."""
    monkeypatch.setattr(reader, "_ALL_PIXELS", 64 * 48 * 50)
    survey = small_reader(encoded(500, rate=1, ticks=25, container="matroska")).survey(0, 20)
    found = survey.candidates
    assert survey.only_keyframes
    assert 100 < len(found) < 150
    assert found[-1].time > 19


def test_very_long_video_is_looked_at_up_to_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader, "_ALL_PIXELS", 0)
    monkeypatch.setattr(reader, "_KEYFRAME_PIXELS", 64 * 48 * 5)
    survey = small_reader(encoded(1500)).survey(0, 60)
    found = survey.candidates
    assert survey.only_keyframes
    assert len(found) == 6


def test_file_without_tracks_is_refused():
    with pytest.raises(MediaError):
        VideoHandler().convert(part((FILES / "clip.mp4").read_bytes()[:200]), CONTEXT)


def test_playlist_that_calls_itself_a_video_opens_no_other_file():
    content = f"#EXTM3U\n#EXTINF:7,\n{FILES / 'clip.mp4'}\n".encode()
    with pytest.raises(MediaError, match="is corrupt or not video/mp4"):
        VideoHandler().convert(part(content), CONTEXT)


def test_cancelled_call_ends_the_conversion():
    interruption = Interruption()
    interruption.set()
    with interruption.of_this_call(), pytest.raises(StreamInterruptedError):
        VideoHandler().convert(part((FILES / "scenes.mp4").read_bytes()), CONTEXT)


def test_time_limit_of_the_call_ends_the_conversion():
    with pytest.raises(MediaError, match=r"within the time limit"):
        VideoHandler().convert(part((FILES / "scenes.mp4").read_bytes()), replace(CONTEXT, timeout=-1.0))


def test_options_of_frames_bound_their_number():
    context = replace(CONTEXT, options=FrozenDict({"video_frames": 3}))
    conversion = VideoHandler().convert(part((FILES / "scenes.mp4").read_bytes()), context)
    assert sum(each.type == "image" for each in conversion.parts) == 3


def box(name: bytes, *content: bytes) -> bytes:
    inside = b"".join(content)
    return struct.pack(">I4s", 8 + len(inside), name) + inside


def full_box(name: bytes, *content: bytes, flags: int = 0) -> bytes:
    return box(name, struct.pack(">I", flags), *content)


MATRIX = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)


def timed_text(cues: int, tracks: int = 1) -> bytes:
    """An MP4 with subtitle tracks alone, which share their cues of 20 ms each (ISO 14496-12, 3GPP TS 26.245)."""
    begin = box(b"ftyp", b"isom\0\0\0\0isom")
    data = box(b"mdat", b"".join(struct.pack(">H6s", 6, b"%06d" % (each % 1_000_000)) for each in range(cues)))
    font = box(b"ftab", struct.pack(">HHB", 1, 1, 4), b"Sans")
    description = box(b"tx3g", bytes(6), struct.pack(">H", 1), bytes(30), font)
    samples = box(
        b"stbl",
        full_box(b"stsd", struct.pack(">I", 1), description),
        full_box(b"stts", struct.pack(">III", 1, cues, 20)),
        full_box(b"stsc", struct.pack(">IIII", 1, 1, cues, 1)),
        full_box(b"stsz", struct.pack(">II", 8, cues)),
        full_box(b"stco", struct.pack(">II", 1, len(begin) + 8)),
    )
    place = box(b"dinf", full_box(b"dref", struct.pack(">I", 1), full_box(b"url ", flags=1)))
    media = box(
        b"mdia",
        full_box(b"mdhd", struct.pack(">IIIIHH", 0, 0, 1000, cues * 20, 0x15C7, 0)),
        full_box(b"hdlr", bytes(4), b"sbtl", bytes(13)),
        box(b"minf", full_box(b"nmhd"), place, samples),
    )
    heads = (
        full_box(b"tkhd", struct.pack(">IIIII", 0, 0, each, 0, cues * 20), bytes(16), MATRIX, bytes(8), flags=7)
        for each in range(1, tracks + 1)
    )
    head = struct.pack(">IIIIIH", 0, 0, 1000, cues * 20, 0x10000, 0x100), bytes(10), MATRIX, bytes(24), b"\0\0\xff\xff"
    return begin + data + box(b"moov", full_box(b"mvhd", *head), *(box(b"trak", each, media) for each in heads))


def words(content: bytes) -> Conversion:
    return VideoHandler().convert(part(content), replace(NO_MODELS, fallbacks=("transcript",)))


@pytest.mark.exhaustive
def test_a_million_subtitles_are_read_up_to_a_limit():
    conversion = words(timed_text(1_000_000))
    (lost,) = conversion.lost
    assert (lost.what, lost.count, lost.total) == ("subtitles", 980_000, 1_000_000)
    assert conversion.warnings == ()


def test_subtitle_tracks_beyond_a_limit_are_counted():
    lost = {each.what: (each.count, each.total) for each in words(timed_text(2, 80)).lost}
    assert lost == {"subtitle tracks": (30, 80), "subtitles": (98, 100)}


def test_ten_thousand_tracks_are_refused():
    with pytest.raises(MediaError, match="cannot be decoded"):
        words(timed_text(2, 10_000))


def test_announced_frames_of_gigabytes_are_refused():
    out = io.BytesIO()
    with av.open(out, "w", format="avi") as file:
        stream: Any = file.add_stream("rawvideo", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "gray"
        file.mux(stream.encode(av.VideoFrame.from_ndarray(np.full((48, 64), 90, np.uint8), format="gray")))
        file.mux(stream.encode(None))
    content = bytearray(out.getvalue())
    sizes = content.index(b"strf") + 12
    content[sizes : sizes + 8] = struct.pack("<ii", 60_000, 60_000)
    with pytest.raises(MediaError, match=r"no frames that can be decoded|60000 x 60000 pixels"):
        VideoHandler().convert(part(bytes(content), "video/x-msvideo"), CONTEXT)
