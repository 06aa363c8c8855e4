"""Decoders in processes of their own make the same of files, and what breaks them is lost, not the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from abstractcore.concurrency.process_pool import ProcessPool
from abstractcore.errors import CorruptFileError, WrongPasswordError
from abstractcore.ports import Conversion, MediaContext
from abstractcore.schema import Blob, FrozenDict, MediaControls, VideoPart
from abstractcore_media import AudioHandler, PdfHandler, VideoHandler
from tests.core.concurrency import hostile_functions
from tests.media.document.documents import DOCUMENTS, converted
from tests.media.parts import EXAMPLES, FILES, NO_MODELS, pdf, sound

IMAGES = frozenset({"text", "image/png", "image/jpeg"})
HTML = b"<h1>Head</h1><p>A <a href='https://a.test'>link</a></p><table><tr><td>1</td></tr></table>" * 500


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPool]:
    pool = ProcessPool()
    yield pool
    pool.close()


class Crashing:
    """An `Isolation` whose decoders crash, after they have yielded so many values."""

    def __init__(self, pool: ProcessPool, values: int) -> None:
        self._pool = pool
        self._values = values

    def run(self, function: Any, arguments: Any, *, source: str, seconds: float, timeout: float | None) -> Any:
        crash = hostile_functions.crash
        return self._pool.run(crash, (self._values,), source=source, seconds=seconds, timeout=timeout)


class CrashingPage:
    """An `Isolation` whose decoder crashes on one page of a PDF."""

    def __init__(self, pool: ProcessPool, number: int) -> None:
        self._pool = pool
        self._number = number

    def run(self, function: Any, arguments: Any, *, source: str, seconds: float, timeout: float | None) -> Any:
        answers = self._pool.run(function, arguments, source=source, seconds=seconds, timeout=timeout)
        question = yield next(answers)
        while question[:2] != ("content", self._number):
            question = yield answers.send(question)
        answers.close()
        yield from self._pool.run(hostile_functions.crash, (0,), source=source, seconds=seconds, timeout=timeout)


def both(pool: ProcessPool, convert: Callable[[MediaContext], Conversion]) -> tuple[Conversion, Conversion]:
    """A conversion in this process, and in others."""
    here = replace(NO_MODELS, accepted_outputs=IMAGES)
    return convert(here), convert(replace(here, isolation=pool))


@pytest.mark.process
@pytest.mark.parametrize(
    "file", ["harvest.doc", "note.rtf", "sales.xls", "harvest.epub", "mail.msg", "harvest.docx", "page.html"]
)
def test_documents_are_the_same(pool: ProcessPool, file: str):
    content: Path | bytes = HTML if file == "page.html" else DOCUMENTS / file
    here, there = both(pool, lambda context: converted(content, file, context))
    assert (there, there.anchors, there.lost) == (here, here.anchors, here.lost)
    assert len(there.anchors) > 1


def test_pages_and_pictures_of_a_pdf_are_the_same(pool: ProcessPool):
    for file in ("with_scan.pdf", "documents/harvest.pdf"):
        here, there = both(pool, partial(PdfHandler().convert, pdf(FILES / file)))
        assert (there, there.anchors, there.lost) == (here, here.anchors, here.lost)
        assert any(part.type == "image" for part in there.parts)


def test_frames_of_a_video_are_the_same(pool: ProcessPool):
    part = VideoPart(Blob.from_file(FILES / "scenes.mp4", "video/mp4"), controls=MediaControls(start=2, end=12))
    here, there = both(pool, lambda context: VideoHandler().convert(part, replace(context, fallbacks=("frames",))))
    assert (there, there.anchors, there.lost) == (here, here.anchors, here.lost)


@pytest.mark.weights
def test_transcript_is_the_same(pool: ProcessPool, models: Any):
    options = FrozenDict({"transcription_model": "whisper-tiny.en"})
    handler = AudioHandler()
    part = sound((EXAMPLES / "meeting.wav").read_bytes())  # no file, but bytes
    here = handler.convert(part, MediaContext(models, options))
    there = handler.convert(part, MediaContext(models, options, isolation=pool))
    assert (there, there.anchors, there.lost) == (here, here.anchors, here.lost)


def test_passwords_and_their_errors_pass_between_processes(pool: ProcessPool):
    context = replace(NO_MODELS, isolation=pool)
    locked = DOCUMENTS / "locked.doc"
    with pytest.raises(WrongPasswordError, match=r"locked\.doc"):
        converted(locked, context=context, password="wrong")


@pytest.mark.process
def test_page_that_crashes_its_decoder_is_lost_and_the_others_stay(pool: ProcessPool):
    conversion = PdfHandler().convert(pdf(FILES / "two_pages.pdf"), replace(NO_MODELS, isolation=CrashingPage(pool, 1)))
    assert conversion.text.startswith("[page 1]\n\n[page 2]\nRainfall in May")
    assert [(loss.what, loss.count, loss.places) for loss in conversion.lost] == [("pages", 1, ("page 1",))]
    assert "page_without_text" in [warning.code for warning in conversion.warnings]


@pytest.mark.process
def test_pdf_that_crashes_its_decoder_is_refused(pool: ProcessPool):
    with pytest.raises(CorruptFileError, match="its decoder crashed"):
        PdfHandler().convert(pdf(FILES / "two_pages.pdf"), replace(NO_MODELS, isolation=Crashing(pool, 0)))


@pytest.mark.process
@pytest.mark.parametrize("file", ["note.rtf", "sales.xls"])
def test_document_that_crashes_its_decoder_is_refused(pool: ProcessPool, file: str):
    with pytest.raises(CorruptFileError, match=rf"{file} cannot be read: its decoder crashed \(SIGSEGV\)"):
        converted(DOCUMENTS / file, context=replace(NO_MODELS, isolation=Crashing(pool, 0)))


@pytest.mark.process
@pytest.mark.parametrize(
    ("handler", "part"),
    [
        (PdfHandler(), pdf(FILES / "two_pages.pdf")),
        (AudioHandler(), sound(FILES / "speech.mp3", "audio/mpeg")),
        (VideoHandler(), VideoPart(Blob.from_file(EXAMPLES / "talk.mp4", "video/mp4"))),
    ],
    ids=["pdf", "audio", "video"],
)
def test_files_are_measured_in_other_processes(pool: ProcessPool, handler: Any, part: Any):
    assert handler.measure(part, replace(NO_MODELS, isolation=pool)) == handler.measure(part)
    with pytest.raises(CorruptFileError, match="its decoder crashed"):
        handler.measure(part, replace(NO_MODELS, isolation=Crashing(pool, 0)))
