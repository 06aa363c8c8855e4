"""Pages, seconds and pixels, read from the headers of real files."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstractcore import AudioPart, DocumentPart, MediaError, MediaFacts, Services, VideoPart, create_llm
from abstractcore.ports import MeasuresMedia
from abstractcore_media import AudioHandler, PdfHandler, VideoHandler
from tests.media.mutations import mutations
from tests.media.parts import EXAMPLES, FILES, blob, pdf

SPEECH = MediaFacts(seconds=7.06)


def blank_pages(count: int) -> bytes:
    """Returns a PDF of blank pages."""
    from pypdf import PdfWriter

    writer, file = PdfWriter(), io.BytesIO()
    for _ in range(count):
        writer.add_blank_page(100, 100)
    writer.write(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("handler", "path", "facts"),
    [
        (PdfHandler(), FILES / "two_pages.pdf", MediaFacts(pages=2)),
        (PdfHandler(), FILES / "linearized.pdf", MediaFacts(pages=2)),
        (PdfHandler(), FILES / "restricted.pdf", MediaFacts(pages=2)),
        (AudioHandler(), FILES / "speech.mp3", SPEECH),
        (AudioHandler(), FILES / "speech.m4a", SPEECH),
        (AudioHandler(), FILES / "speech.flac", MediaFacts(seconds=1.5)),
        (AudioHandler(), FILES / "speech.ogg", SPEECH),
        (AudioHandler(), EXAMPLES / "meeting.wav", SPEECH),
        (VideoHandler(), EXAMPLES / "talk.mp4", MediaFacts(320, 180, seconds=7.0)),
        (VideoHandler(), FILES / "clip.webm", MediaFacts(160, 90, seconds=1.0)),
        (VideoHandler(), FILES / "clip.avi", MediaFacts(160, 90, seconds=1.0)),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_facts_of_files_by_other_programs(handler, path: Path, facts: MediaFacts):
    assert isinstance(handler, MeasuresMedia)
    types = {".pdf": "application/pdf", ".wav": "audio/wav", ".mp3": "audio/mpeg"}
    part_type = {"pdf": DocumentPart, "audio": AudioPart, "video": VideoPart}[handler.name]
    found = handler.measure(part_type(blob(path, types.get(path.suffix, f"{handler.name}/{path.suffix[1:]}"))))
    assert (found.pages, found.width, found.height) == (facts.pages, facts.width, facts.height)
    assert found.seconds == pytest.approx(facts.seconds, abs=0.1) if facts.seconds else found.seconds is None


@pytest.mark.parametrize("count", [b"900000", b"999999999", b"-4", b"0"])
def test_pages_that_a_pdf_only_claims_are_not_counted(count: bytes):
    lying = blank_pages(3).replace(b"/Count 3", b"/Count " + count)
    found = 0
    with contextlib.suppress(MediaError):
        found = PdfHandler().measure(pdf(lying)).pages
    assert found == (0 if count == b"900000" else 3)


@pytest.mark.parametrize("file", ["two_pages.pdf", "speech.mp3", "clip.mp4"])
def test_damaged_files_are_measured_or_refused(file: str):
    handler, part_type, media_type = {
        "two_pages.pdf": (PdfHandler(), DocumentPart, "application/pdf"),
        "speech.mp3": (AudioHandler(), AudioPart, "audio/mpeg"),
        "clip.mp4": (VideoHandler(), VideoPart, "video/mp4"),
    }[file]
    for damaged in mutations((FILES / file).read_bytes(), 100):
        with contextlib.suppress(MediaError):
            assert isinstance(handler.measure(part_type(blob(damaged, media_type))), MediaFacts)


@pytest.fixture
def services() -> Iterator[Services]:
    services = Services(environment={"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"})
    yield services
    services.close()


@pytest.mark.process
def test_pdf_with_more_pages_than_claude_reads_is_sent_as_text(services: Services, tmp_path: Path):
    (path := tmp_path / "long.pdf").write_bytes(blank_pages(101))
    media = [FILES / "two_pages.pdf", path]
    haiku = create_llm("anthropic/claude-haiku-4-5", services=services).plan("?", media=media)
    assert [each.route for each in haiku] == ["native", "fallback"]
    assert "it has 101 pages; the limit is 100" in haiku[1].reason
    opus = create_llm("anthropic/claude-opus-5-5", services=services).plan("?", media=media)
    assert [each.route for each in opus] == ["native", "native"]


@pytest.mark.process
def test_locked_pdf_is_of_unknown_length_and_never_refused_by_a_guess():
    llm = create_llm("scripted", facts={"accepts": ["application/pdf"], "media_limits": {"pdf_pages": 1}})
    (decision,) = llm.plan("?", media=[FILES / "locked.pdf"])
    assert (decision.route, decision.facts) == ("native", None)
