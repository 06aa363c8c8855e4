"""Videos: recognised and checked by their first bytes, converted to frames and words."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from abstractcore import File, Services, create_llm
from abstractcore.errors import InvalidInputError, MediaError
from abstractcore.ports import Conversion, Fallback, MediaContext, ModelStore
from abstractcore.schema import AudioPart, FrozenDict, ImagePart, MediaControls, MediaPart, TextPart, VideoPart
from abstractcore_media import ImageHandler, VideoHandler
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, blob, takes, type_of
from tests.media_doubles import registry

CLIPS = {"clip.mp4": "video/mp4", "clip.webm": "video/webm", "clip.avi": "video/x-msvideo"}
BUNNY = EXAMPLES / "bunny.mp4"
TALK = EXAMPLES / "talk.mp4"
TINY = FrozenDict({"transcription_model": "whisper-tiny.en"})
IMAGES = frozenset({"text", "image/jpeg"})


@pytest.fixture(scope="module")
def handler() -> VideoHandler:
    return VideoHandler()


@pytest.fixture
def context(models: ModelStore) -> MediaContext:
    return MediaContext(models, TINY, accepted_outputs=IMAGES)


def video(path: Path, **controls: Any) -> MediaPart:
    return VideoPart(blob(path, CLIPS.get(path.name, "video/mp4")), controls=MediaControls(**controls))


def images(conversion: Conversion) -> list[Image.Image]:
    return [Image.open(io.BytesIO(part.blob.read())) for part in conversion.parts if isinstance(part, ImagePart)]


def describing(part: MediaPart) -> Conversion:
    return Conversion(f"A picture of {Image.open(io.BytesIO(part.blob.read())).width} pixels.", "caption", model="eye")


@pytest.mark.parametrize(("file", "media_type"), CLIPS.items())
def test_video_is_recognised_and_passes_check(file: str, media_type: str):
    handler = VideoHandler()
    assert type_of(handler, (FILES / file).read_bytes()[:8192], file) == media_type
    part = VideoPart(blob(FILES / file, media_type))
    assert takes(handler, part)
    handler.check(part)


def test_audio_alone_is_not_a_video():
    handler = VideoHandler()
    assert type_of(handler, (FILES / "speech.webm").read_bytes()[:8192], "speech.webm") is None
    assert not takes(handler, AudioPart(blob(b"x", "video/mp4")))


def test_content_that_is_not_a_video_is_refused():
    with pytest.raises(MediaError, match=r"meeting.wav is corrupt or not video/mp4: its content is audio/wav"):
        VideoHandler().check(VideoPart(blob(EXAMPLES / "meeting.wav", "video/mp4")))


@pytest.mark.smoke
@pytest.mark.weights
def test_frames_and_words_are_in_order_of_time(handler: VideoHandler, context: MediaContext):
    conversion = handler.convert(video(TALK), context)
    assert conversion.fallback == "frames+transcript"
    kinds = [part.type for part in conversion.parts]
    assert kinds[:2] == ["text", "image"]
    times = [anchor.seconds[0] for anchor in conversion.anchors if anchor.seconds]
    assert times == sorted(times)
    assert "Good morning" in conversion.text
    assert "contract" in conversion.text
    assert {image.size for image in images(conversion)} == {(320, 180)}
    for anchor in conversion.anchors:
        assert conversion.text[anchor.start : anchor.end].strip()
    (frames,) = conversion.lost
    assert (frames.what, frames.total) == ("frames", 175)
    assert frames.count == 175 - len(images(conversion))


@pytest.mark.weights
def test_frames_are_described_for_a_model_without_images(handler: VideoHandler, context: MediaContext):
    context = replace(context, accepted_outputs=frozenset({"text"}), to_text=describing)
    conversion = handler.convert(video(TALK), context)
    assert not images(conversion)
    assert conversion.text.startswith("[00:00] Frame: A picture of 320 pixels.\n[00:00] Good morning")
    assert conversion.model == "eye, whisper-tiny.en"
    assert conversion.label.endswith("frames and transcript")


@pytest.mark.weights
def test_without_a_way_to_describe_frames_the_transcript_remains(handler: VideoHandler, context: MediaContext):
    def refusing(part: MediaPart) -> Conversion:
        raise MediaError("nothing converts image/jpeg to text")

    context = replace(context, accepted_outputs=frozenset({"text"}), to_text=refusing)
    conversion = handler.convert(video(TALK), context)
    assert conversion.fallback == "transcript"
    assert conversion.text.startswith("[00:00] Good morning")
    assert (conversion.lost[0].what, conversion.lost[0].count) == ("frames", 175)
    assert [each.code for each in conversion.warnings] == ["frames_left_out"]
    with pytest.raises(MediaError, match=r"talk.mp4 cannot be described: nothing converts.*vision_model"):
        handler.convert(video(TALK), replace(context, fallbacks=("frames",)))


@pytest.mark.weights
def test_policies_name_what_is_used(handler: VideoHandler, context: MediaContext):
    shown = handler.convert(video(TALK), replace(context, fallbacks=("frames",)))
    assert shown.fallback == "frames"
    assert "morning" not in shown.text
    assert ("seconds", ("sound",)) in [(each.what, each.places) for each in shown.lost]
    heard = handler.convert(video(TALK), replace(context, fallbacks=("transcript",)))
    assert heard.fallback == "transcript"
    assert not images(heard)


@pytest.mark.weights
def test_music_of_bunny_is_listed_as_lost(handler: VideoHandler, context: MediaContext):
    conversion = handler.convert(video(BUNNY), context)
    assert conversion.fallback == "frames"
    assert {image.size for image in images(conversion)} == {(768, 432)}
    assert [each.what for each in conversion.lost] == ["frames", "seconds"]


@pytest.mark.parametrize("file", ["clip.avi", "scenes.mp4"])
def test_video_without_sound_has_frames_and_loses_no_sound(handler: VideoHandler, file: str):
    conversion = handler.convert(video(FILES / file), replace(NO_MODELS, accepted_outputs=IMAGES))
    assert conversion.fallback == "frames"
    assert images(conversion)
    assert [each.what for each in conversion.lost] == ["frames"]
    with pytest.raises(MediaError, match="no words and no frames"):
        handler.convert(video(FILES / file), replace(NO_MODELS, fallbacks=("transcript",)))


@pytest.mark.weights
def test_file_without_a_video_track_has_its_words(handler: VideoHandler, context: MediaContext):
    part = VideoPart(blob(FILES / "speech.m4a", "video/mp4"))
    conversion = handler.convert(part, context)
    assert conversion.fallback == "transcript"
    assert "Tuesday" in conversion.text


def test_contact_sheets_hold_nine_frames_each(handler: VideoHandler):
    options = FrozenDict({"video_contact_sheets": True, "video_frames": 10})
    context = replace(NO_MODELS, options=options, accepted_outputs=IMAGES)
    conversion = handler.convert(video(FILES / "scenes.mp4"), context)
    first, second = images(conversion)
    assert first.size[0] == 1536
    assert second.size[0] == 512
    labels = [part.text for part in conversion.parts if isinstance(part, TextPart)]
    assert labels[0].startswith("[00:00-00:")
    assert "9 frames in rows" in labels[0]
    assert conversion.label == "10 frames"


def test_controls_choose_seconds_and_frames_a_second(handler: VideoHandler):
    context = replace(NO_MODELS, accepted_outputs=IMAGES)
    conversion = handler.convert(video(FILES / "scenes.mp4", start=9.0, end=11.0, fps=2.0), context)
    times = [anchor.seconds[0] for anchor in conversion.anchors if anchor.seconds]
    assert times == pytest.approx([9.25, 9.75, 10.25, 10.75], abs=0.15)
    with pytest.raises(MediaError, match=r"ends at 19.0 seconds, before the start 60"):
        handler.convert(video(FILES / "scenes.mp4", start=60.0), context)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"video_frames": 0}, "video_frames: expected a number of frames, from 1, got 0"),
        ({"video_frames": True}, "video_frames: expected a number of frames"),
        ({"video_contact_sheets": "yes"}, "video_contact_sheets: expected True or False"),
    ],
)
def test_invalid_options_are_named(handler: VideoHandler, options: dict[str, Any], message: str):
    with pytest.raises(InvalidInputError, match=message):
        handler.convert(video(FILES / "clip.avi"), replace(NO_MODELS, options=FrozenDict(options)))


@pytest.mark.weights
def test_sound_that_cannot_be_transcribed_is_a_warning_beside_frames(
    handler: VideoHandler, context: MediaContext, monkeypatch: pytest.MonkeyPatch
):
    import sys

    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    conversion = VideoHandler().convert(video(TALK), context)
    assert conversion.fallback == "frames"
    (warning,) = conversion.warnings
    assert warning.code == "not_transcribed"
    assert "faster-whisper" in warning.message
    assert ("seconds", ("sound",)) in [(each.what, each.places) for each in conversion.lost]


@pytest.mark.process
@pytest.mark.weights
def test_video_reaches_a_vision_model(call_style: Any, models: Any):
    services = Services(models=models, environment={})
    llm = create_llm("scripted", replies=["A rabbit."], accepts=["image"], services=services, **TINY)
    response = call_style.generate(llm, "What is it?", media=[TALK])
    (decision,) = response.media
    assert (decision.fallback, decision.sent.media_type) == ("frames+transcript", "multipart/mixed")
    text = "".join(part.text or "" for part in decision.sent.parts)
    said = next(each for each in decision.sent.anchors if "Good" in text[each.start : each.end])
    assert said.seconds[0] < 0.5
    sent = llm.calls[0].messages[-1].parts
    assert [part.type for part in sent][:3] == ["text", "image", "text"]
    assert "Good morning" in llm.calls[0].messages[-1].text
    services.close()


@pytest.mark.process
@pytest.mark.weights
def test_words_of_a_video_reach_a_text_only_model(call_style: Any, models: Any):
    services = Services(models=models, environment={})
    llm = create_llm("scripted", replies=["At 9:30."], services=services, **TINY)
    policy = {"video": "transcript"}
    response = call_style.generate(llm, "When?", media=[File(TALK, end=3.8)], media_policy=policy)
    (decision,) = response.media
    assert (decision.policy, decision.fallback) == ("transcript", "transcript")
    assert decision.sent.text.startswith("[00:00] Good morning")
    assert "contract" not in decision.sent.text
    services.close()


class Pictures(ImageHandler):
    """Describes images by the option `vision_model`."""

    fallbacks = (Fallback("caption", frozenset({"text"}), needs="vision_model"),)

    def convert(self, part: MediaPart, context: MediaContext) -> Conversion:
        assert isinstance(part, ImagePart)
        caption = context.caption([part], "What is shown?")
        return Conversion(caption.text, "caption", caption.usage, model=caption.model)


@pytest.mark.process
@pytest.mark.weights
def test_frames_and_words_reach_a_text_only_model(call_style: Any, models: Any):
    services = Services(registry=registry(Pictures(), VideoHandler()), models=models, environment={})
    eye = create_llm("scripted", model="eye", replies=["A meadow."] * 9, accepts=["image"], services=services)
    llm = create_llm("scripted", replies=["A meadow."], vision_model=eye, services=services, **TINY)
    response = call_style.generate(llm, "What is shown?", media=[TALK])
    (decision,) = response.media
    assert decision.fallback == "frames+transcript"
    assert decision.model == "scripted/eye, whisper-tiny.en"
    assert decision.sent.text.startswith("[00:00] Frame: A meadow.\n[00:00] Good morning")
    assert decision.usage is not None
    assert len(eye.calls) == decision.sent.text.count("Frame:") > 1
    services.close()


@pytest.mark.process
@pytest.mark.weights
def test_frames_of_bunny_reach_a_text_only_model(models: Any):
    """Without a vision model, as measured facts."""
    services = Services(models=models, environment={})
    llm = create_llm("scripted", replies=["A photo."], services=services, video_frames=1, **TINY)
    (decision,) = llm.generate("What is shown?", media=[BUNNY]).media
    assert decision.fallback == "frames"
    assert decision.sent.text.startswith("[00:00] Frame: Measured, not seen by a vision model.")
    lost = {each.what: each for each in decision.lost}
    assert [*lost][:4] == ["frames", "seconds", "changes of the picture", "pictures of frames"]
    assert lost["pictures of frames"].places == ("00:00: only measured facts are known of it",)
    services.close()
