"""Limits in pages and seconds: files are measured before it is decided how they are sent."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from abstractcore import (
    AudioPart,
    Blob,
    CorruptFileError,
    DocumentPart,
    MediaError,
    MediaFacts,
    Message,
    ModelCall,
    PluginError,
    Services,
    ToolCall,
    ToolResult,
    UnsupportedContentError,
    VideoPart,
    create_llm,
    tool,
)
from abstractcore.engine import lower
from abstractcore.ports import Fallback, ModelProfile
from abstractcore.schema import MediaControls
from abstractcore.testing import ScriptedReply
from tests.media_doubles import Handler, registry

TEXT = (Fallback("text", frozenset({"text", "image/png"})),)


@dataclass
class Measured(Handler):
    """Files that say their own length after their magic: `PAPER 12`."""

    measured: list = field(default_factory=list)

    def measure(self, part, context=None) -> MediaFacts:
        self.measured.append(threading.get_ident())
        content = part.blob.read().removeprefix(self.magic)
        if content == b" unreadable":
            raise MediaError("it is broken")
        if content == b" crashes":
            raise CorruptFileError("its decoder crashed")
        if content == b" BUG":
            raise RuntimeError("a bug")
        return MediaFacts(pages=int(content)) if self.kind == "document" else MediaFacts(seconds=float(content))


PAPERS = Measured("papers", "document", b"PAPER", "application/pdf", TEXT)
SOUNDS = Measured("sounds", "audio", b"SOUND", "audio/wav", TEXT)
CLIPS = Measured("clips", "video", b"CLIP", "video/mp4", TEXT)
HANDLERS = (PAPERS, SOUNDS, CLIPS)
ACCEPTS = ["application/pdf", "audio", "video"]


def file(handler: Measured, length: object, controls: MediaControls | None = None):
    parts = {"document": DocumentPart, "audio": AudioPart, "video": VideoPart}
    content = b"%s %s" % (handler.magic, str(length).encode())
    return parts[handler.kind](Blob.from_bytes(content, handler.media_type), controls=controls)


@pytest.fixture
def make():
    """Creates an LLM of a scripted model with limits."""
    for handler in HANDLERS:
        handler.measured.clear()
    services = Services(registry=registry(*HANDLERS), environment={})
    yield lambda controls=(), **limits: create_llm(
        "scripted",
        replies=["a"] * 3,
        facts={"accepts": ACCEPTS, "media_limits": limits, "media_controls": list(controls)},
        services=services,
    )
    services.close()


@pytest.mark.parametrize(
    ("limits", "files", "routes", "reason"),
    [
        ({"pdf_pages": 10}, [(PAPERS, 11), (PAPERS, 10)], "fallback native", "it has 11 pages; the limit is 10"),
        ({"all_pdf_pages": 20}, [(PAPERS, 8), (PAPERS, 8), (PAPERS, 8)], "fallback native native", "have 24 pages"),
        ({"all_pdf_pages": 20}, [(PAPERS, 8), (PAPERS, 21)], "native fallback", "it has 21 pages; the limit is 20"),
        ({"all_pdf_pages": 20}, [(PAPERS, "unreadable"), (PAPERS, 20)], "native native", ""),
        ({"audio_seconds": 60}, [(SOUNDS, 30.5), (SOUNDS, 30)], "fallback native", "have 60 seconds together"),
        ({"video_seconds": 60}, [(SOUNDS, 99), (CLIPS, 61)], "native fallback", "it has 61 seconds"),
        ({"images": 1}, [(PAPERS, 5000), (SOUNDS, 5000)], "native native", ""),
    ],
)
def test_files_that_are_too_long_are_converted(call_style, make, limits, files, routes: str, reason: str):
    llm = make(**limits)
    media = [file(*each) for each in files]
    found = call_style.generate(llm, "hi", media=media).media
    assert [each.route for each in found] == routes.split()
    assert reason in " ".join(each.reason for each in found)
    planned = llm.plan("hi", media=media)
    assert [(each.route, each.reason) for each in planned] == [(each.route, each.reason) for each in found]


def test_one_decision_reports_what_was_measured(make):
    (decision,) = make(pdf_pages=10).generate("hi", media=[file(PAPERS, 7)]).media
    assert decision.facts == MediaFacts(pages=7)


def test_policy_native_refuses_before_sending(call_style, make):
    llm = make(pdf_pages=10)
    with pytest.raises(UnsupportedContentError, match="it has 11 pages; the limit is 10"):
        call_style.generate(llm, "hi", media=[file(PAPERS, 11)], media_policy="native")
    assert not llm.calls


def test_only_what_decides_is_measured_and_once_outside_the_event_loop(call_style, make):
    llm = make(pdf_pages=10)
    for _ in range(2):
        call_style.generate(llm, "hi", media=[file(PAPERS, 3), file(PAPERS, 3), file(SOUNDS, 3)])
    call_style.generate(llm, "hi", media=[file(PAPERS, 4)], media_policy="fallback_only")
    assert (len(PAPERS.measured), len(SOUNDS.measured)) == (1, 0)
    if call_style.name == "async":
        assert PAPERS.measured != [threading.get_ident()]
    call_style.generate(make(images=1), "hi", media=[file(PAPERS, 3)])
    assert len(PAPERS.measured) == 1


def test_file_that_crashes_its_decoder_is_measured_once(call_style, make):
    """A file that could not be read for another reason is tried again: its package may have been installed."""
    llm = make(pdf_pages=10)
    for _ in range(2):
        (decision,) = call_style.generate(llm, "hi", media=[file(PAPERS, "crashes")]).media
        assert (decision.route, decision.facts) == ("native", None)
    assert len(PAPERS.measured) == 1
    llm.plan("hi", media=[file(PAPERS, "crashes"), file(PAPERS, "unreadable")])
    llm.plan("hi", media=[file(PAPERS, "unreadable")])
    assert len(PAPERS.measured) == 3


@pytest.mark.parametrize(
    ("followed", "route"),
    [(("document.pages", "audio.start", "audio.end", "video.end"), "native"), ((), "fallback")],
    ids=["followed", "not followed"],
)
@pytest.mark.parametrize(
    ("handler", "controls"),
    [(PAPERS, MediaControls(pages="1-9,11")), (SOUNDS, MediaControls(start=5, end=15)), (CLIPS, MediaControls(end=9))],
)
def test_only_the_part_that_is_sent_counts(make, handler, controls, followed, route):
    llm = make(followed, pdf_pages=10, audio_seconds=10, video_seconds=10)
    (decision,) = llm.plan("hi", media=[file(handler, 20, controls)])
    assert decision.route == route


def test_files_of_history_and_of_tool_results_count():
    key = file(PAPERS, 6).blob.sha256, "application/pdf"
    messages = (
        Message.user(file(PAPERS, 6), "look"),
        Message.assistant(ToolCall("c", "look")),
        Message.tool(ToolResult.of("c", file(PAPERS, 6))),
    )
    profile = ModelProfile(accepts=frozenset(ACCEPTS), media_limits={"all_pdf_pages": 10})
    found = lower(ModelCall("m", messages), profile, HANDLERS, facts={key: MediaFacts(pages=6)}).decisions
    assert [each.route for each in found] == ["fallback", "native"]


def test_tool_result_that_is_too_long_becomes_a_note(call_style):
    @tool
    def scan() -> list[Any]:
        """Scans a page."""
        return [file(PAPERS, 11)]

    services = Services(registry=registry(*HANDLERS), environment={})
    replies = [ScriptedReply.tool_call("scan", {}), "done"]
    facts = {"accepts": ACCEPTS, "media_limits": {"pdf_pages": 10}}
    llm = create_llm("scripted", replies=replies, facts=facts, services=services)
    response = call_style.generate(llm, "hi", tools=[scan], run_tools=True, media_policy="native")
    assert "it has 11 pages; the limit is 10" in response.tool_steps[0].result.as_text
    services.close()


def test_bug_of_a_plugin_is_reported(call_style, make):
    with pytest.raises(PluginError, match="papers"):
        call_style.generate(make(pdf_pages=10), "hi", media=[file(PAPERS, "BUG")])
