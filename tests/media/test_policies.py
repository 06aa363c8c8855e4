"""Every kind of file, for a model that takes it, does not, or is unknown, under every policy: what reaches a server."""

from __future__ import annotations

import base64
import io
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from abstractcore import LLM, Message, Services, UnsupportedContentError, create_llm
from abstractcore_media import register_media_handlers
from tests.chaos_server import LAST_CHUNK, PATIENCE_SECONDS, ScriptedServer, answer, chunk, event, stream_head
from tests.media.document.test_pdf import made_of

pytestmark = pytest.mark.process

FILES = Path(__file__).parent / "files"
EXAMPLES = Path(__file__).parents[2] / "examples/media"
MODELS: Mapping[str, Mapping[str, Any]] = {
    "takes": {"model": "gemini-3.5-flash"},
    "does not": {"model": "gemini-3.5-flash", "accepts": ["text"]},
    "unknown": {"model": "zork-1"},
}
REPLY = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
    "modelVersion": "m",
    "responseId": "r",
}
OUTCOMES: Mapping[tuple[str, ...], Mapping[str, str]] = {
    ("text", "takes", "unknown"): {
        "auto": "text",
        "native": "text",
        "fallback_only": "text",
        "text": "text",
        "source": "source",
        "glyphs": "glyphs",
    },
    ("text", "does not"): {
        "auto": "text",
        "native": "text",
        "fallback_only": "text",
        "text": "text",
        "source": "source",
        "glyphs": "text",  # with a warning
    },
    ("image", "takes", "unknown"): {
        "auto": "native",
        "native": "native",
        "fallback_only": "caption",  # a PNG file needs no conversion
        "convert": "convert",
        "caption": "caption",
        "ocr": "ocr",
        "observe": "observe",
    },
    ("image", "does not"): {
        "auto": "caption",
        "native": "refused",
        "fallback_only": "caption",
        "convert": "refused",
        "caption": "caption",
        "ocr": "ocr",
        "observe": "observe",
    },
    ("audio", "takes", "unknown"): {
        "auto": "native",
        "native": "native",
        "fallback_only": "transcript",  # an MP3 file needs no conversion
        "convert": "convert",
        "transcript": "transcript",
    },
    ("audio", "does not"): {
        "auto": "transcript",
        "native": "refused",
        "fallback_only": "transcript",
        "convert": "refused",
        "transcript": "transcript",
    },
    ("video", "takes", "unknown"): {
        "auto": "native",
        "native": "native",
        "fallback_only": "frames+transcript",
        "frames+transcript": "frames+transcript",
        "frames": "frames",
        "transcript": "transcript",
    },
    ("video", "does not"): {
        "auto": "frames+transcript",
        "native": "refused",
        "fallback_only": "frames+transcript",
        "frames+transcript": "frames+transcript",
        "frames": "frames",
        "transcript": "transcript",
    },
    ("document", "takes", "unknown"): {
        "auto": "native",
        "native": "native",
        "fallback_only": "text",
        "text": "text",
        "pages": "pages",
        "glyphs": "glyphs",
    },
    ("document", "does not"): {
        "auto": "text",
        "native": "refused",
        "fallback_only": "text",
        "text": "text",
        "pages": "refused",
        "glyphs": "text",  # with a warning
    },
}
"""What becomes of a file of a kind, by policy: "native", "refused", or the name of the fallback."""
CASES = [
    pytest.param(kind, acceptance, policy, outcome, id=f"{kind}-{acceptance}-{policy}")
    for (kind, *acceptances), outcomes in OUTCOMES.items()
    for acceptance in acceptances
    for policy, outcome in {**outcomes, "refuse": "refused"}.items()
]
CAPTION = "A sign of a harbour."
MEASURED = "Measured, not seen by a vision model"
IMAGE = '"mimeType": "image/'


@pytest.fixture(scope="module")
def sign() -> bytes:
    """An image with words, as a PNG file."""
    image = Image.new("RGB", (640, 200), "white")
    font = ImageFont.load_default(size=48)
    ImageDraw.Draw(image).text((30, 60), "HARBOUR GATE SEVEN", "black", font)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def kept_services() -> Iterator[Services]:
    """Services of this module, which convert each file once."""
    services = Services(environment={})
    yield services
    services.close()


@pytest.fixture
def ask(server: ScriptedServer, kept_services: Services):
    """Creates an LLM at the server, with a vision model for captions."""

    def ask(acceptance: str) -> LLM:
        eye = create_llm("scripted", replies=[CAPTION] * 4, accepts=["image"], services=kept_services)
        return create_llm(
            "google",
            api_key="k",
            base_url=server.url,
            timeout=PATIENCE_SECONDS,
            vision_model=eye,
            transcription_model="whisper-tiny.en",
            video_frames=2,
            services=kept_services,
            **MODELS[acceptance],
        )

    return ask


def file_of(kind: str, sign: bytes) -> tuple[bytes, str, Path | bytes]:
    """Returns the bytes of the file of a kind, words that its text has, and what `media` gets."""
    if kind == "image":
        return sign, "HARBOUR GATE SEVEN", sign
    if kind == "text":  # long enough to be drawn
        text = (FILES / "clean_page.txt").read_bytes() * 40
        return text, "Minutes of the meeting", text
    if kind == "document":
        row = b"(Harbour Lamps sent lamp number %d, with its shade and two bulbs, by the morning ferry.) Tj T*"
        page = made_of(b"BT /F 1 Tf 1 TL 2 97 Td %s ET" % b" ".join(row % number for number in range(94)))
        return page, "Harbour Lamps", page
    path, words = {
        "audio": (FILES / "speech.mp3", "contract"),
        "video": (EXAMPLES / "talk.mp4", "meeting"),
    }[kind]
    return path.read_bytes(), words, path


@pytest.mark.parametrize("streamed_answer", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("kind", "acceptance", "policy", "outcome"), CASES)
def test_file_reaches_the_server_as_the_policy_says(
    call_style: Any,
    ask: Any,
    server: ScriptedServer,
    sign: bytes,
    kind: str,
    acceptance: str,
    policy: str,
    outcome: str,
    streamed_answer: bool,
):
    data, words, file = file_of(kind, sign)
    llm = ask(acceptance)
    options: dict[str, Any] = {"media": [file], "media_policy": {kind: policy}}
    if outcome == "refused":
        with pytest.raises(UnsupportedContentError) as caught:
            answered(call_style, llm, options, streamed_answer)
        assert caught.value.hint or "Choices" in str(caught.value)
        assert not server.requests
        return
    server.script(stream_head() + chunk(event(REPLY)) + LAST_CHUNK if streamed_answer else answer(REPLY))
    (decision,) = answered(call_style, llm, options, streamed_answer).media
    body = json.dumps(server.requests[0].json, ensure_ascii=False)
    assert (decision.kind, decision.policy) == (kind, policy)
    assert decision.fallback == (None if outcome == "native" else outcome)
    as_file = base64.b64encode(data).decode() in body
    takes_images = acceptance != "does not"
    expected = {
        "native": (True, kind == "image", False),
        "convert": (kind == "image", kind == "image", False),
        "glyphs": (False, True, False),
        "frames+transcript": (False, takes_images, True),
        "frames": (False, takes_images, False),
        "pages": (False, True, False),
        "caption": (False, False, False),
        "observe": (False, False, True),
    }
    assert (as_file, IMAGE in body, words in body) == expected.get(outcome, (False, False, True))
    described = outcome == "caption" or (kind == "video" and "frames" in outcome and not takes_images)
    assert (CAPTION in body) == described
    assert (MEASURED in body) == (outcome == "observe")
    assert ("audio/wav" in body) == (outcome == "convert" and kind == "audio")


@pytest.mark.parametrize("streamed_answer", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("acceptance", MODELS)
@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("image", "caption"), ("audio", "transcript"), ("video", "frames+transcript"), ("document", "text")],
)
def test_file_of_an_earlier_turn_reaches_the_server_as_text(
    call_style: Any,
    ask: Any,
    server: ScriptedServer,
    sign: bytes,
    kind: str,
    acceptance: str,
    outcome: str,
    streamed_answer: bool,
):
    data, words, file = file_of(kind, sign)
    llm = ask(acceptance)
    messages = [*llm.build("What is it?", media=[file]).messages, Message.assistant("A file.")]
    options: dict[str, Any] = {"messages": messages, "media_history": {kind: "text"}}
    server.script(stream_head() + chunk(event(REPLY)) + LAST_CHUNK if streamed_answer else answer(REPLY))
    (decision,) = answered(call_style, llm, options, streamed_answer).media
    body = json.dumps(server.requests[0].json, ensure_ascii=False)
    assert (decision.route, decision.fallback, decision.outputs) == ("fallback", outcome, ("text",))
    assert (base64.b64encode(data).decode() in body, IMAGE in body) == (False, False)
    assert (CAPTION if kind == "image" else words) in body
    assert (", in place of the file" in body) == (acceptance != "does not"), "which gets the text in its own turn too"


def test_every_fallback_of_a_file_is_tested(sign: bytes):
    for kind, acceptance in itertools.product(("text", "image", "audio", "video", "document"), MODELS):
        data, _, _ = file_of(kind, sign)
        handlers = (each for each in register_media_handlers() if each.recognise(data[:8192], "", None) is not None)
        names = {fallback.name for fallback in next(handlers).fallbacks}
        (outcomes,) = [found for (of, *models), found in OUTCOMES.items() if of == kind and acceptance in models]
        assert names | {"auto", "native", "fallback_only"} == set(outcomes)


def answered(call_style: Any, llm: LLM, options: dict[str, Any], streamed_answer: bool) -> Any:
    """Returns the response to a question about a file."""
    if not streamed_answer:
        return call_style.generate(llm, "What is this?", **options)
    with call_style.stream(llm, "What is this?", **options) as stream:
        assert "".join(stream.text()) == "ok"
    return stream.response
