"""Conversations of every mixture, sent to strict servers that hold the limits which vendors publish.

The servers decode what arrives: images by Pillow, bytes by the length that HTTP says. Claude:
https://platform.claude.com/docs/en/build-with-claude/vision (100 images of models with a context of 200,000 tokens,
8,000 pixels, 2,000 with more than 20 images, 10 MB an image in base64) and https://platform.claude.com/docs/en/api/overview
(32 MB a request). Groq: https://console.groq.com/docs/vision (5 images, 33,177,600 pixels, 4 MB in base64). Cohere:
https://docs.cohere.com/docs/image-inputs (20 images). Gemini: https://ai.google.dev/gemini-api/docs/file-input-methods
(100 MB a request).
"""

from __future__ import annotations

import base64
import io
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from abstractcore import LLM, File, Message, Services, ToolCall, ToolResult, create_llm
from abstractcore.transport import URLFetcher
from tests.providers.strict_fakes import anthropic_messages, cohere_chat, gemini, openai_chat
from tests.providers.strict_fakes.fake import Fake, StrictServer, strict_server

pytestmark = pytest.mark.process

FILES = Path(__file__).parent / "files"
BUNNY = Path(__file__).parents[2] / "examples/media/bunny.mp4"


@dataclass(frozen=True)
class Limits:
    """What a server refuses."""

    request_bytes: float = float("inf")
    images: int = 10_000
    pixels: int = 100_000
    many: int = 10_000
    pixels_of_many: int = 100_000
    base64_bytes: int = 10**9
    area: int = 10**9


CLAUDE = Limits(32_000_000, 100, 8000, 20, 2000, 10_000_000)
GROQ = Limits(4_000_000, 5, area=33_177_600)
COHERE = Limits(images=20)
GEMINI = Limits(100_000_000, 3600)


def images_in(body: Any) -> Iterator[str]:
    """The images of a request of any format, in base64."""
    if isinstance(body, list):
        for each in body:
            yield from images_in(each)
    elif isinstance(body, Mapping):
        source, inline = body.get("source"), body.get("inlineData")
        if body.get("type") == "image" and isinstance(source, Mapping):
            yield source["data"]
        elif isinstance(inline, Mapping) and inline["mimeType"].startswith("image/"):
            yield inline["data"]
        elif body.get("type") == "image_url":
            url = body["image_url"]
            yield (url["url"] if isinstance(url, Mapping) else url).partition(";base64,")[2]
        else:
            for each in body.values():
                yield from images_in(each)


def refusal(limits: Limits, row: Any, path: str, body: Any, headers: Mapping[str, str]) -> str | None:
    """Why a request is refused; None for a good one."""
    if int(headers["content-length"]) > limits.request_bytes:
        return f"Request exceeds the maximum size: {headers['content-length']} bytes."
    encoded = list(images_in(body))
    if len(encoded) > limits.images:
        return f"Too many images: {len(encoded)} > {limits.images}"
    edge = limits.pixels_of_many if len(encoded) > limits.many else limits.pixels
    for image in encoded:
        if len(image) > limits.base64_bytes:
            return f"image exceeds {limits.base64_bytes} bytes: {len(image)}"
        with Image.open(io.BytesIO(base64.b64decode(image, validate=True))) as opened:
            if max(opened.size) > edge or opened.width * opened.height > limits.area:
                return f"image is too large: {opened.size}; the limit is {edge} pixels"
            if len(opened.getexif()):
                return "the image has metadata"
    return None


def strict(fake: Fake, limits: Limits) -> Fake:
    return replace(fake, refusal=lambda *_: None, refusal_by_headers=partial(refusal, limits))


def noise(width: int, height: int, quality: int = 90) -> bytes:
    """A JPEG that is as large as one can be, with the place where it was taken."""
    exif = Image.Exif()
    exif[0x9286] = "at home"
    file = io.BytesIO()
    small = Image.frombytes("RGB", (width // 8, height // 8), os.urandom(width // 8 * (height // 8) * 3))
    small.resize((width, height)).save(file, "JPEG", quality=quality, exif=exif)
    return file.getvalue()


def pdf(pages: int) -> bytes:
    """Pages without text, of different gray."""
    drawn = [Image.new("RGB", (60, 80), (n, 2 * n % 255, 9)) for n in range(pages)]
    file = io.BytesIO()
    drawn[0].save(file, "PDF", save_all=True, append_images=drawn[1:])
    return file.getvalue()


@contextmanager
def web(files: Mapping[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """A server of files on this machine: its address, and what was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            data = files[self.path]
            self.send_response(200)
            self.send_header("content-type", "image/jpeg")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def services():
    services = Services(environment={}, fetcher=URLFetcher(allow_private=True))
    yield services
    services.close()


def eye(services: Services) -> LLM:
    """A model that describes images."""
    return create_llm("scripted", replies=["A gray field."] * 200, accepts=["image"], services=services)


def seen(server: StrictServer) -> int:
    """The number of images of the last request."""
    return len(list(images_in(server.bodies[-1])))


def results(*files: Any) -> list[Message]:
    """A turn whose tool returns files."""
    call = ToolCall("call_1", "look")
    return [
        Message.user("Look."),
        Message.assistant(call),
        Message.tool(ToolResult.of("call_1", *files)),
        Message.assistant("Seen."),
    ]


def test_long_conversation_of_every_mixture_keeps_the_limits_of_claude(call_style, services: Services):
    """Photos, pages of scans, frames of a video, results of a tool, an animation, and a file that is downloaded."""
    photos = [noise(2800, 700) for _ in range(6)]
    scan, photo = pdf(50), noise(2600, 600)
    policies = {"document": "pages", "video": "frames"}
    with strict_server(strict(anthropic_messages.FAKE, CLAUDE)) as server, web({"/sky.jpg": photo}) as (url, asked):
        llm = create_llm(
            "anthropic",
            model="claude-sonnet-4-5",
            base_url=server.url,
            api_key="k",
            services=services,
            vision_model=eye(services),
            media_policy=policies,
            facts={"accepts": ["image"], "urls": {}},
            max_retries=0,
        )
        turns: list[list[Any]] = [photos, [BUNNY], [scan], [f"{url}/sky.jpg"], [FILES / "animated.gif"], [pdf(45)]]
        messages: list[Any] = results(*llm.build("-", media=photos[:1]).messages[0].parts[:1])
        counts: list[int] = []
        for media in turns:
            response = call_style.generate(llm, "What is it?", messages=messages, media=media)
            counts.append(seen(server))
            messages = [*llm.build("What is it?", messages=messages, media=media).messages, response]
        assert counts[:3] == [7, 11, 61]
        assert max(counts) <= 100
        assert counts[-1] > 85, "there is room for so many"
        *_, last = response.media
        assert (last.lost, last.fit["image_pixels"]) == ((), 2000)
        assert [each.route for each in response.media[:1]] == ["native"]
        reduced = [each for each in response.media if each.fit.get("images", 100) < 100 or each.text_because]
        assert all(each.lost and "this is an older one" in each.reason for each in reduced)
        assert reduced
        assert asked.count("/sky.jpg") == 3, "once for each of the calls that have it"


def test_large_photos_of_a_conversation_keep_the_limit_of_a_request(call_style, services: Services):
    with strict_server(strict(openai_chat.fake("groq"), GROQ)) as server:
        llm = create_llm(
            "groq",
            model="qwen/qwen3.8-27b",
            base_url=server.url,
            api_key="k",
            services=services,
            vision_model=eye(services),
            facts={"accepts": ["image"]},
            max_retries=0,
        )
        messages: list[Any] = []
        for number in range(3):
            media = [noise(3000, 2000, 95), noise(2000, 1500, 95)] if number else [pdf(9)]
            asked: dict[str, Any] = {"messages": messages, "media": media}
            response = call_style.generate(llm, "What is it?", media_policy={"document": "pages"}, **asked)
            messages = [*llm.build("What is it?", **asked).messages, response]
        assert seen(server) == 5
        sizes = [len(each) for each in images_in(server.bodies[-1])]
        assert max(sizes[:3]) <= 40_000, "those of earlier turns are made small"
        assert sum(sizes[3:]) > 2_500_000, "the newest ones use the room"


def test_pages_of_one_document_keep_the_number_of_cohere(call_style, services: Services):
    with strict_server(strict(cohere_chat.FAKE, COHERE)) as server:
        llm = create_llm(
            "cohere",
            model="command-a-vision-07-2025",
            base_url=server.url,
            api_key="k",
            services=services,
            max_retries=0,
        )
        (decision,) = call_style.generate(llm, "hi", media=[pdf(50)], media_policy={"document": "pages"}).media
        assert seen(server) == 20
        (lost,) = [loss for loss in decision.lost if loss.what == "pages"]
        assert (lost.count, lost.total) == (30, 50)
        assert decision.sent is not None
        texts = [part.text for part in decision.sent.parts if part.text]
        assert "[page 1]" in texts[0]
        assert "[page 48]" in texts[-1]


def test_request_of_gemini_keeps_its_bytes(services: Services):
    photos = [noise(4000, 4000, 97) for _ in range(2)]
    copies = [photo + bytes([n]) * 4_000_000 for n, photo in enumerate(photos * 6)]
    with strict_server(strict(gemini.FAKE, GEMINI)) as server:
        llm = create_llm(
            "google", model="gemini-3.5-flash", base_url=server.url, api_key="k", services=services, max_retries=0
        )
        files = [File(copy, name=f"{n}.jpg") for n, copy in enumerate(copies)]
        response = llm.generate("hi", media=files)
        assert seen(server) == len(copies)
        assert {each.route for each in response.media} == {"native"}
