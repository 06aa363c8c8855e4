"""Tokens of files, by the rules that vendors publish, against the examples on their pages."""

from __future__ import annotations

import pytest

from abstractcore import (
    AudioPart,
    Blob,
    DocumentPart,
    ImagePart,
    MediaFacts,
    Message,
    ModelCall,
    Services,
    UnsupportedContentError,
    VideoPart,
)
from abstractcore.engine import lower
from abstractcore.ports import Fallback, ModelProfile
from abstractcore.ports.profiles import TokenRule
from abstractcore.schema import MediaControls
from tests.media_doubles import Handler

PAPERS = Handler("papers", "document", b"PAPER", "application/pdf", (Fallback("text", frozenset({"text"})),))
IMAGE, VIDEO = ImagePart(Blob.from_bytes(b"i", "image/png")), VideoPart(Blob.from_bytes(b"v", "video/mp4"))
AUDIO, PDF = AudioPart(Blob.from_bytes(b"a", "audio/wav")), DocumentPart(Blob.from_bytes(b"p", "application/pdf"))


def tokens(provider: str, model: str, part, facts: MediaFacts) -> int | None:
    profile = Services(environment={}).catalogue.profile(provider, model)
    call = ModelCall(model, (Message.user(part, "?"),))
    (decision,) = lower(call, profile, (), facts={(part.blob.sha256, part.blob.media_type): facts}).decisions
    return decision.tokens


def controlled(part, **controls):
    return type(part)(part.blob, controls=MediaControls(**controls))


@pytest.mark.parametrize(
    ("model", "part", "facts", "expected"),
    [
        # https://developers.openai.com/api/docs/guides/images-vision#calculating-costs
        ("openai/gpt-4o", IMAGE, MediaFacts(1024, 1024), 765),
        ("openai/gpt-4o", IMAGE, MediaFacts(2048, 4096), 1105),
        ("openai/gpt-4o", ImagePart(IMAGE.blob, detail="low"), MediaFacts(2048, 4096), 85),
        ("openai/gpt-4.1-mini", IMAGE, MediaFacts(1800, 2400), 2353),
        ("openai/gpt-4.1-mini", IMAGE, MediaFacts(4000, 1474), 2348),
        # The same page, since 2026; 1.2 tokens a patch: https://github.com/vybestack/llxprt-code/issues/3477
        ("openai/gpt-5.2", IMAGE, MediaFacts(4000, 3000), 1743),
        ("openai/gpt-5.4", IMAGE, MediaFacts(1024, 1024), 1229),
        ("openai/gpt-5.4", IMAGE, MediaFacts(4000, 3000), 2942),
        ("openai/gpt-5.4", ImagePart(IMAGE.blob, detail="original"), MediaFacts(4000, 3000), 11_868),
        ("openai/gpt-5.4", ImagePart(IMAGE.blob, detail="low"), MediaFacts(2048, 2048), 308),
        ("openai/gpt-5.4-mini", IMAGE, MediaFacts(1800, 2400), 2353),
        ("openai/gpt-5.5", IMAGE, MediaFacts(4000, 3000), 11_868),
        ("openai/gpt-5.6", IMAGE, MediaFacts(4000, 3000), 14_100),
        ("openai/gpt-5.6", ImagePart(IMAGE.blob, detail="high"), MediaFacts(4000, 3000), 2942),
        # https://platform.claude.com/docs/en/build-with-claude/vision: a token for each 28 x 28 pixels; the two photos
        # were counted by the endpoint, https://www.claudecodecamp.com/p/images-cost-3x-more-tokens-in-claude-opus-4-7
        ("anthropic/claude-haiku-4-5", IMAGE, MediaFacts(200, 200), 64),
        ("anthropic/claude-haiku-4-5", IMAGE, MediaFacts(1092, 1092), 1521),
        ("anthropic/claude-haiku-4-5", IMAGE, MediaFacts(9000, 9000), 1521),
        ("anthropic/claude-opus-4-6", IMAGE, MediaFacts(1568, 882), 1560),
        ("anthropic/claude-opus-4-6", IMAGE, MediaFacts(2576, 1449), 1560),
        ("anthropic/claude-opus-4-7", IMAGE, MediaFacts(1000, 1000), 1296),
        ("anthropic/claude-opus-4-7", IMAGE, MediaFacts(2576, 1449), 4784),
        ("anthropic/claude-opus-5-5", IMAGE, MediaFacts(5152, 2898), 4784),
        ("anthropic/claude-opus-5-5", IMAGE, MediaFacts(8000, 8000), 4761),
        ("anthropic/claude-opus-5-5", PDF, MediaFacts(pages=10), 22_500),
        # https://ai.google.dev/gemini-api/docs/image-understanding#token-calculation, .../tokens, .../media-resolution
        ("google/gemini-2.5-flash", IMAGE, MediaFacts(384, 384), 258),
        ("google/gemini-2.5-flash", IMAGE, MediaFacts(960, 540), 1548),
        ("google/gemini-2.5-flash", VIDEO, MediaFacts(640, 480, seconds=10), 2950),
        ("google/gemini-2.5-flash", AUDIO, MediaFacts(seconds=60), 1920),
        ("google/gemini-2.5-flash", PDF, MediaFacts(pages=10), 2580),
        ("google/gemini-3.8-flash", IMAGE, MediaFacts(9000, 1), 1120),
        ("google/gemini-3.8-flash", controlled(IMAGE, resolution="low"), MediaFacts(90, 90), 280),
        ("google/gemini-3.8-flash", PDF, MediaFacts(pages=10), 5600),
        ("google/gemini-3.8-flash", controlled(VIDEO, start=2, end=4, fps=2), MediaFacts(seconds=9), 344),
        ("openai/gpt-4o", IMAGE, MediaFacts(), None),
        ("openai/gpt-4o", PDF, MediaFacts(pages=3), None),
    ],
)
def test_tokens_by_the_vendors_rule(model: str, part, facts: MediaFacts, expected: int | None):
    assert tokens(*model.split("/"), part, facts) == expected


@pytest.mark.parametrize(
    "model",
    [
        "openai/gpt-4o",
        "openai/o4-mini",
        "anthropic/claude-haiku-4-5",
        "anthropic/claude-opus-5",
        "google/gemini-2.5-pro",
    ],
)
@pytest.mark.parametrize("size", [(1, 1), (1, 8000), (8000, 1), (8000, 8000)])
def test_extreme_sizes_have_a_bounded_cost(model: str, size: tuple[int, int]):
    assert 1 <= tokens(*model.split("/"), IMAGE, MediaFacts(*size)) <= 40_000


@pytest.mark.parametrize(
    ("pages", "text", "routes", "reason"),
    [
        ((4, 5), "?", "native native", ""),
        ((5, 6), "?", "fallback native", "the files have about 1,100 tokens"),
        ((2, 11), "?", "native fallback", "it has about 1,100 tokens; the context leaves 995"),
        ((4, 5), "x" * 800, "fallback native", "the context leaves 788"),
    ],
)
def test_files_that_exceed_the_context_are_converted(pages, text: str, routes: str, reason: str):
    rule = TokenRule("page", 100)
    profile = ModelProfile(accepts=frozenset({"application/pdf"}), context_tokens=1000, media_tokens={"pdf": rule})
    parts = [DocumentPart(Blob.from_bytes(b"PAPER%d" % count, "application/pdf")) for count in pages]
    facts = {(p.blob.sha256, "application/pdf"): MediaFacts(pages=n) for p, n in zip(parts, pages, strict=True)}
    call = ModelCall("m", (Message.user(*parts, text),))
    found = lower(call, profile, (PAPERS,), facts=facts).decisions
    assert [each.route for each in found] == routes.split()
    assert reason in " ".join(each.reason for each in found)
    if "fallback" in routes:
        with pytest.raises(UnsupportedContentError, match="context leaves"):
            lower(call.with_(media_policy={"document": "native"}), profile, (PAPERS,), facts=facts)
