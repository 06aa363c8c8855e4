"""Base URLs: `base_url`, the environment variables of vendors' clients, and the repr of an LLM."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import anthropic
import cohere
import groq
import ollama
import openai
import pytest
from google import genai
from mistralai.client import Mistral

from abstractcore import BadRequestError, ConfigurationError, Services, create_llm
from abstractcore.registry import Registry
from tests.chaos_server import ScriptedServer, answer, completion
from tests.documents import ROOT

_ON_VERTEX = {"project": "p", "access_token": "t"}
NEEDED: dict[str, dict[str, Any]] = {
    "bedrock": {"region": "us-east-1"},
    "vertex": {"project": "p"},
    "vertex-anthropic": _ON_VERTEX,
    "vertex-openai": _ON_VERTEX,
}
OFFLINE = Services(environment={"AWS_REGION": "us-west-2", "CLOUDFLARE_ACCOUNT_ID": "acc0"})
REACHED = sorted(
    {*Registry.from_entry_points().providers} - {"azure", "databricks", "local", "openai-compatible", "scripted"}
)
"""The providers with an address of their own."""
SECRET = "a1b2c3d4e5f6a7b8c9d0e1f2"


def table(*, all_rows: bool = False) -> list[tuple[str, str, str]]:
    """Returns the rows of the page: provider, variable, appended path; also those without a variable (`all_rows`)."""
    page = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    rows = page.split("| provider | environment variable | appended path |")[1].split("\n\n")[0].splitlines()[2:]
    found: list[tuple[str, str, str]] = []
    for row in rows:
        names, variables, path = (re.findall("`([^`]+)`", cell) for cell in row.strip("|").split("|"))
        variables = variables or ([""] if all_rows else [])
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
    parent = "/projects/p/locations/global" if provider.startswith("vertex") else ""
    parent += {"vertex-openai": "/endpoints/openapi", "databricks": "/serving-endpoints"}.get(provider, "")
    llm = made(provider, {variable: "https://gateway.test"}, base_url="https://given.test/v9")
    assert repr(llm) == f"LLM({provider}/m at https://given.test/v9{parent})"


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
    place = {"AWS_REGION": "us-west-2"} if provider == "bedrock-anthropic" else {}
    if provider == "databricks":
        with pytest.raises(ConfigurationError, match="'databricks' needs an address"):
            made(provider, {variable: " "})
        return
    assert repr(made(provider, {variable: " ", **place}, **options)) == repr(made(provider, place, **options))


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


# With and without the path of the API


def url_of(provider: str, base_url: str | None = None) -> str:
    """The base URL of an LLM."""
    options = {"api_key": "k", **NEEDED.get(provider, {}), **({} if base_url is None else {"base_url": base_url})}
    llm = create_llm(provider, model="m", services=OFFLINE, **options)
    return repr(llm).partition(" at ")[2].removesuffix(")")


def appended_path(provider: str) -> str:
    """The path of the table that is appended for a provider."""
    paths = {name: path for name, _, path in table(all_rows=True)}
    return paths.get(provider, "").replace("PROJECT", "p").replace("LOCATION", "global")


def beginnings(url: str) -> list[str]:
    """A URL cut off after each part of its path."""
    origin, parts = re.match(r"(\w+://[^/]+)(.*)", url).groups()  # pyright: ignore[reportOptionalMemberAccess]
    names = parts.split("/")[1:] if parts else []
    return ["/".join((origin, *names[:number])) for number in range(len(names) + 1)]


def test_beginning_of_a_vendors_own_url_is_all_of_it():
    walked = 0
    for provider in REACHED:
        own = url_of(provider)
        for given in beginnings(own):
            assert url_of(provider, given) == url_of(provider, f"{given}/") == own, given
            walked += 1
    assert (len(REACHED), walked) == (48, 120)


def test_base_url_of_a_gateway_has_the_path_once():
    for provider in (*REACHED, "azure"):
        path = appended_path(provider)
        for given in ("https://gateway.test", "https://gateway.test/ai", "https://gateway.test/v1/ai"):
            whole = f"{given}{path}"
            if provider == "azure" and given != "https://gateway.test":
                continue  # its base_url is that of the openai package, its azure_endpoint has no path
            assert url_of(provider, given) == url_of(provider, whole) == url_of(provider, f"{whole}/") == whole


def test_version_in_a_base_url_replaces_that_of_the_path():
    assert url_of("google", "https://gateway.test/v1") == "https://gateway.test/v1"
    assert url_of("google", "https://gateway.test/v1alpha/") == "https://gateway.test/v1alpha"
    assert url_of("groq", "https://gateway.test/v1") == "https://gateway.test/v1"
    assert url_of("vertex", "https://gateway.test/v1") == "https://gateway.test/v1/projects/p/locations/global"
    parent = "https://gateway.test/v1/projects/q/locations/eu"
    assert url_of("vertex", parent) == parent
    assert url_of("deepseek", "https://api.deepseek.com/v1") == "https://api.deepseek.com"


# The vendors' own clients, as the oracle


HI: Any = [{"role": "user", "content": "hi"}]


def ask_anthropic(url: str) -> None:
    with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as client:
        client.messages.create(model="m", max_tokens=9, messages=HI)


def ask_cohere(url: str) -> None:
    with cohere.ClientV2("k", base_url=url) as client:
        client.chat(model="m", messages=HI)


def ask_google(url: str) -> None:
    options = genai.types.HttpOptions(base_url=url, api_version="v1beta")
    with genai.Client(api_key="k", http_options=options) as client:
        client.models.generate_content(model="m", contents="hi")


def ask_mistral(url: str) -> None:
    with Mistral("k", server_url=url) as client:
        client.chat.complete(model="m", messages=HI)


def ask_ollama(url: str) -> None:
    with closing(ollama.Client(url)) as client:
        client.chat("m", HI)


def ask_openai(client_class: Any, url: str) -> None:
    with client_class(api_key="k", base_url=url, max_retries=0) as client:
        client.chat.completions.create(model="m", messages=HI)


CLIENTS: dict[str, Callable[[str], object]] = {
    "anthropic": ask_anthropic,
    "cohere": ask_cohere,
    "google": ask_google,
    "groq": partial(ask_openai, groq.Groq),
    "mistral": ask_mistral,
    "ollama": ask_ollama,
    "openai": partial(ask_openai, openai.OpenAI),
}


@pytest.mark.filterwarnings("ignore:'asyncio.iscoroutinefunction' is deprecated")  # Cohere's client calls it
@pytest.mark.parametrize("provider", CLIENTS)
@pytest.mark.parametrize("path", ["", "/ai"])
def test_base_url_is_read_as_the_vendors_client_reads_it(provider: str, path: str, server: ScriptedServer):
    server.always(answer({"error": {"message": "no such thing"}}, 400))
    with pytest.raises(Exception, match=r"Bad Request|400|no such"):
        CLIENTS[provider](server.url + path)
    with closing(Services(environment={})) as services, pytest.raises(BadRequestError):
        create_llm(provider, "m", api_key="k", base_url=server.url + path, services=services).generate("hi")
    theirs, ours = server.requests
    assert theirs.target.partition("?")[0] == ours.target


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
