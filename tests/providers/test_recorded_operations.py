"""Recordings of operations without a reply, and replaying without an API key with any provider."""

from __future__ import annotations

import json
from typing import Any

import pytest

from abstractcore import (
    AuthenticationError,
    CassetteError,
    ConfigurationError,
    ModelNotFoundError,
    NotFoundError,
    ReplayMismatchError,
    Services,
    create_llm,
    record,
    replay,
)
from abstractcore.registry import Registry
from abstractcore_providers.vendors.google import CachedContents
from tests.chaos_server import answer, completion, failure
from tests.providers.formats.gemini.cache_server import cache_server

CLOSED = "http://127.0.0.1:1/v1"
MODEL = "google/gemini-2.5-flash"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recording.jsonl"


def do(call_style, target: Any, name: str, *arguments: Any, **options: Any) -> Any:
    if call_style.name == "sync":
        return getattr(target, name)(*arguments, **options)
    return call_style.run(getattr(target, f"a{name}")(*arguments, **options))


def lines(path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def google(services, *middleware, **options):
    return create_llm(MODEL, services=services, middleware=list(middleware), max_retries=0, **options)


def test_token_count_is_recorded_and_replayed_without_a_key(call_style, server, services, path):
    server.script(answer(b'{"totalTokens": 12}', content_type="application/json"))
    server.script(answer(b'{"totalTokens": 3}', content_type="application/json"))
    recording = google(services, record(path), base_url=f"{server.url}/v1beta", api_key="a-key-of-google")
    assert [do(call_style, recording, "count_tokens", text) for text in ("hi there", "hi")] == [12, 3]
    assert [line["response"] for line in lines(path)] == [{"body": {"totalTokens": 12}}, {"body": {"totalTokens": 3}}]
    player = replay(path)
    llm = google(services, player, base_url=CLOSED)
    assert [do(call_style, llm, "count_tokens", text) for text in ("hi", "hi there")] == [3, 12]
    assert list(player.unused) == []
    with pytest.raises(ReplayMismatchError, match="all of them are used"):
        do(call_style, llm, "count_tokens", "hi")


def test_failed_count_is_replayed_as_a_failure(call_style, server, services, path):
    server.script(failure(404, "models/m is not found for API version v1beta"))
    for llm in (
        google(services, record(path), base_url=f"{server.url}/v1beta", api_key="a-key-of-google"),
        None,
    ):
        with pytest.raises(ModelNotFoundError, match="models/m is not found"):
            do(call_style, llm or google(services, replay(path), base_url=CLOSED), "count_tokens", "hi")


def test_cached_contents_are_replayed(call_style, services, path):
    def use(llm) -> list[Any]:
        contents = CachedContents(llm)
        kept = do(call_style, contents, "create", "a long text", seconds=60, title="t")
        results = [kept, do(call_style, contents, "read", kept), do(call_style, contents, "extend", kept, seconds=300)]
        do(call_style, contents, "delete", kept)
        with pytest.raises(NotFoundError):
            do(call_style, contents, "read", kept)
        return results

    with cache_server() as server:
        base_url = f"{server.url}/v1beta"
        recorded = use(google(services, record(path), base_url=base_url, api_key="a-key-of-google"))
    assert len(lines(path)) == 5
    player = replay(path)
    assert use(google(services, player, base_url=CLOSED)) == recorded
    assert list(player.unused) == []


def test_operation_recorded_as_an_empty_reply_hints_at_recording_again(call_style, server, services, path):
    server.script(answer(b'{"totalTokens": 12}', content_type="application/json"))
    llm = google(services, record(path), base_url=f"{server.url}/v1beta", api_key="a-key-of-google")
    do(call_style, llm, "count_tokens", "hi")
    (line,) = lines(path)
    del line["response"]
    path.write_text(json.dumps({**line, "reply": {}}) + "\n")
    with pytest.raises(CassetteError, match=r"has no response to POST .*record it again"):
        do(call_style, google(services, replay(path), base_url=CLOSED), "count_tokens", "hi")


def test_middleware_that_answers_an_operation_with_a_reply_gets_a_hint(call_style, services):
    from abstractcore import ModelReply, TextPart

    class Answering:
        async def around_attempt(self, attempt, next):
            return ModelReply((TextPart("hello"),), "stop")

    llm = google(services, Answering(), api_key="a-key-of-google")
    with pytest.raises(ConfigurationError, match=r"count_tokens. with a ModelReply.*await next"):
        do(call_style, llm, "count_tokens", "hi")


REGISTRY = Registry.from_entry_points()
OPTIONS = {
    "azure": {"resource": "r"},
    "bedrock": {"region": "us-east-1"},
    "vertex": {"project": "p"},
    "vertex-anthropic": {"project": "p"},
    "vertex-openai": {"project": "p"},
    **{
        name: {"base_url": CLOSED}
        for name in ("bedrock-anthropic", "bedrock-openai", "cloudflare", "databricks", "openai-compatible")
    },
}
WITHOUT_CHAT = ("jina", "tei", "voyage")
PROVIDERS = [name for name in REGISTRY.providers if name not in ("scripted", "local", *WITHOUT_CHAT)]


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("stream", [False, True])
def test_every_provider_replays_without_a_key_and_sends_nothing(call_style, services, path, name, stream, monkeypatch):
    """The request is not in the recording: the error shows that it was searched there."""
    for variable in ("HOME", "AWS_PROFILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(variable, str(path.parent))
    path.write_bytes(b"")
    llm = create_llm(
        name, "m", services=Services(environment={}), middleware=[replay(path)], max_retries=0, **OPTIONS.get(name, {})
    )
    with pytest.raises(ReplayMismatchError, match="is empty"):
        list(call_style.stream(llm, "hi")) if stream else call_style.generate(llm, "hi")


@pytest.mark.parametrize("name", WITHOUT_CHAT)
def test_providers_without_a_chat_replay_embeddings_without_a_key(path, name):
    path.write_bytes(b"")
    llm = create_llm(name, "m", services=Services(environment={}), middleware=[replay(path)], max_retries=0)
    with pytest.raises(ReplayMismatchError, match="is empty"):
        llm.embed(["hi"])


def test_recording_made_with_a_key_is_replayed_without_one(call_style, server, services, path):
    server.script(completion("fine"))
    llm = create_llm(
        "openai/gpt-4o", services=services, api_key="a-key", base_url=f"{server.url}/v1", middleware=[record(path)]
    )
    first = call_style.generate(llm, "hi")
    again = create_llm("openai/gpt-4o", services=Services(environment={}), middleware=[replay(path)])
    second = call_style.generate(again, "hi")
    assert (second.reply, second.usage, second.cost) == (first.reply, first.usage, first.cost)
    assert second.usage.input == 3


def test_replaying_llm_cannot_send(call_style, server, services, path):
    class Passing:
        offline = True

        async def around_attempt(self, attempt, next):
            return await next(attempt)

    llm = create_llm("openai/gpt-4o", services=services, base_url=f"{server.url}/v1", middleware=[Passing()])
    with pytest.raises(ConfigurationError, match="this LLM sends no requests"):
        call_style.generate(llm, "hi")
    assert server.requests == []


def test_without_replay_a_key_is_required(services, path):
    with pytest.raises(AuthenticationError, match="no API key"):
        create_llm("openai/gpt-4o", services=services, middleware=[record(path)])
