"""A plan names the packages that a conversion needs and that are not installed, before anything is sent."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from abstractcore import Services, create_llm
from tests.media.parts import EXAMPLES, FILES

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
        (EXAMPLES / "invoice.pdf", "pypdf", "pypdf"),
        (FILES / "documents" / "note.rtf", "firecrawl-anydoc", "anydoc"),
        (FILES / "documents" / "harvest.doc", "firecrawl-anydoc", "anydoc"),
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
        f"Install them with: pip install {package}"
    )


def test_plan_of_a_file_that_is_sent_itself_needs_no_package(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    services = Services(environment={})
    llm = create_llm("scripted", replies=["a"], accepts=["application/pdf"], services=services)
    plan = llm.plan("What is it?", media=[EXAMPLES / "invoice.pdf"])
    services.close()
    assert (plan[0].route, plan.warnings) == ("native", ())
