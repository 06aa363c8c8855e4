"""Recordings of drawn slides, and videos with subtitle tracks, made by the encoders of FFmpeg in PyAV."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import av
import numpy as np
import pytest
from av.stream import Disposition
from PIL import Image, ImageDraw, ImageFont

from abstractcore.errors import MediaError
from abstractcore.ports import Transcription
from abstractcore.schema import Blob, Transcript, TranscriptSegment, VideoPart
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


def deck(
    slides: Sequence[Sequence[str]], seconds: float, *, has_speaker: bool = False, container: str = "mp4"
) -> bytes:
    """Slides one after another; a speaker moves in a corner."""
    out, number, noise = io.BytesIO(), 0, np.random.default_rng(3)
    file: Any
    with av.open(out, "w", format=container) as file:
        stream = file.add_stream("libx264", rate=RATE)
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
                file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
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


def test_end_of_a_whole_video_is_enough_to_see_that_it_is_not_cut(monkeypatch: pytest.MonkeyPatch):
    content = deck(DECK, 4, has_speaker=True)
    part = VideoPart(Blob.from_bytes(content, "video/mp4", name="deck.mp4"))
    source = reader.VideoReader(part, max_side=640, max_pixels=40_000_000, threads=1, check_stop=lambda: None)
    starts: list[float] = []
    look = reader.VideoReader._missing
    monkeypatch.setattr(reader, "_LAST_SECONDS", 2.0)
    monkeypatch.setattr(
        reader.VideoReader,
        "_missing",
        lambda self, start, end: (starts.append(start), look(self, start, end))[1],
    )
    assert source.missing(0.0, 16.0) == (0.0, True)
    assert starts == [14.0]


def test_missing_seconds_of_a_cut_video_count_from_the_cut(monkeypatch: pytest.MonkeyPatch):
    content = deck(DECK, 4, has_speaker=True, container="matroska")
    part = VideoPart(Blob.from_bytes(content[: len(content) // 2], "video/x-matroska", name="deck.mkv"))
    source = reader.VideoReader(part, max_side=640, max_pixels=40_000_000, threads=1, check_stop=lambda: None)
    monkeypatch.setattr(reader, "_LAST_SECONDS", 2.0)
    missing, _ = source.missing(0.0, 16.0)
    assert 4 < missing < 12


def clock(seconds: float) -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02},{whole % 1000:03}"


def subtitled(
    *tracks: tuple[str, str, Sequence[tuple[float, float, str]]], spoken: str | None = None, pictures: int = 0
) -> VideoPart:
    """A Matroska file of two grey seconds, with tracks of language, title and cues, read by FFmpeg from SubRip.

    It has sound in a language if `spoken` is not None, "" for an unknown one. The last `pictures` tracks are pictures.
    """
    out = io.BytesIO()
    container: Any
    sources: list[Any] = []
    for _, _, cues in tracks:
        cue = (f"{n}\n{clock(at)} --> {clock(at + long)}\n{text}\n\n" for n, (at, long, text) in enumerate(cues, 1))
        sources.append(av.open(io.BytesIO("".join(cue).encode()), format="srt"))
    with av.open(out, "w", format="matroska") as container:
        stream = container.add_stream("mpeg4", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        sound = None
        if spoken is not None:
            sound = container.add_stream("pcm_s16le", rate=8000, layout="mono")
            sound.metadata.update({"language": spoken} if spoken else {})
        targets: list[Any] = []
        for source, (language, title, _) in zip(sources, tracks, strict=True):
            targets.append(container.add_stream_from_template(source.streams.subtitles[0]))
            targets[-1].metadata.update(language=language, title=title)
            if title == "Signs":
                targets[-1].disposition = Disposition.forced
        for number in range(2 * RATE):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64), 90, np.uint8), format="gray")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if sound is not None:
            silence = av.AudioFrame.from_ndarray(np.zeros((1, 16_000), np.int16), format="s16", layout="mono")
            silence.sample_rate = 8000
            container.mux(sound.encode(silence))
        for source, target in zip(sources, targets, strict=True):
            for packet in source.demux():
                if packet.size:
                    packet.stream = target
                    container.mux(packet)
            source.close()
    before, *after = out.getvalue().rsplit(b"S_TEXT/UTF8", pictures)
    content = b"S_HDMV/PGS\0".join((before, *after))
    return VideoPart(Blob.from_bytes(content, "video/x-matroska", name="talk.mkv"))


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


def test_title_that_is_not_utf_8_is_used_as_far_as_it_can_be_read():
    content = subtitled(("eng", "Director", [(0.0, 1.0, "Hello")])).blob.read()
    part = VideoPart(Blob.from_bytes(content.replace(b"Director", b"Di\xff\xfector"), "video/x-matroska", name="a.mkv"))
    conversion = VideoHandler().convert(part, replace(NO_MODELS, fallbacks=("transcript",)))
    assert conversion.text == '[subtitles: en, "Dictor"]\n[00:00] Hello\n'


def test_very_many_subtitles_are_bounded_and_counted():
    part = subtitled(("eng", "", [(number / 50, 0.02, f"cue {number}") for number in range(100_000)]))
    (found,) = read_subtitles(part, 0.0, None, None)
    ((*_, count, cues),) = found[0]
    assert count == 100_000
    assert len(cues) == 20_000


ENGLISH = ("eng", "", [(0.2, 1.0, "Good morning, the meeting starts at nine")])
FRENCH = ("fre", "", [(0.2, 1.0, "Bonjour, la réunion commence à neuf heures")])


def words(part: VideoPart, monkeypatch: pytest.MonkeyPatch, heard: str, language: str | None) -> tuple[str, list[Any]]:
    """The text of a video whose speech is recognised as `heard`, and the parts that were listened to."""
    asked: list[Any] = []

    def transcribe(part: VideoPart, *_: Any) -> Transcription:
        asked.append(part)
        return Transcription(Transcript((TranscriptSegment(heard, 0.0, 2.0),), language=language, seconds=2.0))

    monkeypatch.setattr("abstractcore_media.video.words.transcribe", transcribe)
    return VideoHandler().convert(part, replace(NO_MODELS, fallbacks=("transcript",))).text, asked


@pytest.mark.parametrize(("language", "expected"), [("fr", "Bonjour"), ("en", "Good morning")])
def test_spoken_language_is_heard_in_a_minute_where_the_file_does_not_name_it(
    monkeypatch: pytest.MonkeyPatch, language: str, expected: str
):
    text, asked = words(subtitled(ENGLISH, FRENCH, spoken=""), monkeypatch, "…", language)
    assert text.startswith(f"[subtitles: {language}]\n[00:00] {expected}")
    (probe,) = asked
    assert (probe.controls.start, probe.controls.end) == (0.2, 60.2)


def test_named_language_of_the_sound_needs_no_hearing(monkeypatch: pytest.MonkeyPatch):
    text, asked = words(subtitled(ENGLISH, FRENCH, spoken="fre"), monkeypatch, "…", "en")
    assert text.startswith("[subtitles: fr]\n[00:00] Bonjour")
    assert asked == []


def test_track_without_a_language_is_used_if_it_has_the_words_that_are_heard(monkeypatch: pytest.MonkeyPatch):
    unknown = "", "", FRENCH[2]
    alike = "bonjour la réunion commence à huit heures"
    assert "[subtitles: unknown language]" in words(subtitled(unknown, spoken=""), monkeypatch, alike, None)[0]
    text, asked = words(subtitled(unknown, spoken=""), monkeypatch, "we begin at nine in room 12", None)
    assert text == "[00:00] we begin at nine in room 12\n"
    assert len(asked) == 2


def test_subtitles_in_another_language_than_the_spoken_one_are_counted(monkeypatch: pytest.MonkeyPatch):
    part = subtitled(FRENCH, spoken="eng")
    assert words(part, monkeypatch, "Good morning", "en")[0] == "[00:00] Good morning\n"
    conversion = VideoHandler().convert(part, replace(NO_MODELS, fallbacks=("transcript",)))
    assert [each.places for each in conversion.lost if each.what == "subtitles"] == [("fr: 1",)]


def test_forced_subtitles_and_those_of_pictures_are_named_among_the_losses():
    signs = "eng", "Signs", [(0.1, 0.2, "EXIT"), (0.5, 0.2, "PLATFORM 9")]
    part = subtitled(signs, ENGLISH, ("ger", "Bilder", [(0.3, 0.5, "x" * 40)]), pictures=1)
    conversion = VideoHandler().convert(part, replace(NO_MODELS, fallbacks=("transcript",)))
    assert conversion.text.startswith("[subtitles: en]\n[00:00] Good morning")
    assert {
        each.what: (each.count, each.total, each.places) for each in conversion.lost if "frames" not in each.what
    } == {
        "subtitles": (2, 3, ('en, "Signs", forced or comments: 2',)),
        "subtitle pictures": (1, 1, ('de, "Bilder": 1',)),
    }


@pytest.mark.exhaustive
def test_changed_bytes_of_videos_with_subtitles_and_sound_are_read_or_a_typed_error(monkeypatch: pytest.MonkeyPatch):
    content = subtitled(ENGLISH, FRENCH, spoken="fre").blob.read()
    outcomes: set[bool] = set()
    for seed in range(40):
        chance, changed = random.Random(seed), bytearray(content)
        for _ in range(len(changed) // 20):
            changed[chance.randrange(200 * (seed % 2), len(changed))] = chance.randrange(256)
        part = VideoPart(Blob.from_bytes(bytes(changed), "video/x-matroska", name="talk.mkv"))
        try:
            outcomes.add(bool(words(part, monkeypatch, "Bonjour", "fr")[0]))
        except MediaError:
            outcomes.add(False)
    assert False in outcomes
