"""Videos: known and checked by their first bytes."""

import pytest

from abstractcore.errors import MediaError
from abstractcore.schema import AudioPart, VideoPart
from abstractcore_media import VideoHandler
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, blob, takes, type_of

CLIPS = {"clip.mp4": "video/mp4", "clip.webm": "video/webm", "clip.avi": "video/x-msvideo"}


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


def test_video_cannot_be_converted_to_text():
    handler = VideoHandler()
    assert not handler.fallbacks
    with pytest.raises(MediaError, match="send its audio"):
        handler.convert(VideoPart(blob(FILES / "clip.mp4", "video/mp4")), NO_MODELS)
