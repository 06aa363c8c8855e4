"""Conversions that take long report how far they are, also where the decoder runs in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.errors import MediaError
from abstractcore.ports import Conversion, MediaContext, ModelStore
from abstractcore.schema import Blob, FrozenDict, ImagePart, MediaPart, VideoPart
from abstractcore_media import AudioHandler, ImageHandler, PdfHandler, VideoHandler
from tests.media.image.test_words import png, sign
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, pdf, sound

Seen = list[tuple[float, float | None, str]]


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    pool = ProcessPool()
    yield pool
    pool.close()


@pytest.fixture
def seen() -> Seen:
    return []


def described(part: MediaPart) -> Conversion:
    """What is said of a frame."""
    return Conversion("a meadow", "description")


def watched(seen: Seen, pool: ProcessPool, **fields: Any) -> MediaContext:
    return replace(NO_MODELS, isolation=pool, on_progress=lambda *progress: seen.append(progress), **fields)


@pytest.mark.process
def test_pages_of_a_pdf_are_reported(seen: Seen, pool: ProcessPool):
    for fallback, outputs, first in (("text", {"text"}, 0), ("pages", {"image/png"}, 1)):
        seen.clear()
        context = watched(seen, pool, fallbacks=(fallback,), accepted_outputs=outputs, to_text=described)
        PdfHandler().convert(pdf(FILES / "with_scan.pdf"), context)
        assert seen == [(number, 2, "pages") for number in range(first, 3)]


@pytest.mark.weights
def test_pages_of_an_image_are_reported(seen: Seen, pool: ProcessPool):
    first, second = sign("Monday"), sign("Tuesday")
    tiff = png(first, "TIFF", save_all=True, append_images=[second])
    part = ImagePart(Blob.from_bytes(tiff, "image/tiff"))
    ImageHandler().convert(part, watched(seen, pool, fallbacks=("ocr",)))
    assert seen == [(1, 2, "pages"), (2, 2, "pages")]


@pytest.mark.weights
def test_seconds_of_a_recording_are_reported(seen: Seen, pool: ProcessPool, models: ModelStore):
    options = FrozenDict({"transcription_model": "whisper-tiny.en"})
    AudioHandler().convert(sound(EXAMPLES / "meeting.wav"), watched(seen, pool, models=models, options=options))
    (middle, total, _), (end, same, what) = seen[0], seen[-1]
    assert 0 < middle <= total
    assert end == same == pytest.approx(total, abs=0.01)
    assert what == "seconds"


def test_frames_of_a_video_that_are_described_are_reported(seen: Seen, pool: ProcessPool):
    part = VideoPart(Blob.from_file(FILES / "scenes.mp4", "video/mp4"))
    context = watched(seen, pool, fallbacks=("frames",), to_text=described, options=FrozenDict({"video_frames": 3}))
    VideoHandler().convert(part, context)
    assert seen == [(1, 3, "frames"), (2, 3, "frames"), (3, 3, "frames")]


@pytest.mark.process
def test_function_that_raises_ends_a_conversion(pool: ProcessPool):
    """The engine gives one that raises nothing; a decoder is ended whatever happens."""

    def stop(*progress: object) -> None:
        raise MediaError("stopped")

    context = replace(watched([], pool, to_text=described), on_progress=stop)
    with pytest.raises(MediaError, match="stopped"):
        PdfHandler().convert(pdf(FILES / "with_scan.pdf"), context)
    assert PdfHandler().convert(pdf(FILES / "with_scan.pdf"), replace(context, on_progress=print)).text
