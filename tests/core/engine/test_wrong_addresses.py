"""Almost correct base URLs: the error shows the requested URL and a hint."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from abstractcore import ConnectionFailedError, ModelNotFoundError, NotFoundError, ProviderError, Services, create_llm
from abstractcore.testing.transports.cases import error_text
from tests.chaos_server import CUT, ScriptedServer, answer, failure

SECRET = "a1b2c3d4e5f6a7b8c9d0e1f2"
NOTHING_HERE = answer(b'{"detail":"Not Found"}', 404)


@pytest.fixture
def reach(services: Services):
    """Makes an LLM of a provider at an address."""

    def reach(provider: str, url: str, model: str = "m", **options):
        return create_llm(provider, model, base_url=url, api_key="k", services=services, max_retries=0, **options)

    return reach


@pytest.mark.parametrize(
    ("provider", "asked", "usual"),
    [
        ("openai-compatible", "/chat/completions", "/v1"),
        ("openai", "/chat/completions", "/v1"),
        ("openrouter", "/chat/completions", "/api/v1"),
        ("openai-responses", "/responses", "/v1"),
        ("together", "/chat/completions", "/v1"),
        ("xai", "/chat/completions", "/v1"),
    ],
)
def test_base_url_without_version_shows_the_requested_url_and_a_hint(
    call_style, server, reach, provider: str, asked: str, usual: str
):
    server.script(NOTHING_HERE)
    with pytest.raises(NotFoundError) as caught:
        call_style.generate(reach(provider, server.url), "hi")
    assert f", in answer to POST {server.url}{asked} (HTTP 404). " in str(caught.value)
    assert (
        caught.value.hint == f"The base URL of this API usually ends with {usual}: try base_url='{server.url}{usual}'."
    )


def test_stream_with_a_wrong_base_url_gives_the_same_error(call_style, server, reach):
    server.script(NOTHING_HERE)
    with pytest.raises(NotFoundError) as caught, call_style.stream(reach("openai", server.url), "hi") as stream:
        next(stream)
    assert f"POST {server.url}/chat/completions (HTTP 404). " in str(caught.value)
    assert f"try base_url='{server.url}/v1'" in str(caught.value)


def test_operation_path_in_base_url_hints_at_removing_it(call_style, server, reach):
    server.script(NOTHING_HERE)
    with pytest.raises(NotFoundError) as caught:
        call_style.generate(reach("openai-compatible", f"{server.url}/v1/chat/completions"), "hi")
    assert caught.value.hint == "Leave /chat/completions out of base_url: it is appended for each call."


def test_method_not_allowed_hints_at_base_url(call_style, server, reach):
    server.script(answer(b"<html>", 405))
    with pytest.raises(ProviderError, match=rf"POST {server.url}/ui/chat/completions ") as caught:
        call_style.generate(reach("openai-compatible", f"{server.url}/ui"), "hi")
    assert caught.value.hint == "The base URL of this API usually ends with /v1."


def test_wrong_path_reported_with_status_200_is_recognised(call_style, server, reach):
    """As LM Studio's does."""
    server.script(answer(b'{"error":"Unexpected endpoint or method. (POST /chat/completions)"}', 200))
    with pytest.raises(NotFoundError) as caught:
        call_style.generate(reach("openai-compatible", server.url), "hi")
    assert f"try base_url='{server.url}/v1'" in str(caught.value)


def test_correct_base_url_gives_no_such_hint(call_style, server, reach):
    server.script(NOTHING_HERE)
    server.script(failure(404, "The model 'm' does not exist", error={"code": "model_not_found"}))
    with pytest.raises(NotFoundError) as caught:
        call_style.generate(reach("openai-compatible", f"{server.url}/v1"), "hi")
    assert f"POST {server.url}/v1/chat/completions (HTTP 404)" in str(caught.value)
    assert caught.value.hint is None
    with pytest.raises(ModelNotFoundError) as caught:
        call_style.generate(reach("openai-compatible", server.url), "hi")
    assert "base_url" not in str(caught.value)


NO_SUCH_MODEL = failure(404, "The model 'gpt-5.4-minni' does not exist", error={"code": "model_not_found"})


@pytest.mark.parametrize(
    ("provider", "path", "given"),
    [
        ("openai", "/v1", "{url}/v1"),
        ("openai-responses", "/v1", "{url}/v1"),
        ("openai-compatible", "/v1", "{url}/v1"),
        ("lmstudio", "/v1", "{url}/v1"),
        ("groq", "/openai/v1", "{url}/openai/v1"),
        ("openai", f"/{SECRET}/v1", "URL"),
    ],
)
def test_unknown_model_of_a_server_of_ones_own_hints_at_what_lists_its_models(
    call_style, server, reach, provider: str, path: str, given: str
):
    server.script(NO_SUCH_MODEL)
    llm = reach(provider, server.url + path, model="gpt-5.4-minni")
    assert "Did you mean" not in str(llm.plan("hi").warnings)
    with pytest.raises(ModelNotFoundError) as caught:
        call_style.generate(llm, "hi")
    address = given.format(url=server.url)
    expected = f"`abstractcore models list --provider {provider} --base-url {address}` lists the models of this server."
    assert caught.value.hint == expected


@pytest.mark.parametrize("host", ["api.openai.com", "eu.api.openai.com"])
def test_unknown_model_at_the_vendor_hints_at_a_similar_one(host: str):
    llm = create_llm("openai/gpt-5.4-minni", api_key="sk-0", base_url=f"https://{host}/v1")
    assert "Did you mean gpt-5.4-mini" in llm.plan("hi").warnings[0].message
    llm.close()


def test_key_in_a_path_is_not_shown(call_style, server, reach):
    server.script(NOTHING_HERE)
    with pytest.raises(NotFoundError, match=r"/gateway/\*\*\*/chat/completions") as caught:
        call_style.generate(reach("openai-compatible", f"{server.url}/gateway/{SECRET}"), "hi")
    assert SECRET not in error_text(caught.value)


# Ollama


@pytest.mark.parametrize("path", ["/v1", "/api", "/api/chat"])
def test_ollama_base_url_drops_paths_of_other_clients(call_style, server, reach, path: str):
    server.script(answer(b"404 page not found", 404))
    with pytest.raises(NotFoundError, match=rf"POST {server.url}/api/chat "):
        call_style.generate(reach("ollama", f"{server.url}{path}"), "hi")


def test_interrupted_ollama_stream_does_not_hint_at_starting_the_server(call_style, server, reach):
    server.script(CUT)
    with pytest.raises(ConnectionFailedError) as caught:
        call_style.generate(reach("ollama", server.url), "hi")
    assert caught.value.connected
    assert "ollama serve" not in str(caught.value)


def test_unreachable_ollama_hints_at_starting_the_server(call_style, reach):
    with ScriptedServer() as gone:
        url = gone.url
    with pytest.raises(ConnectionFailedError, match="ollama serve") as caught:
        call_style.generate(reach("ollama", url), "hi")
    assert not caught.value.connected


def test_unreachable_proxy_is_named_instead_of_ollama(call_style, reach):
    with ScriptedServer() as gone:
        proxy = gone.url
    with pytest.raises(ConnectionFailedError, match=f"through the proxy {proxy}") as caught:
        call_style.generate(reach("ollama", "http://ollama.test:11434", proxy=proxy), "hi")
    assert "ollama serve" not in str(caught.value)


# What the connection itself reports


def test_unreachable_server_hints_at_starting_it_or_base_url(call_style, reach):
    with ScriptedServer() as gone:
        url = gone.url
    with pytest.raises(ConnectionFailedError) as caught:
        call_style.generate(reach("openai-compatible", url), "hi")
    assert caught.value.hint == "Check that the server is running, and that base_url is correct."


def test_unresolvable_host_hints_at_its_spelling(call_style, reach):
    with pytest.raises(ConnectionFailedError) as caught:
        call_style.generate(reach("openai-compatible", "http://nowhere.invalid/v1"), "hi")
    assert caught.value.hint == "Check the network connection, and the spelling of base_url if you gave one."


@pytest.fixture
def plain_server() -> Iterator[HTTPServer]:
    """A server that answers the first bytes of TLS as most do: in plain HTTP, that they are not a request."""
    with HTTPServer(("127.0.0.1", 0), QuietHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class QuietHandler(BaseHTTPRequestHandler):
    """Answers nothing but errors, and logs none."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.mark.parametrize("transport", ["httpx2", "fast"])
def test_server_without_tls_hints_at_http(call_style, plain_server, reach, transport: str):
    url = f"https://127.0.0.1:{plain_server.server_port}/v1"
    with pytest.raises(ConnectionFailedError) as caught:
        call_style.generate(reach("openai-compatible", url, transport=transport), "hi")
    assert (caught.value.hint or "").endswith("write http:// instead of https:// in base_url.")


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "cohere", "ollama", "bedrock"])
def test_plain_text_error_is_quoted(call_style, server, reach, provider: str):
    options = {"region": "us-east-1"} if provider == "bedrock" else {}
    server.script(answer(b"no healthy upstream\n", 500, content_type="text/plain; charset=utf-8"))
    with pytest.raises(ProviderError, match="answered with status 500: 'no healthy upstream'"):
        call_style.generate(reach(provider, server.url, **options), "hi")


def test_long_retry_after_is_in_the_message(call_style, server, reach):
    server.script(answer(b"{}", 429, retry_after="3600"))
    with pytest.raises(ProviderError, match=r"\(HTTP 429, retry after 3600 s\)"):
        call_style.generate(reach("openai-compatible", server.url), "hi")
