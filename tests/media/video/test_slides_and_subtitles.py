"""Recordings of drawn slides, and videos with subtitle tracks, made by the encoders of FFmpeg in PyAV."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from abstractcore.schema import Blob, VideoPart
from abstractcore_media import VideoHandler
from abstractcore_media.video import reader
from abstractcore_media.video.languages import language_code
from abstractcore_media.video.selection import FrameChoice, choose_frames
from abstractcore_media.video.subtitles import plain_cue, read_subtitles
from tests.media.parts import NO_MODELS

PLAN = ["Plan", "Revenue 41 tonnes", "Cost 12"]
DECK = [PLAN, ["Plan", "Revenue 47 tonnes", "Cost 12"], ["Risks", "Frost", "Wasps"], ["Summary", "Pick early"]]
SIZE = (640, 360)
RATE = 10


def slide(lines: Sequence[str]) -> Any:
    image = Image.new("RGB", SIZE, "white")
    drawing = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        drawing.text((40, 30 + 50 * row), line, fill="black", font=ImageFont.load_default(22))
    return np.asarray(image)


def deck(slides: Sequence[Sequence[str]], seconds: float, *, has_speaker: bool = False) -> bytes:
    """Slides one after another; a speaker moves in a corner."""
    out, number, noise = io.BytesIO(), 0, np.random.default_rng(3)
    container: Any
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=RATE)
        stream.width, stream.height = SIZE
        stream.pix_fmt, stream.options = "yuv420p", {"preset": "ultrafast"}
        for picture in map(slide, slides):
            for _ in range(round(seconds * RATE)):
                pixels = picture.copy()
                if has_speaker:
                    pixels[-90:, -160:] = noise.integers(0, 255, (90, 160, 1))
                frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
                frame.pts = number
                number += 1
                container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return out.getvalue()


def chosen(content: bytes, count: int = 16) -> FrameChoice:
    part = VideoPart(Blob.from_bytes(content, "video/mp4", name="deck.mp4"))
    source = reader.VideoReader(part, max_side=640, max_pixels=40_000_000, threads=1, check_stop=lambda: None)
    return choose_frames(source, source.info().seconds, count, None, "deck.mp4")


@pytest.mark.parametrize("only_keyframes", [False, True])
def test_each_slide_is_shown_once_and_a_changed_digit_is_a_change(
    monkeypatch: pytest.MonkeyPatch, only_keyframes: bool
):
    if only_keyframes:
        monkeypatch.setattr(reader, "_ALL_PIXELS", 0)
    choice = chosen(deck(DECK, 6))
    times = [frame.time for frame in choice.frames]
    assert [int(time // 6) for time in times] == [0, 1, 2, 3]
    assert all(time % 6 < 1.6 for time in times)
    assert (choice.missed, choice.states) == ((), 4)


def test_slides_beside_a_moving_speaker_are_all_shown():
    times = [frame.time for frame in chosen(deck(DECK, 4, has_speaker=True)).frames]
    assert {int(time // 4) for time in times} == {0, 1, 2, 3}


def test_changes_without_a_frame_are_counted_with_their_times():
    choice = chosen(deck(DECK, 4), count=2)
    assert len(choice.frames) == 2
    (lost,) = choice.losses()
    assert (lost.what, lost.count, lost.total) == ("changes of the picture", 2, 4)
    assert "00:04" in lost.places  # the digit is the smallest change


def test_cut_video_says_how_much_of_it_was_read():
    out = io.BytesIO()
    source: Any
    container: Any
    with (
        av.open(io.BytesIO(deck(DECK, 4, has_speaker=True))) as source,
        av.open(out, "w", format="matroska") as container,
    ):
        stream = container.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                container.mux(packet)
    content = out.getvalue()
    part = VideoPart(Blob.from_bytes(content[: len(content) // 2], "video/x-matroska", name="cut.mkv"))
    context = replace(NO_MODELS, fallbacks=("frames",), accepted_outputs=frozenset({"text", "image/jpeg"}))
    conversion = VideoHandler().convert(part, context)
    (warning,) = conversion.warnings
    assert (warning.code, warning.requested) == ("media_damaged", pytest.approx(16, abs=0.3))
    assert any(each.what == "seconds" and each.places == ("not decoded",) for each in conversion.lost)


def clock(seconds: float) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02},{whole % 1000:03}"


def subtitled(*tracks: tuple[str, str, Sequence[tuple[float, float, str]]]) -> VideoPart:
    """A Matroska file of two grey seconds, with tracks of language, title and cues, read by FFmpeg from SubRip."""
    out = io.BytesIO()
    container: Any
    sources: list[Any] = []
    for _, _, cues in tracks:
        cue = (f"{n}\n{clock(at)} --> {clock(at + long)}\n{text}\n\n" for n, (at, long, text) in enumerate(cues, 1))
        sources.append(av.open(io.BytesIO("".join(cue).encode()), format="srt"))
    with av.open(out, "w", format="matroska") as container:
        stream = container.add_stream("mpeg4", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        targets: list[Any] = []
        for source, (language, title, _) in zip(sources, tracks, strict=True):
            targets.append(container.add_stream_from_template(source.streams.subtitles[0]))
            targets[-1].metadata.update(language=language, title=title)
        for number in range(2 * RATE):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64), 90, np.uint8), format="gray")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        for source, target in zip(sources, targets, strict=True):
            for packet in source.demux():
                if packet.size:
                    packet.stream = target
                    container.mux(packet)
            source.close()
    return VideoPart(Blob.from_bytes(out.getvalue(), "video/x-matroska", name="talk.mkv"))


def test_codes_of_subtitles_are_left_out():
    assert plain_cue(r"{\an8\b1}Hello{\b0}\Nthere\hnow") == "Hello there now"
    assert plain_cue(r"{\p1}m 0 0 l 9 9{\p0}Sign") == "Sign"
    assert plain_cue("{" * 100_000) == "{" * 2_000
    assert plain_cue("{\\" * 100_000).count("{") <= 2_000


def test_codes_of_languages_are_those_of_speech_models():
    assert [language_code(tag) for tag in ("eng", "en-US", "fre", "fra", "und", "", "x1", "gsw")] == [
        *("en", "en", "fr", "fr", "", "", "", "gsw")
    ]


def test_subtitles_are_read_with_names_of_their_tracks():
    director = [(0.2, 1.0, "Hello <i>there</i>"), (1.2, 0.5, "47 tonnes")]
    part = subtitled(("eng", "Director", director), ("fre", "", [(0.0, 1.0, "Salut")]))
    conversion = VideoHandler().convert(part, replace(NO_MODELS, fallbacks=("transcript",)))
    assert conversion.label == "subtitles"
    assert conversion.text == '[subtitles: en, "Director"]\n[00:00] Hello there\n[00:01] 47 tonnes\n'
    assert [conversion.text[each.start : each.end] for each in conversion.anchors] == ["Hello there", "47 tonnes"]
    lost = next(each for each in conversion.lost if each.what == "subtitles")
    assert (lost.count, lost.total, lost.places) == (1, 3, ("fr: 1",))


def test_very_many_subtitles_are_bounded_and_counted():
    part = subtitled(("eng", "", [(number / 50, 0.02, f"cue {number}") for number in range(100_000)]))
    (found,) = read_subtitles(part, 0.0, None, None)
    ((*_, count, cues),) = found[0]
    assert count == 100_000
    assert len(cues) == 20_000
