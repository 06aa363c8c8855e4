"""What conversions make counts towards the limits of a request: older files make room, until everything fits."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractcore import (
    Blob,
    CorruptFileError,
    DocumentPart,
    ImagePart,
    MediaError,
    MediaLoss,
    Message,
    Services,
    ToolCall,
    ToolResult,
    UnsupportedContentError,
    UnsupportedOptionError,
    Usage,
    create_llm,
    tool,
)
from abstractcore.files.limits import largest_size, portions
from abstractcore.ports import Conversion, Fallback, FetchedFile, Fitted, Piece
from abstractcore.testing import ScriptedReply
from tests.media_doubles import Handler, registry
from tests.properties import examples

TEXT, PNG = frozenset({"text"}), frozenset({"image/png"})
OCR = Fallback("ocr", TEXT)
PAPER_TYPE = "application/pdf"


class Pictures(Handler):
    """Pictures of so many bytes; they are fitted by being cut. Those with "BROKEN" have no text."""

    def fit(self, part, limits, accepted=frozenset()) -> Fitted:
        data = part.blob.read()
        size = limits.get("image_bytes", len(data))
        if len(data) <= size:
            return Fitted((part,))
        lost = MediaLoss("pixels", len(data) - size, len(data))
        return Fitted((replace(part, blob=Blob.from_bytes(data[:size], "image/png")),), (lost,))


@dataclass
class Papers(Handler):
    """`PAPER 12 500`: 12 pages of 500 bytes each, or a text of as many characters."""

    obeys: bool = True

    def __post_init__(self) -> None:
        self.asked: list[tuple[str, int | None]] = []

    def convert(self, part, context) -> Conversion:
        pages, size = map(int, part.blob.read().split()[1:3])
        self.asked.append((part.blob.name or "", context.max_images))
        if "image/png" not in context.accepted_outputs:
            if b"BROKEN" in part.blob.read():
                raise CorruptFileError("it has no text.", source="")
            return Conversion("x" * pages * size, "text", Usage(1, 1), fallback="text")
        most = context.max_images if context.max_images is not None and self.obeys else pages
        content = list(itertools.chain.from_iterable(_page(part, n, size) for n in range(min(pages, most))))
        lost = (MediaLoss("pages", pages - most, pages),) if most < pages else ()
        return Conversion(content, "pages", Usage(2, 2), fallback="pages", lost=lost, has_fewer_images=most < pages)


def _page(part, number: int, size: int) -> list[Any]:
    data = b"PICTURE" + b"%d of " % number + part.blob.read()
    return [f"[page {number}]\n", ImagePart(Blob.from_bytes(data.ljust(size, b"\0"), "image/png"))]


PICTURES = Pictures("pictures", "image", b"PICTURE", "image/png", (OCR,))
PAGES = (Fallback("pages", PNG), Fallback("text", TEXT))


def picture(size: int = 100, number: int = 0) -> ImagePart:
    return ImagePart(Blob.from_bytes((b"PICTURE %d" % number).ljust(size, b"."), "image/png"))


def paper(pages: int, size: int = 100, name: str | None = None, more: str = "") -> DocumentPart:
    return DocumentPart(Blob.from_bytes(b"PAPER %d %d %s" % (pages, size, more.encode()), PAPER_TYPE, name=name))


def sent_images(call) -> list[bytes]:
    parts = [part for message in call.messages for part in message.parts]
    parts += [each for part in parts if isinstance(part, ToolResult) for each in part.content]
    return [part.blob.read() for part in parts if isinstance(part, ImagePart)]


@dataclass
class Pages:
    """URLs whose last part says what is there: `9` pictures of nine bytes times 1,000."""

    fetched: list[str]

    def fetch(self, url: str, timeout: float | None = None) -> FetchedFile:
        self.fetched.append(url)
        return FetchedFile(b"PICTURE".ljust(1000 * int(url.rpartition("/")[2]), b"."), "image/png")


@pytest.fixture
def papers() -> Papers:
    return Papers("papers", "document", b"PAPER", PAPER_TYPE, PAGES)


@pytest.fixture
def make(papers: Papers):
    """Creates an LLM of a scripted model with limits, that accepts images and no documents."""
    fetcher = Pages([])
    services = Services(registry=registry(PICTURES, papers), environment={}, fetcher=fetcher)

    def create(replies=None, facts: dict | None = None, **limits: int):
        facts = {"accepts": ["image"], "media_limits": limits, **(facts or {})}
        return create_llm("scripted", replies=replies or ["a"] * 20, facts=facts, services=services)

    create.fetcher = fetcher  # type: ignore[attr-defined]
    yield create
    services.close()


def conversation(*files) -> list[Message]:
    """A turn for each file."""
    turns = ((Message.user(*_many(each), "What is it?"), Message.assistant("A page.")) for each in files)
    return list(itertools.chain.from_iterable(turns))


def _many(files):
    return files if isinstance(files, list) else [files]


# Numbers of images


def test_pages_count_as_images_and_older_files_make_room(call_style, make):
    llm = make(images=10)
    history = conversation(picture(), paper(8))
    old, older, new = call_style.generate(llm, "And this?", messages=history, media=[paper(6, 200)]).media
    assert len(sent_images(llm.calls[-1])) == 10
    assert (old.route, old.fallback, old.text_because) == ("fallback", "ocr", "limits")
    assert "a request has at most 10 images, and this is an older one" in old.reason
    assert older.fit["images"] == 4
    assert older.lost == (MediaLoss("pages", 4, 8),)
    assert "only 4 of 8 images are sent" in older.reason
    assert (new.lost, new.text_because) == ((), None), "the newest file keeps all of its pages"


def test_file_makes_no_more_images_than_a_request_may_have(call_style, make, papers: Papers):
    llm = make(images=5)
    (decision,) = call_style.generate(llm, "hi", media=[paper(40)]).media
    assert papers.asked == [("", 5)]
    assert len(sent_images(llm.calls[-1])) == 5
    assert decision.lost == (MediaLoss("pages", 35, 40),)


def test_fair_shares_within_one_message(call_style, make):
    llm = make(images=12)
    first, *pictures, last = call_style.generate(
        llm, "hi", media=[paper(20), *(picture(100, n) for n in range(3)), paper(4, 300)]
    ).media
    assert [each.route for each in pictures] == ["native"] * 3
    assert (first.fit["images"], last.lost) == (5, ())
    assert len(sent_images(llm.calls[-1])) == 12


def test_handler_that_ignores_the_number_has_its_file_converted_to_text(call_style, make, papers: Papers):
    papers.obeys = False
    llm = make(images=5)
    (decision,) = call_style.generate(llm, "hi", media=[paper(8)]).media
    assert sent_images(llm.calls[-1]) == []
    assert (decision.fallback, decision.text_because) == ("text", "limits")


def test_limit_of_zero_images_sends_text(call_style, make):
    llm = make(images=0)
    response = call_style.generate(llm, "hi", messages=conversation(picture()), media=[paper(3), picture(50)])
    assert sent_images(llm.calls[-1]) == []
    assert [each.fallback for each in response.media] == ["ocr", "text", "ocr"]


def test_images_of_tool_results_count(call_style, make):
    llm = make(images=3)
    call = ToolCall("c", "look")
    history = [
        Message.user(paper(2), "look"),
        Message.assistant(call),
        Message.tool(ToolResult.of("c", picture(100, 1), picture(100, 2))),
        Message.assistant("Seen."),
    ]
    call_style.generate(llm, "And?", messages=history, media=[picture(100, 3)])
    assert len(sent_images(llm.calls[-1])) == 3


def test_many_images_of_one_document_are_smaller(call_style, make):
    limits = {"images": 50, "image_pixels": 8000, "many_images": 4, "many_image_pixels": 2000}
    llm = make(**limits)
    for pages, pixels in ((4, 8000), (5, 2000)):
        (decision,) = call_style.generate(llm, "hi", media=[paper(pages)]).media
        assert decision.fit == {"image_pixels": pixels, "images": 50}
    one, many = call_style.generate(llm, "hi", messages=conversation(picture()), media=[paper(4)]).media
    assert one.fit["image_pixels"] == many.fit["image_pixels"] == 2000, "native images count, too"


# Bytes


def test_older_images_are_sent_smaller_and_new_ones_keep_their_bytes(call_style, make):
    llm = make(request_bytes=500_000)
    history = conversation([picture(100_000, n) for n in range(3)])
    response = call_style.generate(llm, "hi", messages=history, media=[paper(2, 80_000)])
    *old, new = response.media
    sizes = list(map(len, sent_images(llm.calls[-1])))
    assert sum(sizes) * 4 / 3 < 500_000
    assert sizes[-2:] == [80_000, 80_000]
    assert {each.fit["image_bytes"] for each in old} == {sizes[0]}
    assert sizes[0] > 50_000
    assert old[0].lost == (MediaLoss("pixels", 100_000 - sizes[0], 100_000),)
    assert "image_bytes" not in new.fit


def test_images_of_a_document_are_sent_smaller(call_style, make):
    llm = make(request_bytes=500_000)
    (decision,) = call_style.generate(llm, "hi", media=[paper(5, 100_000)]).media
    sizes = list(map(len, sent_images(llm.calls[-1])))
    assert sizes == [decision.fit["image_bytes"]] * 5
    assert 450_000 < sum(sizes) * 4 / 3 < 500_000
    assert decision.lost == (MediaLoss("pixels of images", 500_000 - sum(sizes), 500_000),)


def test_each_image_of_a_document_keeps_the_limit_of_one(call_style, make):
    llm = make(image_bytes=50_000)
    call_style.generate(llm, "hi", media=[paper(2, 60_000)])
    assert list(map(len, sent_images(llm.calls[-1]))) == [50_000] * 2


def test_long_texts_of_files_leave_less_room_for_images(call_style, make):
    llm = make(facts={"accepts": ["image"]}, request_bytes=400_000)
    texts = {"document": "text"}
    for pages, fits in ((1, True), (2000, False)):
        history = conversation(picture(200_000))
        found = call_style.generate(llm, "hi", messages=history, media=[paper(pages)], media_policy=texts).media
        assert ("image_bytes" in found[0].fit) is not fits


def test_download_counts_with_its_bytes_and_is_downloaded_once(call_style, make):
    llm = make(facts={"urls": {}}, request_bytes=500_000)
    urls = [ImagePart(Blob.from_url(f"https://example.test/{size}", "image/png")) for size in (300, 200)]
    found = call_style.generate(llm, "hi", messages=conversation(urls[0]), media=[urls[1]]).media
    sizes = list(map(len, sent_images(llm.calls[-1])))
    assert sum(sizes) * 4 / 3 < 500_000
    assert sizes[1] == 200_000
    assert found[0].fit["image_bytes"] == sizes[0]
    assert sorted(make.fetcher.fetched) == ["https://example.test/200", "https://example.test/300"]


# What cannot be made smaller


def test_old_file_without_text_is_left_out_with_a_note_and_a_warning(call_style, make):
    llm = make(images=3)
    history = conversation(paper(5, more="BROKEN", name="old.pdf"))
    response = call_style.generate(llm, "hi", messages=history, media=[picture(100, n) for n in range(3)])
    old = response.media[0]
    assert (old.route, old.lost) == ("left_out", (MediaLoss("files", 1, 1),))
    assert "no text of it: it has no text" in old.reason
    assert '<untrusted-file name="old.pdf" content="left out">' in llm.calls[-1].messages[0].text
    assert [warning.code for warning in response.warnings] == ["file_left_out"]
    with pytest.raises(UnsupportedOptionError, match=r"old\.pdf"):
        call_style.generate(llm, "hi", messages=history, media=[picture(100, n) for n in range(3)], strict=True)


def test_new_file_without_text_fails(call_style, make):
    llm = make(images=1)
    with pytest.raises(MediaError, match="it has no text"):
        call_style.generate(llm, "hi", media=[paper(5, more="BROKEN"), picture()])


def test_policy_native_refuses_what_does_not_fit(call_style, make):
    llm = make(images=2)
    history = conversation(*(picture(100, n) for n in range(3)))
    with pytest.raises(UnsupportedContentError, match="a request has at most 2 images"):
        call_style.generate(llm, "hi", messages=history, media_policy="native")


def test_old_texts_are_left_out_before_the_request_is_too_large(call_style, make):
    llm = make(request_bytes=300_000)
    history = conversation(*(paper(100, 1000, name=f"{n}.pdf") for n in range(4)))
    policy = {"document": "text"}
    found = call_style.generate(llm, "hi", messages=history, media=[paper(90, 1000)], media_policy=policy).media
    assert [each.route for each in found] == ["left_out"] * 3 + ["fallback"] * 2
    assert sum(len(message.text) for message in llm.calls[-1].messages) < 300_000


def test_texts_of_files_count_in_the_context(call_style, make):
    facts = {"accepts": ["image"], "context_tokens": 54_000, "media_tokens": {"image": {"by": "file", "tokens": 1000}}}
    llm = make(facts=facts)
    history = conversation(*(paper(100, 1000, name=f"{n}.pdf") for n in range(2)))
    policy = {"document": "text"}
    found = call_style.generate(llm, "hi", messages=history, media=[paper(90, 1000)], media_policy=policy).media
    assert [each.route for each in found] == ["left_out", "fallback", "fallback"]
    assert found[-1].tokens == pytest.approx(90_000 * 0.26, rel=0.01)


# Conversions that were replaced, rounds, streams


def test_usage_of_conversions_that_were_replaced_is_reported(call_style, make):
    llm = make(images=4)
    (old, _) = call_style.generate(llm, "hi", messages=conversation(paper(4)), media=[picture()]).media
    assert old.fit["images"] == 2
    assert old.usage == Usage(4, 4), "it was converted twice"


def test_conversion_with_fewer_images_is_kept_for_its_number(call_style, make, papers: Papers):
    wide, narrow = make(images=20), make(images=5)
    for llm, count in ((narrow, 5), (wide, 12), (narrow, 5), (wide, 12)):
        call_style.generate(llm, "hi", media=[paper(12)])
        assert len(sent_images(llm.calls[-1])) == count
    assert papers.asked == [("", 5), ("", 20)]


def test_number_that_changes_nothing_is_no_other_setting(call_style, make, papers: Papers):
    for images in (20, 12, 30):
        call_style.generate(make(images=images), "hi", media=[paper(12)])
    call_style.generate(make(), "hi", media=[paper(12)])
    assert papers.asked == [("", 20)]


def test_rounds_of_tools_convert_again_only_what_must_make_room(call_style, make, papers: Papers):
    @tool
    def look() -> list:
        """Looks at it."""
        return [picture(100, n) for n in range(3)]

    replies = [ScriptedReply((Piece(ToolCall("1", "look")),), finish_reason="tool_calls"), "done"]
    llm = make(replies, images=4)
    response = call_style.generate(llm, "hi", media=[paper(4)], tools=[look], run_tools=True)
    assert response.content == "done"
    assert [len(sent_images(call)) for call in llm.calls] == [4, 4]
    assert papers.asked == [("", 4), ("", 1)]


def test_stream_keeps_the_limits_as_well(call_style, make):
    llm = make(images=3)
    with call_style.stream(llm, "hi", messages=conversation(picture()), media=[paper(3)]) as stream:
        for _ in stream:
            pass
        assert [each.fallback for each in stream.response.media] == ["ocr", "pages"]
    assert len(sent_images(llm.calls[-1])) == 3


@pytest.mark.exhaustive
def test_thousand_files_of_history_are_sent(make):
    llm = make(images=100, many_images=20, many_image_pixels=2000, request_bytes=9_000_000)
    history = conversation(*(picture(3000, n) if n % 3 else paper(4, 3000, name=f"{n}") for n in range(1000)))
    found = llm.generate("hi", messages=history, media=[paper(60)]).media
    assert len(sent_images(llm.calls[-1])) == 100
    assert found[-1].lost == ()
    assert [each.text_because for each in found[:900]] == ["limits"] * 900


def test_old_texts_are_left_out_before_a_new_image_becomes_text(call_style, make):
    llm = make(request_bytes=400_000)
    history = conversation(*(paper(30, 1000, name=f"{n}") for n in range(12)))
    policy = {"document": "text"}
    *old, new = call_style.generate(llm, "hi", messages=history, media=[picture(200_000)], media_policy=policy).media
    assert [len(each) >= 30_000 for each in sent_images(llm.calls[-1])] == [True]
    assert new.route == "native"
    assert [each.route for each in old] == ["left_out"] + ["fallback"] * 11


@pytest.mark.exhaustive
@examples(50)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(20, 90_000)), max_size=12),
    st.integers(1, 12),
    st.integers(40_000, 700_000),
)
def test_conversation_of_any_mixture_keeps_every_limit(files, images: int, request_bytes: int):
    """A file of 0 pages is a picture."""
    handlers = registry(PICTURES, Papers("papers", "document", b"PAPER", PAPER_TYPE, PAGES))
    services = Services(registry=handlers, environment={})
    facts = {"accepts": ["image"], "media_limits": {"images": images, "request_bytes": request_bytes}}
    llm = create_llm("scripted", replies=["a"], facts=facts, services=services)
    parts = [paper(pages, size, str(n)) if pages else picture(size, n) for n, (pages, size) in enumerate(files)]
    found = llm.generate("hi", messages=conversation(*parts)).media
    sent = sent_images(llm.calls[0])
    services.close()
    assert len(sent) <= images
    texts = sum(len(message.text) for message in llm.calls[0].messages)
    assert sum(4 * -(-len(each) // 3) for each in sent) + texts <= request_bytes
    assert len(found) == len(files)


# Shares


@examples(200)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=20), st.integers(0, 60), st.integers(0, 9))
def test_portions_keep_the_room_and_give_newer_files_no_less(files, room: int, current: int):
    counts, ages = [count for count, _ in files], sorted(age for _, age in files)
    found = portions(counts, ages, room, current)
    assert all(0 <= given <= count for given, count in zip(found, counts, strict=True))
    assert sum(found) <= room
    if sum(counts) <= room:
        assert found == counts


@pytest.mark.parametrize(
    ("sizes", "room", "size"),
    [([], 10, 0), ([5, 6], 10, 5), ([1, 9, 9], 11, 5), ([5], -3, 0), ([4, 4, 4], 6, 2)],
)
def test_largest_size_that_fits(sizes: list[int], room: int, size: int):
    assert largest_size(sizes, room) == size
