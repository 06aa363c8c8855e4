"""Limits on the files of a request: older files make room, images are made smaller."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import (
    AudioPart,
    Blob,
    DocumentPart,
    ImagePart,
    MediaLoss,
    Message,
    MissingExtraError,
    ModelCall,
    Services,
    ToolCall,
    ToolResult,
    UnsupportedContentError,
    create_llm,
)
from abstractcore.engine import lower
from abstractcore.ports import Fallback, Fitted, ModelProfile
from tests.media_doubles import Handler, registry
from tests.properties import examples

TEXT = frozenset({"text"})
OCR, TRANSCRIPT = Fallback("ocr", TEXT), Fallback("text", TEXT)
CONVERT = Fallback("convert", frozenset({"image/png"}))


class Pictures(Handler):
    """Pictures that are fitted by cutting their bytes; a GIF-like one has two frames."""

    is_installed = True

    def fit(self, part, limits, accepted=frozenset()) -> Fitted:
        if not self.is_installed:
            raise MissingExtraError("Pillow is not installed.")
        data = part.blob.read()
        size = limits.get("image_bytes", math.inf)
        if len(data) <= size:
            return Fitted((part,))
        small = replace(part, blob=Blob.from_bytes(data[: int(size)], "image/png"))
        return Fitted((small, small), (MediaLoss("pixels", 3, 4),))


PICTURES = Pictures("pictures", "image", b"PICTURE", "image/png", (CONVERT, OCR))
PAPERS = Handler("papers", "document", b"PAPER", "application/pdf", (TRANSCRIPT,))
HANDLERS = (PICTURES, PAPERS, Handler("sound", "audio", b"SOUND", "audio/wav"))
ACCEPTS = frozenset({"image", "application/pdf", "audio"})


def picture(size: int, number: int = 0) -> ImagePart:
    return ImagePart(Blob.from_bytes(b"PICTURE%d" % number + bytes(size - 8), "image/png"))


def paper(size: int) -> DocumentPart:
    return DocumentPart(Blob.from_bytes(b"PAPER" + bytes(size - 5), "application/pdf"))


def lowered(*parts, policy: str = "auto", **limits: int):
    profile = ModelProfile(accepts=ACCEPTS, media_limits=limits)  # type: ignore[arg-type]
    call = ModelCall("m", (Message.user(*parts, "What is it?"),), media_policy={"image": policy, "document": policy})
    return lower(call, profile, HANDLERS).decisions


def routes(*parts, **given) -> list[str]:
    return [decision.route for decision in lowered(*parts, **given)]


def test_older_images_above_the_number_are_converted():
    assert routes(*(picture(100, i) for i in range(4)), images=2) == ["fallback", "fallback", "native", "native"]
    first = lowered(*(picture(100, i) for i in range(3)), images=2)[0]
    assert "a request has at most 2 images, and this is an older one" in first.reason
    assert first.fallback == "ocr"


def test_images_of_history_and_of_tool_results_count():
    call = ToolCall("c", "look")
    messages = (
        Message.user(picture(100, 1), "look"),
        Message.assistant(call),
        Message.tool(ToolResult.of("c", picture(100, 2))),
        Message.user(picture(100, 3), "and this?"),
    )
    profile = ModelProfile(accepts=ACCEPTS, media_limits={"images": 2})
    found = lower(ModelCall("m", messages), profile, HANDLERS).decisions
    assert [(each.part_path, each.route) for each in found] == [
        ("messages[0].parts[0]", "fallback"),
        ("messages[2].parts[0].content[0]", "native"),
        ("messages[3].parts[0]", "native"),
    ]


def test_policy_native_refuses_what_is_too_many():
    with pytest.raises(UnsupportedContentError, match="a request has at most 1 images") as caught:
        lowered(picture(100), picture(100), policy="native", images=1)
    assert "media_policy={'image': 'auto'}" in str(caught.value.hint)


def test_file_without_a_fallback_is_refused_above_the_limit():
    sounds = [AudioPart(Blob.from_bytes(b"SOUND" + bytes(50_000), "audio/wav"))] * 2
    with pytest.raises(UnsupportedContentError, match="too large together"):
        lowered(*sounds, request_bytes=100_000)


def test_edge_is_shorter_where_images_are_many():
    limits = {"image_pixels": 8000, "many_images": 2, "many_image_pixels": 2000}
    few = lowered(*(picture(100, i) for i in range(2)), **limits)
    many = lowered(*(picture(100, i) for i in range(3)), **limits)
    assert [dict(each.fit) for each in few] == [{"image_pixels": 8000}] * 2
    assert [dict(each.fit) for each in many] == [{"image_pixels": 2000}] * 3


def test_large_document_is_converted():
    (found,) = lowered(paper(5000), pdf_bytes=4000)
    assert (found.route, found.fallback) == ("fallback", "text")
    assert "it has 5,000 bytes; the limit is 4,000" in found.reason
    assert routes(paper(4000), pdf_bytes=4000, document_bytes=10) == ["native"]


def test_images_share_the_room_of_the_request():
    sizes = [40_000, 400_000, 900_000]
    found = lowered(*(picture(size, i) for i, size in enumerate(sizes)), request_bytes=1_000_000)
    (share,) = {each.fit["image_bytes"] for each in found}
    kept = [min(size, share) for size in sizes]
    assert sum(kept) * 4 / 3 < 1_000_000
    assert sum(kept) * 4 / 3 > 950_000, "room is left unused"
    assert kept[0] == 40_000


def test_images_that_fit_are_not_limited_in_bytes():
    assert [dict(each.fit) for each in lowered(picture(1000), request_bytes=1_000_000)] == [{}]


def test_oldest_images_make_room_where_all_would_be_too_small():
    found = lowered(*(picture(100_000, i % 10) for i in range(20)), request_bytes=500_000)
    routes = [each.route for each in found]
    assert routes == sorted(routes), "fallbacks first"
    natives = [each for each in found if each.route == "native"]
    assert all(each.fit["image_bytes"] >= 30_000 for each in natives)
    assert len(natives) >= 10


def test_largest_document_makes_room():
    assert routes(paper(600_000), paper(100_000), picture(50_000), request_bytes=600_000) == [
        "fallback",
        "native",
        "native",
    ]


@examples(200)
@given(
    st.lists(st.integers(20, 500_000), max_size=8),
    st.lists(st.integers(20, 500_000), max_size=3),
    st.integers(60_000, 10**6),
)
def test_files_that_are_sent_keep_the_limit_of_the_request(images: list[int], papers: list[int], limit: int):
    parts = [*(picture(size, i) for i, size in enumerate(images)), *map(paper, papers)]
    sizes = [*images, *papers]
    found = lowered(*parts, request_bytes=limit)
    sent = sum(
        min(size, each.fit.get("image_bytes", size))
        for size, each in zip(sizes, found, strict=True)
        if each.route == "native"
    )
    assert 4 * math.ceil(sent / 3) <= limit
    if sum(sizes) * 4 / 3 < limit - 25_000:
        assert all(each.route == "native" for each in found)


# In a call


@pytest.fixture
def make():
    """Creates an LLM of Anthropic's format, whose limits are those of the catalogue; nothing is sent."""
    services = Services(registry=registry(PICTURES), environment={"ANTHROPIC_API_KEY": "k"})
    yield lambda: create_llm("anthropic", model="claude-sonnet-5", services=services)
    services.close()


def test_limits_are_those_of_the_catalogue(make):
    plan = make().plan("What is on them?", media=[picture(100, i) for i in range(9)] * 3)
    assert {each.fit["image_pixels"] for each in plan} == {2000}
    assert len(plan) == 27


@pytest.fixture
def llm():
    services = Services(registry=registry(PICTURES), environment={})
    yield create_llm("scripted", replies=["a"] * 3, accepts=["image"], services=services)
    services.close()


def fitting(monkeypatch: pytest.MonkeyPatch, **fit: int) -> None:
    """Sets the limits of all images."""
    from abstractcore.engine import pipeline

    def with_limits(*given, **named):
        found = lower(*given, **named)
        return replace(found, decisions=tuple(replace(each, fit=fit) for each in found.decisions))

    monkeypatch.setattr(pipeline, "lower", with_limits)


def test_image_is_fitted_when_the_call_is_made(call_style, llm, monkeypatch):
    fitting(monkeypatch, image_bytes=50)
    (decision,) = call_style.generate(llm, "hi", media=[picture(100)]).media
    first, second, text = llm.calls[0].messages[0].parts
    assert (first.blob.size, second.blob.size, text.text) == (50, 50, "hi")
    assert decision.route == "native"
    assert decision.lost == (MediaLoss("pixels", 3, 4),)
    assert [part.media_type for part in decision.sent.parts] == ["image/png", "image/png"]


def test_image_that_fits_is_sent_unchanged(call_style, llm, monkeypatch):
    fitting(monkeypatch, image_bytes=100)
    given = picture(100)
    (decision,) = call_style.generate(llm, "hi", media=[given]).media
    assert llm.calls[0].messages[0].parts[0] == given
    assert (decision.sent.media_type, decision.sent.size) == ("image/png", 100)


def test_image_is_fitted_once(call_style, llm, monkeypatch):
    fitting(monkeypatch, image_bytes=50)
    fitted: list[object] = []
    real = Pictures.fit
    monkeypatch.setattr(Pictures, "fit", lambda *given: fitted.append(given) or real(*given))
    for _ in range(2):
        call_style.generate(llm, "hi", media=[picture(100)])
    assert len(fitted) == 1
    assert llm.calls[0].messages == llm.calls[1].messages


def test_without_the_package_a_small_image_is_sent_with_a_warning(call_style, llm, monkeypatch):
    monkeypatch.setattr(Pictures, "is_installed", False)
    response = call_style.generate(llm, "hi", media=[picture(100)])
    assert [warning.code for warning in response.warnings] == ["image_unchecked"]
    fitting(monkeypatch, image_bytes=50)
    with pytest.raises(MissingExtraError):
        call_style.generate(llm, "hi", media=[picture(100)])
