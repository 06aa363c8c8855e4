"""`CachedContents(llm)`: explicit context caching, compared with the vendor's client."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google import genai
from google.genai import types

from abstractcore import LLM, CachedContent, NotFoundError, Services, UnsupportedOptionError, create_llm
from abstractcore.errors import InvalidInputError, RateLimitError, ServerError, UnexpectedResponseError
from abstractcore.schema import ToolSpec
from abstractcore.testing import CallStyle
from abstractcore_providers.formats.gemini import Gemini, GenerateContentDialect
from abstractcore_providers.formats.gemini.cached_contents import CachedContentName
from abstractcore_providers.vendors.google import CachedContents
from tests.providers.formats.gemini.cache_server import CacheServer, cache_server
from tests.providers.formats.gemini.wire import GEMINI, response

MODEL = "gemini-2.5-flash"
SPEC = ToolSpec("weather", "The weather.", {"type": "object"})
LASTING_300 = "2026-01-01T00:05:00Z"


@pytest.fixture
def caches() -> Iterator[CacheServer]:
    with cache_server() as server:
        yield server


@pytest.fixture
def llm(caches: CacheServer, services: Services) -> LLM:
    return create_llm(f"google/{MODEL}", api_key="k", base_url=f"{caches.url}/v1beta", services=services)


@pytest.fixture
def theirs(caches: CacheServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[genai.Client]:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    client = genai.Client(
        api_key="k", http_options=types.HttpOptions(base_url=caches.url, api_version="v1beta"), vertexai=False
    )
    yield client
    client.close()


def does(call_style: CallStyle, llm: LLM) -> Callable[..., Any]:
    """`do("create", ...)` sync or async."""
    contents = CachedContents(llm)

    def do(operation: str, *arguments: Any, **options: Any) -> Any:
        if call_style.name == "sync":
            return getattr(contents, operation)(*arguments, **options)
        return call_style.run(getattr(contents, f"a{operation}")(*arguments, **options))

    return do


def test_cached_content_is_created_used_extended_and_deleted(call_style: CallStyle, llm: LLM, caches: CacheServer):
    do = does(call_style, llm)
    kept = do("create", "long", system_prompt="s", seconds=300)
    options = {"google": {"cachedContent": "cachedContents/c1"}}
    assert kept == CachedContent("cachedContents/c1", options, f"models/{MODEL}", 5000, LASTING_300)
    answer = llm.generate("And?", provider_options=kept.provider_options)
    assert (answer.content, answer.usage.cached) == ("Yes.", 5000)
    assert caches.seen[-1][2]["cachedContent"] == kept.name
    assert do("extend", kept, seconds=600).expires == "2026-01-01T00:10:00Z"
    assert do("read", kept.name).expires == "2026-01-01T00:10:00Z"
    do("delete", kept)
    assert caches.kept == {}
    with pytest.raises(NotFoundError, match=r"google/gemini-2.5-flash: CachedContent not found"):
        do("read", kept)
    with pytest.raises(NotFoundError):
        llm.generate("And?", provider_options=kept.provider_options)


def respelt(body: Any) -> Any:
    """The API takes names in snake case too, as the client writes this one."""
    return json.loads(json.dumps(body).replace("parameters_json_schema", "parametersJsonSchema"))


def test_vendors_client_sends_the_same_requests(llm: LLM, theirs: genai.Client, caches: CacheServer):
    function = types.FunctionDeclaration(
        name="weather", description="The weather.", parameters_json_schema={"type": "object"}
    )
    config = types.CreateCachedContentConfig(
        ttl="300s",
        display_name="mine",
        system_instruction=types.Content(parts=[types.Part(text="s")]),
        contents=[types.Content(role="user", parts=[types.Part(text="long")])],
        tools=[types.Tool(function_declarations=[function])],
    )
    own = theirs.caches.create(model=MODEL, config=config)
    assert own.name is not None
    theirs.caches.get(name=own.name)
    theirs.caches.update(name=own.name, config=types.UpdateCachedContentConfig(ttl="60s"))
    theirs.caches.delete(name=own.name)
    expected = [(method, path.replace("c1", "c2"), respelt(body)) for method, path, body in caches.seen]
    caches.seen.clear()

    kept = CachedContents(llm).create("long", system_prompt="s", tools=[SPEC], seconds=300, title="mine")
    CachedContents(llm).read(kept)
    CachedContents(llm).extend(kept, seconds=60)
    CachedContents(llm).delete(kept)
    assert [(method, path.removesuffix("?updateMask=ttl"), body) for method, path, body in caches.seen] == expected


def test_options_of_the_answer_are_not_cached_and_have_a_warning(llm: LLM, caches: CacheServer):
    asked: Any = {"temperature": 0.5, "thinking": 128, "provider_options": {"google": {"safetySettings": []}}}
    kept = CachedContents(llm).create("long", seconds=300, **asked)
    assert [warning.path for warning in kept.warnings] == [
        "sampling",
        "thinking",
        "provider_options.google.safetySettings",
    ]
    assert set(caches.seen[0][2]) == {"model", "ttl", "contents"}
    with pytest.raises(UnsupportedOptionError, match="a cached content has no response"):
        CachedContents(llm).create("long", seconds=300, temperature=0.5, strict=True)


def test_vertex_cached_content_belongs_to_the_project(caches: CacheServer, services: Services):
    parent = "projects/p/locations/global"
    options: Any = {"project": "p", "access_token": "t", "base_url": f"{caches.url}/v1/{parent}"}
    llm = create_llm(f"vertex/{MODEL}", services=services, **options)
    kept = CachedContents(llm).create("long", seconds=300)
    assert kept.name == f"{parent}/cachedContents/c1"
    assert kept.model == f"{parent}/publishers/google/models/{MODEL}"
    CachedContents(llm).delete(kept)
    assert caches.seen[-1][:2] == ("DELETE", f"/v1/{parent}/cachedContents/c1")


@pytest.mark.parametrize("seconds", [0, -1, 1.5, "300"])
def test_invalid_ttl_is_refused_before_sending(llm: LLM, caches: CacheServer, seconds: Any):
    with pytest.raises(InvalidInputError):
        CachedContents(llm).create("long", seconds=seconds)
    assert caches.seen == []


@pytest.mark.parametrize(
    ("name", "arguments", "path"),
    [
        ("create", {"seconds": "300"}, "seconds"),
        ("create", {"seconds": True}, "seconds"),
        ("create", {"seconds": 300, "title": 5}, "title"),
        ("read", {"name": 5}, "name"),
        ("read", {"name": ""}, "name"),
        ("extend", {"name": None, "seconds": 300}, "name"),
        ("extend", {"name": "cachedContents/c1", "seconds": 0}, "seconds"),
        ("delete", {"name": b"cachedContents/c1"}, "name"),
    ],
)
def test_invalid_arguments_are_refused_before_sending(
    llm: LLM, caches: CacheServer, name: str, arguments: dict[str, Any], path: str
):
    with pytest.raises(InvalidInputError, match=rf"arguments\.{path}: expected a"):
        llm.operate(f"cached_contents.{name}", "long", arguments=arguments)
    assert caches.seen == []


def test_provider_without_cached_contents_is_refused(services: Services):
    llm = create_llm("scripted", services=services)
    with pytest.raises(UnsupportedOptionError, match=r"has no operation .cached_contents.create"):
        CachedContents(llm).create("long", seconds=300)


def test_response_without_a_name_is_an_error():
    for body in ({}, {"name": ""}):
        with pytest.raises(ServerError, match="does not name a cached content"):
            GEMINI.operations["cached_contents.read"].decode(response(body), None)
    with pytest.raises(RateLimitError, match="too fast"):
        GEMINI.operations["cached_contents.read"].decode(
            response({"error": {"code": 429, "message": "too fast", "status": "RESOURCE_EXHAUSTED"}}), None
        )
    with pytest.raises(UnexpectedResponseError):
        GEMINI.operations["cached_contents.read"].decode(response(b"<html>"), None)


def test_cached_content_name_cannot_contain_other_paths():
    delete = Gemini(GenerateContentDialect()).operations["cached_contents.delete"]
    request = delete.encode(CachedContentName("cachedContents/..%2f?x", model="m")).request
    assert request.url == "/cachedContents/..%252f%3Fx"


@pytest.mark.parametrize("model", ["gemini-4-carbon", "gemini-4-hydrogen", "gemini-4-argon"])
def test_model_that_only_caches_by_itself_has_no_cached_contents(
    model: str, call_style: CallStyle, services: Services, caches: CacheServer
):
    """docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini/4-carbon."""
    newest = create_llm(f"google/{model}", api_key="k", base_url=f"{caches.url}/v1beta", services=services)
    with pytest.raises(UnsupportedOptionError, match=f"{model} has no cached contents") as caught:
        does(call_style, newest)("create", "long", seconds=300)
    assert "caches prompts that begin alike" in (caught.value.hint or "")
    assert caches.seen == []
