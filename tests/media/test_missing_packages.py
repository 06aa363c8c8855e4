"""Packages that are not installed are named: by a plan, before anything is sent, and by the errors of conversions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from abstractcore import MissingExtraError, Services, create_llm
from abstractcore_media.document.format_handler import explained as document_explained
from abstractcore_media.document.pdf.opening import explained as pdf_explained
from abstractcore_media.image.opening import explained as image_explained
from abstractcore_media.video.describing import described
from tests.media.parts import EXAMPLES, FILES, NO_MODELS

pytestmark = pytest.mark.process


@pytest.fixture
def llm():
    services = Services(environment={})
    yield create_llm("scripted", replies=["a"], accepts=["text"], services=services)
    services.close()


@pytest.mark.parametrize(
    ("file", "package", "module"),
    [
        (FILES / "small.jpg", "pillow", "PIL"),
        (FILES / "scanned_page.png", "rapidocr", "rapidocr"),
        (FILES / "speech.mp3", "faster-whisper", "faster_whisper"),
        (FILES / "clip.mp4", "av", "av"),
        (FILES / "clip.mp4", "pillow", "PIL"),
        (EXAMPLES / "invoice.pdf", "pypdfium2", "pypdfium2"),
        (FILES / "documents" / "note.rtf", "firecrawl-anydoc", "anydoc"),
        (FILES / "documents" / "harvest.doc", "olefile", "olefile"),
        (FILES / "documents" / "sales.xls", "xlrd", "xlrd"),
        (FILES / "documents" / "mail.msg", "olefile", "olefile"),
    ],
)
def test_plan_names_a_missing_package(llm, monkeypatch: pytest.MonkeyPatch, file: Path, package: str, module: str):
    assert llm.plan("What is it?", media=[file]).warnings == ()
    monkeypatch.setitem(sys.modules, module, None)
    (warning,) = llm.plan("What is it?", media=[file]).warnings
    assert (warning.code, warning.path) == ("missing_package", "messages[0].parts[0]")
    assert warning.message == (
        f"{file.name} cannot be converted before these packages are installed: {package}. "
        f"Install with: pip install {package}."
    )


def test_plan_of_a_file_that_is_sent_itself_needs_no_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    services = Services(environment={})
    llm = create_llm("scripted", replies=["a"], accepts=["application/pdf"], services=services)
    plan = llm.plan("What is it?", media=[EXAMPLES / "invoice.pdf"])
    services.close()
    assert (plan[0].route, plan.warnings) == ("native", ())


class NoWork:
    """The work on a file, for messages."""

    source = "report.pdf"


@pytest.mark.parametrize(
    ("guard", "extra"),
    [
        (lambda: image_explained("a.png"), "images"),
        (lambda: pdf_explained("a.pdf"), "documents"),
        (lambda: document_explained(cast(Any, NoWork()), "Word file"), "documents"),
    ],
)
def test_module_that_a_decoder_lacks_is_not_a_corrupt_file(guard: Callable[[], Any], extra: str):
    message = rf"package lost,.*pip install lost \(part of the extra '{extra}'"
    with pytest.raises(MissingExtraError, match=message), guard():
        raise ModuleNotFoundError("No module named 'lost.part'", name="lost.part")


def test_frames_that_no_installed_package_describes_name_it():
    missing = MissingExtraError("Reading text in images needs the package x.")
    frame = SimpleNamespace(jpeg=lambda: b"", time=0.0)

    def lacking(part: object) -> Any:
        raise missing

    context = replace(NO_MODELS, to_text=lacking)
    with pytest.raises(MissingExtraError) as caught:
        described([cast(Any, frame)], context, "clip.mp4", lambda: None)
    assert caught.value is missing
