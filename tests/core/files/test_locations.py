"""Files that are elsewhere: who downloads them; and files of which the provider would lose something."""

from __future__ import annotations

from dataclasses import replace

import pytest

from abstractcore import (
    Blob,
    DocumentPart,
    File,
    ImagePart,
    Message,
    MissingExtraError,
    ModelCall,
    Services,
    UnsupportedContentError,
    create_llm,
)
from abstractcore.engine import lower
from abstractcore.ports import Conversion, Excerpt, Fallback, ModelProfile
from abstractcore.schema import MediaControls
from abstractcore.transport import URLFetcher
from tests.chaos_server import ScriptedServer, answer
from tests.media_doubles import PICTURE, Handler, registry

URLS = {"image": frozenset({"https://"}), "application/pdf": frozenset({"s3://"})}
PROFILE = ModelProfile(
    accepts=frozenset({"image", "application/pdf"}), urls=URLS, file_ids=frozenset({"application/pdf"})
)
TEXT = Fallback("text", frozenset({"text"}))


class Papers(Handler):
    """Documents whose conversion may fail, and whose pages can be cut."""

    error: Exception | None = None
    excerpt_controls = frozenset({"pages"})

    def excerpt(self, part, context) -> Excerpt:
        blob = Blob.from_bytes(b"PAPER of page " + part.controls.pages.encode(), "application/pdf")
        return Excerpt(replace(part, blob=blob, controls=None), (int(part.controls.pages),))

    def convert(self, part, context) -> Conversion:
        if self.error is not None:
            raise self.error
        return super().convert(part, context)


def papers() -> Papers:
    return Papers("papers", "document", b"PAPER", "application/pdf", (TEXT,))


def located(part):
    call = ModelCall("m", (Message.user(part, "What is it?"),), "vendor")
    return lower(call, PROFILE, (papers(), Handler("pictures", "image", b"PICTURE", "image/png"))).decisions[0]


def picture(url: str) -> ImagePart:
    return ImagePart(Blob.from_url(url, "image/png"))


def paper(url: str) -> DocumentPart:
    return DocumentPart(Blob.from_url(url, "application/pdf"))


@pytest.mark.parametrize(
    ("url", "fetch", "who", "warned"),
    [
        ("https://a.example/x.pdf", None, "us", []),
        ("https://a.example/x.pdf", "vendor", "vendor", ["messages[0].parts[0].controls.pages"]),
        ("s3://bucket/x.pdf", None, "vendor", ["messages[0].parts[0].controls.pages"]),
    ],
)
def test_file_of_which_a_part_is_sent_is_downloaded_here(url: str, fetch, who: str, warned: list[str]):
    profile = replace(PROFILE, urls={"application/pdf": frozenset({"https://", "s3://"})})
    part = replace(paper(url), controls=MediaControls("2", fetch=fetch))
    lowered = lower(ModelCall("m", (Message.user(part, "?"),), "vendor"), profile, (papers(),))
    assert lowered.decisions[0].fetch == who
    assert [each.path for each in lowered.warnings] == warned


@pytest.mark.parametrize(
    ("part", "fetch"),
    [
        (picture("https://a.example/x.png"), "vendor"),
        (picture("HTTPS://a.example/x.png"), "vendor"),
        (picture("http://a.example/x.png"), "us"),
        (paper("https://a.example/x.pdf"), "us"),
        (paper("s3://bucket/x.pdf"), "vendor"),
        (DocumentPart(Blob.from_bytes(b"PAPER", "application/pdf")), None),
        (DocumentPart(Blob.from_provider_file("vendor", "f1", "application/pdf")), None),
    ],
)
def test_endpoint_decides_who_downloads_a_file(part, fetch):
    decision = located(part)
    assert (decision.route, decision.fetch) == ("native", fetch)
    downloaded = "it is downloaded here, since vendor does not read http"
    assert (downloaded in decision.reason) is (fetch == "us")


@pytest.mark.parametrize(
    ("part", "message", "hint"),
    [
        (picture("s3://bucket/x.png"), "s3 URLs cannot be downloaded here", "pass the file itself"),
        (
            ImagePart(Blob.from_provider_file("vendor", "f1", "image/png")),
            "cannot name a stored file",
            "the file itself",
        ),
    ],
)
def test_file_that_neither_side_can_read_is_refused(part, message: str, hint: str):
    with pytest.raises(UnsupportedContentError, match=message) as caught:
        located(part)
    assert hint in str(caught.value.hint)


@pytest.fixture
def handler() -> Papers:
    return papers()


@pytest.fixture
def services(handler: Papers):
    fetcher = URLFetcher(allow_private=True)
    services = Services(registry=registry(handler), environment={}, fetcher=fetcher)
    yield services
    services.close()


def test_url_that_only_the_provider_may_read_and_cannot_is_refused(services):
    llm = create_llm("openai", model="gpt-5.4", api_key="k", services=services)
    with pytest.raises(UnsupportedContentError, match="openai does not read https URLs of application/pdf") as caught:
        llm.plan("hi", media=[File("https://example.com/a.pdf", fetch="vendor")])
    assert "leave fetch='vendor' out" in str(caught.value.hint)


REPLY = b'{"choices": [{"message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]}'


def test_url_that_the_endpoint_cannot_read_is_downloaded_and_sent(call_style, services, server: ScriptedServer):
    server.script(answer(b"PAPER of ours", content_type="application/pdf"))
    server.script(answer(REPLY))
    llm = create_llm("openai", model="gpt-5.4", api_key="k", base_url=server.url, services=services)
    url = f"{server.url.partition('/v1')[0]}/a.pdf"
    (decision,) = call_style.generate(llm, "hi", media=[url]).media
    assert (decision.route, decision.fetch, decision.sent.size) == ("native", "us", 13)
    assert b"data:application/pdf;base64,UEFQRVIgb2Ygb3Vycw==" in server.requests[1].body


# What the provider would lose


LOSSY = {"application/pdf": "reads only the text of a PDF"}
PAPER = DocumentPart(Blob.from_bytes(b"PAPER of ours", "application/pdf", name="a.pdf"))


@pytest.fixture
def lossy(services):
    """An LLM of a model that accepts documents, and loses something of them."""
    accepts = ["application/pdf", "image"]
    return create_llm("scripted", replies=["a"] * 3, accepts=accepts, services=services, facts={"lossy": LOSSY})


def test_file_of_which_the_provider_loses_something_is_converted_here(call_style, lossy):
    (decision,) = call_style.generate(lossy, "hi", media=[PAPER]).media
    assert (decision.route, decision.fallback) == ("fallback", "text")
    assert decision.reason == "scripted reads only the text of a PDF, so the papers handler converts it to text"
    assert "of ours" in decision.sent.text


def test_policy_native_sends_it_with_a_warning(call_style, lossy):
    response = call_style.generate(lossy, "hi", media=[PAPER], media_policy={"document": "native"})
    assert response.media[0].route == "native"
    (warning,) = response.warnings
    assert (warning.code, warning.path) == ("lossy_at_provider", "messages[0].parts[0]")
    assert "a.pdf is sent natively, and the provider reads only the text of a PDF" in warning.message


def test_file_that_cannot_be_converted_here_is_sent_with_a_warning(call_style, lossy, handler):
    handler.error = MissingExtraError("pypdf is not installed.")
    response = call_style.generate(lossy, "hi", media=[PAPER])
    (decision,) = response.media
    assert (decision.route, decision.fallback) == ("native", None)
    assert "cannot be converted (pypdf is not installed.), so it is sent natively" in decision.reason
    assert [warning.code for warning in response.warnings] == ["lossy_at_provider"]
    assert lossy.calls[0].messages[0].parts[0].blob.read() == b"PAPER of ours"


def test_file_with_options_of_the_provider_is_sent_to_it(lossy):
    part = DocumentPart(PAPER.blob, provider_options={"scripted": {"citations": {"enabled": True}}})
    (decision,) = lossy.plan("hi", media=[part])
    assert (decision.route, decision.native_loss) == ("native", "")


def test_picture_is_not_concerned(lossy):
    assert lossy.plan("hi", media=[PICTURE])[0].route == "native"
