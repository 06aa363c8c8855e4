"""Base URLs: `base_url`, the environment variables of vendors' clients, and the repr of an LLM."""

from __future__ import annotations

import re
from typing import Any

import anthropic
import cohere
import openai
import pytest
from google import genai

from abstractcore import ConfigurationError, Services, create_llm
from tests.chaos_server import completion
from tests.documents import ROOT

NEEDED: dict[str, dict[str, Any]] = {"bedrock": {"region": "us-east-1"}, "vertex": {"project": "p"}}
SECRET = "a1b2c3d4e5f6a7b8c9d0e1f2"


def table() -> list[tuple[str, str, str]]:
    """Returns the rows of the page: provider, variable, appended path."""
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    rows = page.split("| provider | environment variable | appended path |")[1].split("\n\n")[0].splitlines()[2:]
    found: list[tuple[str, str, str]] = []
    for row in rows:
        names, variables, path = (re.findall("`([^`]+)`", cell) for cell in row.strip("|").split("|"))
        found += [(name, variable, path[0] if path else "") for name in names for variable in variables]
    return found


def made(provider: str, environment: dict[str, str], **options: Any):
    services = Services(environment=environment)
    given = {"api_key": "k", **NEEDED.get(provider, {}), **options}
    return create_llm(provider, model="m", services=services, **given)


@pytest.mark.parametrize(("provider", "variable", "path"), table())
def test_base_url_is_read_from_the_vendors_environment_variable(provider: str, variable: str, path: str):
    path = path.replace("PROJECT", "p").replace("LOCATION", "global")
    for value in ("https://gateway.test/ai", "https://gateway.test/ai/"):
        assert repr(made(provider, {variable: value})) == f"LLM({provider}/m at https://gateway.test/ai{path})"
    assert repr(made(provider, {variable: f"https://gateway.test/ai{path}"})).endswith(f"/ai{path})"), "not twice"


@pytest.mark.parametrize(("provider", "variable", "path"), table())
def test_base_url_option_overrides_the_environment_variable(provider: str, variable: str, path: str):
    llm = made(provider, {variable: "https://gateway.test"}, base_url="https://given.test/v9")
    assert repr(llm) == f"LLM({provider}/m at https://given.test/v9)"


@pytest.mark.parametrize(("provider", "variable", "path"), table())
def test_invalid_base_url_in_an_environment_variable_names_the_variable(provider: str, variable: str, path: str):
    with pytest.raises(ConfigurationError, match=f"{variable} .*is not a URL that begins with http"):
        made(provider, {variable: "ftp://gateway.test"})
    with pytest.raises(ConfigurationError, match=f"{variable} has a user") as caught:
        made(provider, {variable: f"https://user:{SECRET}@gateway.test"})
    assert SECRET not in str(caught.value)


def test_base_url_that_cannot_be_encoded_is_refused():
    with pytest.raises(ConfigurationError, match=r"base_url .*is not a URL"):
        made("openai-compatible", {}, base_url="http://127.0.0.1:1/\udcff")


@pytest.mark.parametrize(("provider", "variable", "path"), table())
def test_empty_environment_variable_is_ignored(provider: str, variable: str, path: str):
    options = {"resource": "r"} if provider == "azure" else {}
    assert repr(made(provider, {variable: " "}, **options)) == repr(made(provider, {}, **options))


def test_gateway_key_is_sent_to_the_gateway(call_style, server):
    server.script(completion())
    services = Services(environment={"OPENAI_API_KEY": "key-of-the-gateway", "OPENAI_BASE_URL": f"{server.url}/v1"})
    call_style.generate(create_llm("openai/gpt-5.4", services=services), "hi")
    services.close()
    (request,) = server.requests
    assert (request.target, request.headers["authorization"]) == ("/v1/chat/completions", "Bearer key-of-the-gateway")


def test_aws_endpoint_variables_can_be_disabled():
    environment = {"AWS_ENDPOINT_URL": "https://gateway.test", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "TRUE"}
    assert repr(made("bedrock", environment)) == "LLM(bedrock/m at https://bedrock-runtime.us-east-1.amazonaws.com)"


# The vendors' own clients, as the oracle


def theirs(variable: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a client asks for a chat when the variable names a gateway."""
    monkeypatch.setenv(variable, "https://gateway.test/ai")
    if variable == "OPENAI_BASE_URL":
        return f"{openai.OpenAI(api_key='k').base_url}".rstrip("/")
    if variable == "ANTHROPIC_BASE_URL":
        return f"{anthropic.Anthropic(api_key='k').base_url}".rstrip("/") + "/v1"
    if variable == "GOOGLE_GEMINI_BASE_URL":
        # Its version is another one by default: that of ours has more in it.
        return f"{genai.Client(api_key='k')._api_client._http_options.base_url}".rstrip("/") + "/v1beta"
    return cohere.ClientV2("k", base_url="https://gateway.test/ai")._client_wrapper.get_base_url() + "/v2"


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_BASE_URL"),
        ("anthropic", "ANTHROPIC_BASE_URL"),
        ("google", "GOOGLE_GEMINI_BASE_URL"),
        ("cohere", "CO_API_URL"),
    ],
)
def test_base_url_is_that_of_the_vendors_client(provider: str, variable: str, monkeypatch: pytest.MonkeyPatch):
    expected = theirs(variable, monkeypatch)
    assert repr(made(provider, {variable: "https://gateway.test/ai"})) == f"LLM({provider}/m at {expected})"


# What an LLM shows


def test_repr_shows_the_base_url_without_secrets():
    assert repr(made("anthropic", {})) == "LLM(anthropic/m at https://api.anthropic.com/v1)"
    shown = repr(made("openai-compatible", {}, base_url=f"https://gateway.test/{SECRET}/v1"))
    assert shown == "LLM(openai-compatible/m at https://gateway.test/***/v1)"


def test_repr_of_a_base_url_known_after_the_first_call():
    services = Services(environment={})
    llm = create_llm("bedrock", model="m", profile="mine", services=services)
    assert repr(llm) == "LLM(bedrock/m at a URL known after the first call)"


def test_local_model_has_no_base_url():
    assert repr(create_llm("scripted", replies=[])) == "LLM(scripted/scripted)"
    assert repr(create_llm(services=Services(environment={}))) == "LLM(local/smollm2-135m-instruct)"
