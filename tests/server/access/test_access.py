"""Who is let in: every route needs a key, whatever a request looks like. The health of the server is open."""

from __future__ import annotations

from collections.abc import Generator

import httpx2
import pytest

from abstractcore import ConfigurationError, InvalidInputError
from abstractcore_server import FixedKeys, ServerSettings, Settings
from abstractcore_server.process import listening_socket
from abstractcore_server.routes import ROUTES
from tests.server.serving import Served, serving

KEY = "correct-key-0123456789"
OTHER = "another-key-0123456789"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
PATHS = sorted({route.path.replace("{model}", "scripted") for route in ROUTES if not (route.is_open or route.is_admin)})
ODD_PATHS = ("/nothing", "//v1/models", "/v1//models", "/%761/models", "/v1/models/", "/v1/models/%2e%2e/x", "/health/")


@pytest.fixture(scope="module")
def running() -> Generator[Served]:
    with serving(Settings(ServerSettings(hosts=("llm.example",)), keys=(KEY,))) as served:
        yield served


@pytest.mark.parametrize("path", [*PATHS, *ODD_PATHS])
def test_each_method_of_each_path_needs_the_key(http: httpx2.Client, path: str):
    for method in METHODS:
        for headers in ({}, {"authorization": f"Bearer {OTHER}"}, {"x-api-key": KEY[:-1]}, {"authorization": KEY}):
            response = http.request(method, path, headers=headers)
            assert response.status_code == 401, (method, headers)
            assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("header", ["x-api-key", "x-goog-api-key", "api-key"])
def test_each_vendors_header_may_have_the_key(http: httpx2.Client, header: str):
    assert http.get("/v1/models/default", headers={header: KEY}).status_code == 200


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/v1/chat/completions", ("error", "message")),
        ("/v1/messages", ("error", "message")),
        ("/v1beta/models/x:generateContent", ("error", "message")),
        ("/v2/chat", ("message",)),
        ("/api/chat", ("error",)),
    ],
)
def test_a_refusal_has_the_shape_of_the_client(http: httpx2.Client, path: str, shape: tuple[str, ...]):
    found = http.post(path, json={}).json()
    for name in shape:
        found = found[name]
    assert "key" in found


def test_key_in_the_url_is_refused_even_if_it_is_right(http: httpx2.Client):
    response = http.get("/v1/models", params={"key": KEY}, headers={"authorization": f"Bearer {KEY}"})
    assert response.status_code == 401
    assert "URL" in response.json()["error"]["message"]


def test_two_different_keys_are_refused(http: httpx2.Client):
    headers = {"authorization": f"Bearer {OTHER}", "x-api-key": KEY}
    assert http.get("/v1/models", headers=headers).status_code == 401


def test_health_is_open_and_says_nothing_else(http: httpx2.Client):
    assert http.get("/health").json() == {"status": "ok"}
    assert http.get("/ready").json() == {"status": "ready"}
    assert http.head("/health").status_code == 200


@pytest.mark.parametrize("host", ["llm.example", "LLM.example:80", "localhost:1", "127.0.0.1", "[::1]:5", "localhost."])
def test_known_hosts_are_served(http: httpx2.Client, host: str):
    assert http.get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "169.254.169.254"]
)
def test_other_hosts_are_refused(http: httpx2.Client, host: str):
    headers = {"host": host, "authorization": f"Bearer {KEY}"}
    for path in ("/health", "/v1/models"):
        assert http.get(path, headers=headers).status_code == 403


def test_forwarding_headers_change_nothing(http: httpx2.Client):
    headers = {"x-forwarded-host": "evil.example", "x-forwarded-for": "127.0.0.1", "forwarded": "for=127.0.0.1"}
    assert http.get("/v1/models", headers=headers).status_code == 401
    assert http.get("/health", headers=headers).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_are_refused_without_keys(host: str):
    with pytest.raises(ConfigurationError, match="no key is set"):
        listening_socket(ServerSettings(host=host, port=0), is_open=True)
    with pytest.raises(ConfigurationError, match="by which name"):
        listening_socket(ServerSettings(host=host, port=0), is_open=False)


@pytest.mark.parametrize(
    "key", ["short", "with a space 0123456789", "not-ascii-é-0123456789", "line\nbreak-0123456789"]
)
def test_keys_that_a_header_cannot_hold_are_refused(key: str):
    with pytest.raises(InvalidInputError, match="at least 16 characters"):
        FixedKeys([key])
