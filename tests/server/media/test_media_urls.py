"""Files that clients name by URL: the server downloads none unless its operator has turned that on, and then only from
public addresses. Providers that read URLs themselves get them.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import httpx2
import pytest

from abstractcore_server import ServerSettings, Settings
from tests.chaos_server import completion
from tests.server.serving import Served, serving

PRIVATE = [
    "http://127.0.0.1/x.png",
    "http://[::1]/x.png",
    "http://[::ffff:169.254.169.254]/x.png",
    "http://0x7f.1/x.png",
    "http://2130706433/x.png",
    "http://a@127.0.0.1/x.png",
    "http://localhost/x.png",
]
NO_URLS = ["file:///etc/passwd", "gopher://x/y", "/etc/passwd", "ftp://x/y"]


def ask(served: Served, model: str, url: str) -> httpx2.Response:
    """Asks about the image at a URL."""
    image: dict[str, Any] = {"type": "image_url", "image_url": {"url": url}}
    body = {"model": model, "messages": [{"role": "user", "content": [{"type": "text", "text": "?"}, image]}]}
    with httpx2.Client(trust_env=False) as client:
        return client.post(f"{served.url}/v1/chat/completions", json=body)


@pytest.fixture(scope="module")
def fetching() -> Generator[Served]:
    with serving(Settings(ServerSettings(fetch_urls=True))) as served:
        yield served


@pytest.mark.parametrize("url", [*PRIVATE, "https://example.com/x.png"])
def test_nothing_is_downloaded_by_default(served: Served, url: str):
    response = ask(served, "ollama/llama3.2-vision", url)
    assert response.status_code == 400
    assert "downloads no files" in response.json()["error"]["message"]
    assert not served.vendor.requests


@pytest.mark.parametrize("url", PRIVATE)
def test_downloads_come_from_public_addresses_only(fetching: Served, url: str):
    response = ask(fetching, "ollama/llama3.2-vision", url)
    assert response.status_code == 400
    assert not fetching.vendor.requests


@pytest.mark.parametrize("url", NO_URLS)
@pytest.mark.parametrize("model", ["openai/gpt-4.1", "ollama/llama3.2-vision"])
def test_no_file_of_the_server_is_read(served: Served, fetching: Served, model: str, url: str):
    for server in (served, fetching):
        response = ask(server, model, url)
        assert response.status_code == 400
        assert "root:" not in response.text
        assert not server.vendor.requests


def test_a_provider_that_reads_urls_gets_them(served: Served):
    served.vendor.script(completion("A lighthouse."))
    assert ask(served, "openai/gpt-4.1", "https://example.com/x.png").status_code == 200
    (request,) = served.vendor.requests
    assert request.json["messages"][0]["content"][1]["image_url"]["url"] == "https://example.com/x.png"
