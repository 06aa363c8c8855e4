"""A file may take over the process of its decoder: whatever that sends, this process keeps only so much of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from abstractcore.errors import CorruptFileError, MediaError
from abstractcore.ports import MediaContext
from abstractcore.schema import Blob, ImagePart, VideoPart
from abstractcore_media import AudioHandler, ImageHandler, VideoHandler
from abstractcore_media.document.block_values import values_of
from abstractcore_media.document.blocks import LostContent, PageStart, Picture
from abstractcore_media.document.work_limits import WorkLimits
from tests.media.document.documents import DOCUMENTS, converted
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, sound

PIXELS = bytes(30)
MEGABYTE = bytes(1_000_000)


class Hostile:
    """An `Isolation` whose processes send these values, and count them."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._values = values
        self.sent = 0

    def run(
        self,
        function: Callable[..., Generator[Any, Any, None]],
        arguments: Sequence[object],
        *,
        source: str,
        seconds: float,
        timeout: float | None,
    ) -> Generator[Any, Any, None]:
        for value in self._values:
            self.sent += 1
            yield value


def context(isolation: Hostile, **fields: Any) -> MediaContext:
    return replace(NO_MODELS, isolation=isolation, **fields)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("block", "most"),
    [
        (PageStart(1, ""), 100_001),
        (LostContent("rows", 1, None, "row 1"), 100_001),
        (Picture(MEGABYTE, "a.png"), 11),
    ],
    ids=["pages", "losses", "pictures"],
)
def test_document_without_end_is_refused(block: Any, most: int):
    isolation = Hostile(repeat([values_of(block)]))
    with pytest.raises(MediaError, match="it decompresses to more than 10,000,000 bytes"):
        converted(
            DOCUMENTS / "note.rtf",
            context=context(isolation),
            limits=WorkLimits(seconds=600, unpacked_bytes=10_000_000),
        )
    assert isolation.sent <= most


def test_video_has_no_more_frames_than_were_wanted():
    head = [(4.0, 100, True, False), ((), 1, 0.0, True, 0.0)]
    isolation = Hostile(iter([*head, *repeat((0.0, 1.0, 5, 2, PIXELS), 1000)]))
    part = VideoPart(Blob.from_file(EXAMPLES / "bunny.mp4", "video/mp4"))
    wanted = context(isolation, fallbacks=("frames",), accepted_outputs=frozenset({"text", "image/jpeg"}))
    assert VideoHandler().convert(part, wanted).text.count("[00:00]") == VideoHandler.max_frames
    assert isolation.sent == 2 + VideoHandler.max_frames


def test_larger_frame_than_was_wanted_is_refused():
    isolation = Hostile(iter([(4.0, 100, True, False), ((), 1, 0.0, True, 0.0), (0.0, 1.0, 1_000_000, 1, b"")]))
    part = VideoPart(Blob.from_file(EXAMPLES / "bunny.mp4", "video/mp4"))
    wanted = context(isolation, fallbacks=("frames",), accepted_outputs=frozenset({"text", "image/jpeg"}))
    with pytest.raises(CorruptFileError, match="its decoder sent a larger frame than it may"):
        VideoHandler().convert(part, wanted)


def test_sound_without_end_is_refused():
    class Short(AudioHandler):
        max_seconds = 60.0

    isolation = Hostile(repeat((0.0, 0.0, 0.0, True, bytes(160_000))))
    with pytest.raises(MediaError, match="is longer than 1 minutes"):
        Short().convert(sound(EXAMPLES / "meeting.wav"), context(isolation))
    assert isolation.sent <= 14


@pytest.mark.process
def test_image_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    child = tmp_path / "child.py"
    child.write_text("import sys\nwhile True: sys.stdout.buffer.write(bytes(1_000_000))")
    monkeypatch.setattr("abstractcore_media.image.heic._CHILD", child)
    monkeypatch.setattr("abstractcore_media.image.heic._OTHER_BYTES", 3_000_000)
    part = ImagePart(Blob.from_bytes((FILES / "turned.heic").read_bytes(), "image/heic"))
    with pytest.raises(MediaError, match="is a corrupt image"):
        ImageHandler().measure(part)
