"""Which web pages may use the server: `Origin` and `Sec-Fetch-Site`, as browsers send them, on every route."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest

from abstractcore import ConfigurationError
from abstractcore_server import ServerSettings, Settings, read_settings
from abstractcore_server.routes import ROUTES
from tests.server.serving import Served, serving

ALLOWED = "https://app.example.com"
CHAT = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}]}
FOREIGN: dict[str, dict[str, str]] = {
    "another site": {"origin": "https://evil.example"},
    "a hidden origin": {"origin": "null"},
    "another port": {"origin": "http://127.0.0.1:1"},
    "an allowed name with another scheme": {"origin": "http://app.example.com"},
    "a longer name": {"origin": "https://app.example.com.evil.example"},
    "cross-site": {"sec-fetch-site": "cross-site"},
    "same-site": {"sec-fetch-site": "same-site"},
    "a form of another site": {
        "origin": "https://evil.example",
        "sec-fetch-site": "cross-site",
        "sec-fetch-mode": "navigate",
        "sec-fetch-dest": "document",
    },
}
CONTENTS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "JSON without Content-Type": {"content": json.dumps(CHAT).encode()},
    "JSON as curl sends it": {
        "content": json.dumps(CHAT),
        "headers": {"content-type": "application/x-www-form-urlencoded"},
    },
    "text": {"content": json.dumps(CHAT), "headers": {"content-type": "text/plain"}},
    "a form": {"data": {"model": "scripted"}, "files": {"file": b"x"}},
}
PREFLIGHT = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type"}


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    with serving(Settings(ServerSettings(origins=(ALLOWED,)))) as served:
        yield served


def sent(http: httpx2.Client, method: str, path: str, content: Mapping[str, Any], **headers: str) -> httpx2.Response:
    return http.request(method, path, **{**content, "headers": {**content.get("headers", {}), **headers}})


def requests() -> Iterator[tuple[str, str, dict[str, str], dict[str, Any]]]:
    """Method, path, headers and content of requests of foreign pages to every route."""
    for route in ROUTES:
        path = re.sub(r"\{\w+\}", "x", route.path)
        for foreign in FOREIGN.values():
            yield "OPTIONS", path, {**foreign, **PREFLIGHT}, {}
            for method in route.methods:
                for content in CONTENTS.values() if method == "POST" else [{}]:
                    yield method, path, foreign, content


@pytest.mark.exhaustive
def test_foreign_pages_are_refused_on_every_route(served: Served, http: httpx2.Client):
    paths: list[str] = []
    for method, path, headers, content in requests():
        response = sent(http, method, path, content, **headers)
        assert response.status_code == 403, (method, path, headers, content)
        assert method == "HEAD" or "--allow-origin" in response.text, (method, path)
        assert "access-control-allow-origin" not in response.headers
        paths.append(path)
    assert served.calls == []
    assert len({*paths}) == len(ROUTES) == 75
    assert len(paths) == 2864


def test_clients_that_are_no_browsers_need_no_headers(served: Served, http: httpx2.Client):
    served.script("one", "two", "three")
    own: list[dict[str, str]] = [{}, {"origin": served.url}, {"origin": served.url, "sec-fetch-site": "same-origin"}]
    for headers in own:
        response = sent(http, "POST", "/v1/chat/completions", CONTENTS["JSON without Content-Type"], **headers)
        assert response.status_code == 200, (headers, response.text)
        assert "access-control-allow-origin" not in response.headers
    assert len(served.calls) == 3
    assert http.get("/", headers={"sec-fetch-site": "none"}).status_code == 200


def test_links_to_pages_of_the_server_may_be_anywhere(http: httpx2.Client):
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert http.get("/", headers=link).status_code == 200
    assert http.get("/docs", headers=link).status_code == 200
    assert http.get("/docs", headers={**link, "sec-fetch-dest": "iframe"}).status_code == 403
    assert http.get("/v1/models", headers=link).status_code == 403


def test_pages_of_an_allowed_origin_may_use_the_server(served: Served, http: httpx2.Client):
    page = {"origin": ALLOWED, "sec-fetch-site": "cross-site"}
    asked = http.options("/v1/chat/completions", headers={**page, **PREFLIGHT})
    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers["access-control-allow-origin"] == ALLOWED
    assert asked.headers["access-control-allow-methods"] == "POST"
    assert asked.headers["access-control-allow-headers"] == "authorization,content-type"
    served.script("hello", "hello")
    for stream in (False, True):
        response = http.post("/v1/chat/completions", json={**CHAT, "stream": stream}, headers=page)
        assert "hello" in response.text
        assert (response.headers["access-control-allow-origin"], response.headers["vary"]) == (ALLOWED, "origin")
    wrong = http.get("/v1/nothing", headers=page)
    assert (wrong.status_code, wrong.headers["access-control-allow-origin"]) == (404, ALLOWED)


@pytest.mark.parametrize("origin", ["app.example.com", "*", f"{ALLOWED}/", "https://*.example.com", "null"])
def test_setting_that_is_no_origin_is_refused(origin: str):
    with pytest.raises(ConfigurationError, match="origins: expected an origin") as caught:
        read_settings(None, {}, {"origins": (origin,)})
    assert "https://app.example.com" in str(caught.value.hint)
