"""The choice of frames, against the cuts that ffmpeg's scene filter finds."""

from __future__ import annotations

import pytest

from abstractcore.schema import VideoPart
from abstractcore_media.video.reader import VideoReader
from abstractcore_media.video.sampling import Candidate, cuts, even_times, sharpest, spread
from abstractcore_media.video.selection import choose_frames
from tests.media.parts import FILES, blob

CUTS_OF_FFMPEG = [3.0, 8.0, 12.0, 14.0, 17.0]
"""select='gt(scene,0.3)' of ffmpeg 9.0 on scenes.mp4."""


def reader() -> VideoReader:
    part = VideoPart(blob(FILES / "scenes.mp4", "video/mp4"))
    return VideoReader(part, max_side=768, max_pixels=40_000_000, threads=1, check_stop=lambda: None)


def test_scenes_begin_where_the_filter_of_ffmpeg_finds_cuts():
    survey = reader().survey(0, 19)
    assert not survey.only_keyframes
    assert len(survey.candidates) == 475
    found = [time for _, time in cuts(survey.candidates, only_keyframes=False)]
    assert found == pytest.approx(CUTS_OF_FFMPEG, abs=0.05)


def test_keyframes_alone_find_the_same_cuts(monkeypatch: pytest.MonkeyPatch):
    """The encoder puts one at each cut."""
    monkeypatch.setattr("abstractcore_media.video.reader._ALL_PIXELS", 0)
    survey = reader().survey(0, 19)
    assert survey.only_keyframes
    found = [time for _, time in cuts(survey.candidates, only_keyframes=True)]
    assert {round(time) for time in found} == {round(time) for time in CUTS_OF_FFMPEG}


@pytest.mark.parametrize("count", [6, 7, 16])
def test_each_scene_has_a_frame(count: int):
    times = [frame.time for frame in choose_frames(reader(), 19.0, count, None, "scenes.mp4").frames]
    assert len(times) <= count
    scenes = zip([0.0, *CUTS_OF_FFMPEG], [*CUTS_OF_FFMPEG, 19.0], strict=True)
    for start, end in scenes:
        assert any(start - 0.01 <= time < end for time in times), (start, end, times)


def test_gaps_are_filled_evenly_and_not_too_closely():
    assert spread([0], 8, 4, 1) == [0, 2, 4, 6]
    assert spread([0, 7], 8, 3, 1) == [0, 3.5, 7]
    assert spread([0], 1.5, 9, 1) == [0]
    assert spread([], 5, 3, 1) == []
    assert even_times(0, 8, 4) == [1, 3, 5, 7]


def test_sharpest_frame_of_the_next_half_second_is_taken():
    frames = [Candidate(time, 0, sharp) for time, sharp in [(0, 1), (0.2, 9), (0.4, 5), (0.6, 99), (1, 3), (1.2, 2)]]
    assert sharpest(frames, [0, 1]) == [0.2, 1]
    assert sharpest(frames, [0, 0.1]) == [0, 0.2]
    assert sharpest(frames, [5]) == [5]
