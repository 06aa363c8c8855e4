"""Clients that mean harm, on every route: fields that name other addresses, ids that are paths, URLs of private
networks, images that are bombs, and streams that nobody reads.
"""

from __future__ import annotations

import base64
import json
import socket
import struct
import zlib
from collections.abc import Generator
from typing import Any

import httpx2
import pytest

from abstractcore_server import ServerLimits, ServerSettings, Settings
from abstractcore_server.routes import ROUTES
from tests.chaos_server import (
    HANG,
    PATIENCE_SECONDS,
    ReceivedRequest,
    Step,
    answer,
    chunk,
    completion,
    completion_body,
    delta,
    stream_head,
)
from tests.documents import ROOT
from tests.server.serving import VENDOR_KEY, Served, serving

SOUND = (ROOT / "examples/media/meeting.wav").read_bytes()
CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}
EVIL = "http://evil.example"
HOSTILE: dict[str, Any] = {
    "api_base": EVIL,
    "base_url": EVIL,
    "baseUrl": EVIL,
    "api_key": "stolen",
    "extra_headers": {"x-evil": "1"},
    "headers": {"x-evil": "1"},
    "organization": "org-evil",
    "proxy": EVIL,
    "httpOptions": {"baseUrl": EVIL, "headers": {"x-evil": "1"}},
    "voice_base_url": EVIL,
    "vision_api_key": "stolen",
}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {**CHAT, "model": "openai/gpt-4.1"},
    "/v1/completions": {"prompt": "hi", "model": "openai/gpt-4.1"},
    "/v1/responses": {"input": "hi", "model": "openai/gpt-4.1"},
    "/v1/messages": {**CHAT, "max_tokens": 9, "model": "openai/gpt-4.1"},
    "/v1beta/models/openai/gpt-4.1:generateContent": {"contents": [{"parts": [{"text": "hi"}]}]},
    "/v2/chat": {**CHAT, "model": "openai/gpt-4.1"},
    "/api/chat": {**CHAT, "stream": False, "model": "openai/gpt-4.1"},
    "/api/generate": {"prompt": "hi", "stream": False, "model": "openai/gpt-4.1"},
    "/v1/moderations": {"input": "hi", "model": "openai/omni-moderation-latest"},
    "/v1/embeddings": {"input": "hi", "model": "openai/text-embedding-3-small"},
    "/v2/embed": {"texts": ["hi"], "model": "openai/text-embedding-3-small"},
    "/api/embed": {"input": "hi", "model": "openai/text-embedding-3-small"},
    "/v1/rerank": {"query": "hi", "documents": ["hi"], "model": "openai-compatible/reranker"},
    "/v1/images/generations": {"prompt": "a house", "model": "openai/gpt-image-1"},
    "/v1/audio/speech": {"input": "hi", "voice": "alloy", "response_format": "wav", "model": "openai/tts-1"},
}


def vendor(request: ReceivedRequest) -> list[Step]:
    """What the vendor answers."""
    if "/embeddings" in request.target:
        return [answer({"data": [{"index": 0, "embedding": [1.0]}], "model": "m", "usage": {"prompt_tokens": 1}})]
    if "/rerank" in request.target:
        return [answer({"results": [{"index": 0, "relevance_score": 1.0}], "model": "m"})]
    if "/images/" in request.target:
        return [answer({"created": 1, "data": [{"b64_json": "iVBORw0KGgo="}]})]
    return [answer(SOUND, content_type="audio/wav") if "/speech" in request.target else completion()]


@pytest.fixture(scope="module")
def running() -> Generator[Served]:
    with serving(Settings(ServerSettings(default="openai/gpt-4.1"))) as served:
        served.vendor.always_by(vendor)
        yield served


@pytest.mark.parametrize("path", BODIES)
def test_no_field_header_or_query_changes_where_and_how_the_vendor_is_called(
    served: Served, http: httpx2.Client, path: str
):
    headers = {
        "x-evil": "1",
        "authorization": "Bearer client",
        "openai-organization": "org-evil",
        "cookie": "a=b",
        "x-forwarded-host": "evil.example",
    }
    query = {"api_base": EVIL, "base_url": EVIL}
    response = http.post(path, json={**BODIES[path], **HOSTILE}, headers=headers, params=query)
    assert response.status_code == 200, response.text
    (request,) = served.vendor.requests
    assert request.headers["authorization"] == f"Bearer {VENDOR_KEY}"
    assert not {"x-evil", "openai-organization", "cookie", "x-forwarded-host"} & request.headers.keys()
    assert "evil" not in request.target


@pytest.mark.process
def test_no_field_of_a_form_changes_where_the_vendor_is_called(served: Served, http: httpx2.Client):
    served.vendor.script(answer({"text": "Hello."}))
    form = {"model": "openai/whisper-1", "base_url": EVIL, "api_key": "stolen", "audio_base_url": EVIL}
    response = http.post("/v1/audio/transcriptions", data=form, files={"file": ("a.wav", SOUND)})
    assert response.status_code == 200, response.text
    (request,) = served.vendor.requests
    assert request.headers["authorization"] == f"Bearer {VENDOR_KEY}"
    assert b"evil" not in request.body


@pytest.mark.parametrize(
    "path", ["/v1/audio/speech", "/v1/chat/completions", "/v1/images/generations", "/v1/moderations", "/v1/embeddings"]
)
def test_name_of_a_model_cannot_be_a_header(served: Served, http: httpx2.Client, path: str):
    for name in ("a\r\nx-evil: 1", "openai/a\nb", "a\0", "openai/\x7f", "a\u2028b"):
        assert http.post(path, json={**BODIES[path], "model": name}).status_code == 404, name
    assert not served.vendor.requests


def test_name_that_a_vendor_gives_its_model_cannot_be_a_header(served: Served, http: httpx2.Client):
    served.vendor.script(answer({**completion_body(), "model": "m\r\nx-evil: 1"}))
    response = http.post("/v1/chat/completions", json=BODIES["/v1/chat/completions"])
    assert response.headers["x-abstractcore-model"] == "openai/m??x-evil: 1"
    assert "x-evil" not in response.headers


WITH_IDS = sorted({route.path for route in ROUTES if "{" in route.path and not route.is_admin})
PATHS_AS_IDS = (
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "a\0b",
    "a/../b",
    "~/x",
    "C:\\x",
    "x" * 5000,
    "%",
    "' OR 1=1 --",
)


@pytest.mark.parametrize("path", WITH_IDS)
def test_ids_that_are_paths_are_not_found(http: httpx2.Client, path: str):
    for hostile in PATHS_AS_IDS:
        quoted = "".join(f"%{byte:02x}" for byte in hostile.encode())
        for spelling in {quoted, quoted.replace("%2f", "/")}:
            filled = path
            while "{" in filled:
                filled = filled[: filled.index("{")] + spelling + filled[filled.index("}") + 1 :]
            for method in ("GET", "DELETE"):
                response = http.request(method, filled)
                known = "{model}" in path and method == "GET"  # a vendor may have a model of any name
                assert response.status_code in (400, 404, 405, *[200] * known), (method, filled)
                assert "root:" not in response.text


URLS = [
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1/x.png",
    "http://good.example\\@127.0.0.1/x.png",
    "http://good.example#@127.0.0.1/x.png",
    "file:///etc/passwd",
    "gopher://127.0.0.1/x",
]


def _asked_by(url: str) -> dict[str, dict[str, Any]]:
    """A question about the image at a URL, in the words of each API that has URLs."""
    at_openai = {"type": "image_url", "image_url": {"url": url}}
    at_anthropic = {"type": "image", "source": {"type": "url", "url": url}}
    model = {"model": "ollama/llama3.2-vision"}
    return {
        "/v1/chat/completions": {**model, "messages": [{"role": "user", "content": [at_openai]}]},
        "/v1/responses": {
            **model,
            "input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}],
        },
        "/v1/messages": {**model, "max_tokens": 9, "messages": [{"role": "user", "content": [at_anthropic]}]},
        "/v2/chat": {**model, "messages": [{"role": "user", "content": [at_openai]}]},
        "/v1beta/models/ollama/llama3.2-vision:generateContent": {
            "contents": [{"parts": [{"fileData": {"fileUri": url, "mimeType": "image/png"}}, {"text": "?"}]}]
        },
    }


@pytest.fixture(scope="module")
def fetching() -> Generator[Served]:
    with serving(Settings(ServerSettings(fetch_urls=True))) as served:
        yield served


@pytest.mark.parametrize("path", _asked_by(""))
def test_no_url_of_any_api_reaches_a_private_address(served: Served, fetching: Served, path: str):
    with httpx2.Client(trust_env=False) as client:
        for url in URLS:
            for server in (served, fetching):
                response = client.post(f"{server.url}{path}", json=_asked_by(url)[path])
                assert response.status_code == 400, (url, response.text)
                assert not server.vendor.requests


def _bomb() -> bytes:
    """A PNG of 30,000 x 30,000 pixels, which is small as a file."""

    def piece(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 30_000, 30_000, 1, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (3751 * 1000))
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", rows) + piece(b"IEND", b"")


def test_picture_that_is_a_bomb_is_an_error_of_the_client(served: Served, http: httpx2.Client):
    url = "data:image/png;base64," + base64.b64encode(_bomb()).decode()
    content = [{"type": "image_url", "image_url": {"url": url}}]
    body = {"model": "scripted", "messages": [{"role": "user", "content": content}]}
    response = http.post("/v1/chat/completions", json=body)
    assert response.status_code == 400, response.text
    assert "pixels" in response.json()["error"]["message"]
    assert http.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("path", "fields", "name"),
    [
        ("/v1/chat/completions", {**CHAT, "model": "scripted", "n": 10**9}, "n"),
        ("/v1/images/generations", {"model": "drawing", "prompt": "x", "n": 10**9}, "n"),
        ("/v1/images/generations", {"model": "drawing", "prompt": "x", "size": "99999x99999"}, "size"),
        ("/v1/images/generations", {"model": "drawing", "prompt": "x", "size": "1" * 5000 + "x1"}, "size"),
        ("/v1/audio/music", {"model": "rules", "prompt": "x", "seconds": 1e300}, "seconds"),
        ("/v1/audio/music", {"model": "rules", "prompt": "x", "seconds": 3, "tempo": 10**9}, "tempo"),
    ],
)
def test_numbers_are_within_ranges(http: httpx2.Client, path: str, fields: dict[str, Any], name: str):
    response = http.post(path, json=fields)
    assert (response.status_code, response.json()["error"]["param"]) == (400, name)


@pytest.mark.parametrize("path", ["/v1/files", "/v1/conversations/{id}/items", "/v1/responses/{id}/input_items"])
def test_lengths_of_lists_are_within_ranges(served: Served, http: httpx2.Client, path: str):
    served.script("hello")
    kind = path.split("/")[2]
    body = {"model": "scripted", "input": "hi"} if kind == "responses" else {}
    made = "" if kind == "files" else http.post(f"/v1/{kind}", json=body).json()["id"]
    for limit in ("0", "-1", "1" * 5000, "x", "1e3"):
        response = http.get(path.replace("{id}", made), params={"limit": limit})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "limit"), limit


def test_client_that_reads_nothing_ends_the_call_of_the_vendor():
    with serving(Settings(limits=ServerLimits(head_seconds=0.2))) as served:
        served.vendor.script(stream_head(), *[chunk(delta("x" * 1_000_000))] * 200)
        body = json.dumps({**CHAT, "model": "openai-compatible/m", "stream": True}).encode()
        host, port = served.url.removeprefix("http://").split(":")
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection((host, int(port))) as client:
            client.sendall(head.encode() + body)
            served.vendor.wait_for_requests(1)
            served.vendor.wait_for(
                lambda: served.vendor.requests[0].connection.closed_at, "the end of the vendor's call"
            )


@pytest.mark.parametrize("stream", [False, True])
def test_vendor_that_falls_silent_is_an_error_when_the_time_of_a_call_is_over(stream: bool):
    with serving(Settings(limits=ServerLimits(call_seconds=0.3))) as served, httpx2.Client(trust_env=False) as client:
        begun = [stream_head(), chunk(delta("hello"))] if stream else []
        served.vendor.script(*begun, HANG)
        body = {**CHAT, "model": "openai-compatible/m", "stream": stream}
        response = client.post(f"{served.url}/v1/chat/completions", json=body, timeout=PATIENCE_SECONDS)
        assert response.status_code == (200 if stream else 408)
        assert '"error":' in response.text
        served.vendor.wait_for(lambda: served.vendor.requests[0].connection.closed_at, "the end of the vendor's call")


@pytest.mark.process
def test_client_that_ends_its_side_after_a_request_ends_the_call(served: Served, http: httpx2.Client):
    gate = served.vendor.gate()
    served.vendor.script(gate)
    body = json.dumps({**CHAT, "model": "openai/gpt-4.1"}).encode()
    host, port = served.url.removeprefix("http://").split(":")
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + body)
        served.vendor.wait_for_requests(1)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(9) == b""
        served.vendor.wait_for(lambda: served.vendor.requests[0].connection.closed_at, "the end of the vendor's call")
    assert http.get("/health").status_code == 200
