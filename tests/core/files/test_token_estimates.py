"""The estimate of a call's input tokens: everything that is sent counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from abstractcore.files.token_estimates import audio_tokens, estimated_tokens
from abstractcore.ports import ModelProfile
from abstractcore.ports.profiles import TokenRule
from abstractcore.schema import (
    MEDIA_PARTS,
    AudioPart,
    Blob,
    DocumentPart,
    HostedTool,
    HostedToolCall,
    HostedToolResult,
    ImagePart,
    MediaDecision,
    MediaFacts,
    Message,
    ModelCall,
    OpaquePart,
    OutputSchema,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    ToolSpec,
    VideoPart,
)
from abstractcore.schema.parts import ALL_PARTS
from abstractcore.schema.token_counts import text_tokens

SAID = "The ferry leaves the harbor at half past seven."
ASK = Message.user("hi")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": SAID}}}
TYPES = {ImagePart: "image/png", AudioPart: "audio/mpeg", VideoPart: "video/mp4", DocumentPart: "application/pdf"}


def blob(media_type: str, size: int = 50_000) -> Blob:
    return Blob.from_bytes(bytes(size), media_type)


def with_message(*parts: Any, role: Any = "user") -> ModelCall:
    return ModelCall("m", (ASK, Message(role, parts)))


PARTS: Mapping[type, ModelCall] = {
    TextPart: with_message(TextPart(SAID)),
    ReasoningPart: with_message(ReasoningPart(SAID), TextPart("."), role="assistant"),
    ToolCall: with_message(ToolCall("1", "look", '{"place": "harbor"}'), role="assistant"),
    ToolResult: ModelCall(
        "m",
        (ASK, Message("assistant", (ToolCall("1", "look"),)), Message("tool", (ToolResult.text("1", SAID),))),
    ),
    HostedToolCall: with_message(HostedToolCall("1", "web_search", '{"query": "ferry"}'), role="assistant"),
    HostedToolResult: with_message(
        HostedToolCall("1", "web_search"), HostedToolResult("1", (TextPart(SAID),)), role="assistant"
    ),
    OpaquePart: with_message(OpaquePart("openai", "item", {"text": SAID}), role="assistant"),
    **{cls: with_message(cls(blob(media_type))) for cls, media_type in TYPES.items()},
}


def test_every_part_counts():
    least, walked = estimated_tokens(ModelCall("m", (ASK, Message.user("."))), ModelProfile()), 0
    for cls in ALL_PARTS:
        found = estimated_tokens(PARTS[cls])
        assert found > least, cls
        assert found.estimated
        walked += 1
    assert walked == 11


@pytest.mark.parametrize(
    "more",
    [
        {"tools": (ToolSpec("look", SAID, SCHEMA),)},
        {"hosted_tools": (HostedTool("web_search", {"filters": {"allowed_domains": ["example.com"]}}),)},
        {"output": OutputSchema("city", SCHEMA)},
        {"provider_options": {"p": {"tools": [{"type": "custom", "name": "look", "description": SAID}]}}},
        {"messages": (Message.system(SAID), ASK)},
    ],
    ids=lambda more: next(iter(more)),
)
def test_everything_beside_messages_counts(more: dict[str, Any]):
    call = ModelCall("m", (ASK,), "p")
    assert estimated_tokens(call.with_(**more)) > estimated_tokens(call) + 8


def test_tool_that_is_searched_for_counts_nothing_until_it_is_found():
    call = ModelCall("m", (ASK,), tools=(ToolSpec("look", SAID, SCHEMA),))
    deferred = call.with_(
        tools=(ToolSpec("look", SAID, SCHEMA, defer=True),), hosted_tools=(HostedTool("tool_search"),)
    )
    assert estimated_tokens(deferred) < estimated_tokens(call)


def decided(part: Any, route: Any, **more: Any) -> MediaDecision:
    return MediaDecision("messages[1].parts[0]", "file", part.blob.media_type, part.type, route, "", **more)


def of_file(part: Any, route: Any, profile: ModelProfile, **more: Any) -> int:
    """The tokens of a file: those of a call with it, less those of one without."""
    beside = estimated_tokens(with_message(TextPart(".")), profile) - text_tokens(".")
    decision = decided(part, route, **more)
    return estimated_tokens(with_message(part), profile, [decision]) - beside


ANTHROPIC = TokenRule("area", pixels=750, max_edge=1568, most=1600)
"""platform.claude.com/docs/en/build-with-claude/vision: tokens = width * height / 750."""
OPENAI = TokenRule("tiles", tokens=170, base=85, pixels=512, max_edge=2048, short_edge=768)
"""platform.openai.com/docs/guides/images-vision: GPT-4o, 85 and 170 a tile."""
GEMINI = TokenRule("page", tokens=258)
"""ai.google.dev/gemini-api/docs/document-processing: 258 tokens a page."""


@pytest.mark.parametrize(
    ("part", "rule", "facts", "tokens"),
    [
        (ImagePart(blob("image/png")), {"image": ANTHROPIC}, MediaFacts(width=1000, height=1000), 1334),
        (ImagePart(blob("image/png")), {"image": ANTHROPIC}, MediaFacts(width=200, height=200), 54),
        (ImagePart(blob("image/png")), {"image": OPENAI}, MediaFacts(width=1024, height=1024), 765),
        (ImagePart(blob("image/png"), detail="low"), {"image": OPENAI}, MediaFacts(width=2048, height=4096), 85),
        (DocumentPart(blob("application/pdf")), {"pdf": GEMINI}, MediaFacts(pages=7), 7 * 258),
        (AudioPart(blob("audio/mpeg")), {"audio": TokenRule("second", 32)}, MediaFacts(seconds=90.0), 90 * 32),
        (VideoPart(blob("video/mp4")), {"video": TokenRule("second", 258, 32)}, MediaFacts(seconds=10.0), 2900),
    ],
)
def test_measured_file_counts_by_the_published_rule(part: Any, rule: Any, facts: MediaFacts, tokens: int):
    assert of_file(part, "native", ModelProfile(media_tokens=rule), facts=facts) == tokens


@pytest.mark.parametrize("cls", MEDIA_PARTS)
def test_file_that_was_not_measured_counts_by_its_size(cls: type):
    small, large = (cls(blob(TYPES[cls], size)) for size in (100_000, 1_000_000))
    for route in ("native", "fallback"):
        of_small, of_large = (of_file(part, route, ModelProfile()) for part in (small, large))
        assert 0 < of_small <= of_large
        assert (cls is ImagePart) == (of_small == of_large), "the pixels of an image do not follow from its size"
    assert of_file(small, "left_out", ModelProfile()) < 100


@pytest.mark.parametrize("cls", [DocumentPart, VideoPart, ImagePart])
def test_pictures_that_a_file_will_become_count_as_images(cls: type):
    part, facts = cls(blob(TYPES[cls])), MediaFacts(pages=5, width=10, height=10, seconds=5.0)
    pictures = of_file(part, "fallback", ModelProfile(), facts=facts, outputs=("image/png",))
    assert pictures % 1399 == 0, "1024 by 1024 pixels, by the rule of Claude's models"
    fewer = of_file(part, "fallback", ModelProfile(), facts=facts, outputs=("image/png",), fit={"images": 1})
    assert fewer == 1399


def test_text_file_counts_as_its_text_whether_it_was_read_or_not(tmp_path: Any):
    path = tmp_path / "notes.txt"
    path.write_text(SAID)
    held, named = Blob.from_bytes(SAID.encode(), "text/plain"), Blob.from_file(path, "text/plain")
    assert of_file(DocumentPart(held), "inline", ModelProfile()) == text_tokens(SAID)
    assert of_file(DocumentPart(named), "inline", ModelProfile()) == pytest.approx(text_tokens(SAID), abs=3)
    undecided = estimated_tokens(with_message(DocumentPart(held)))
    assert undecided == estimated_tokens(with_message(TextPart(SAID)))


def test_tokens_that_a_decision_has_are_those_of_its_file():
    assert of_file(ImagePart(blob("image/png")), "native", ModelProfile(), tokens=77) == 77


def test_recordings_are_named_apart_since_they_cost_more():
    part = AudioPart(blob("audio/mpeg"))
    decisions = [decided(part, "native", facts=MediaFacts(seconds=10.0))]
    assert audio_tokens(with_message(part), ModelProfile(), decisions) == 320
    assert audio_tokens(with_message(part), ModelProfile(), [decided(part, "fallback")]) == 0
