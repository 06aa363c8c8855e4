"""Models of others on Amazon Bedrock and Vertex AI, through their own APIs: as Anthropic's own client calls them."""

import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

import httpx2
import pytest
from anthropic import AnthropicBedrockMantle, AnthropicVertex

from abstractcore import Services, create_llm
from abstractcore.errors import AuthenticationError, ConfigurationError
from abstractcore.testing import check_laws, strategies
from abstractcore_providers.formats.anthropic_messages import AnthropicMessages, MessagesDialect
from tests.providers.formats.anthropic_messages import generated
from tests.providers.strict_fakes import anthropic_messages, openai_chat
from tests.providers.strict_fakes.fake import TEXT

CLAUDE = "claude-opus-4-5@20251101"
ASKED: dict[str, Any] = {"max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
LOCATIONS = ("europe-west1", "global", "us")


def requests_of(use: Callable[[httpx2.Client], object]) -> list[Any]:
    """Returns what matters in the requests that are sent: the URL, the body, the version and the key."""
    found: list[Any] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        body, headers = json.loads(request.content), request.headers
        found.append((str(request.url), body, headers.get("anthropic-version"), headers.get("authorization")))
        if "count" in request.url.path:
            return httpx2.Response(200, json={"input_tokens": 5})
        answer = openai_chat.answer if "completions" in request.url.path else anthropic_messages.answer
        kind, content = answer(body.get("stream", False))
        return httpx2.Response(200, content=content, headers={"content-type": kind})

    with httpx2.Client(transport=httpx2.MockTransport(respond)) as client:
        use(client)
    return found


def ours(provider: str, environment: dict[str, str], **options: Any) -> Callable[[httpx2.Client], None]:
    """Returns a whole answer, and a stream, of our own."""

    def use(client: httpx2.Client) -> None:
        services = Services(environment=environment)
        with closing(services):
            llm = create_llm(provider, services=services, http_client=client, max_output_tokens=5, **options)
            assert llm.generate("hi").content == TEXT
            with llm.stream("hi") as stream:
                list(stream)
            assert stream.response.content == TEXT

    return use


def theirs(client: Any, model: str) -> None:
    """The same by the vendor's client."""
    client.messages.create(model=model, **ASKED)
    list(client.messages.create(model=model, **ASKED, stream=True))


@pytest.mark.parametrize("location", LOCATIONS)
def test_claude_on_vertex_is_called_as_by_anthropics_client(location: str):
    def use(client: httpx2.Client) -> None:
        theirs(AnthropicVertex(region=location, project_id="p", access_token="t", http_client=client), CLAUDE)

    place = {"project": "p", "location": location, "access_token": "t", "api_version": "2026-10-21"}
    assert requests_of(ours("vertex-anthropic", {}, model=CLAUDE, **place)) == requests_of(use)


def test_claude_on_bedrock_is_called_as_by_anthropics_client():
    model = "anthropic.claude-opus-5-5"

    def use(client: httpx2.Client) -> None:
        theirs(AnthropicBedrockMantle(api_key="k", aws_region="us-west-2", http_client=client), model)

    environment = {"AWS_REGION": "us-west-2", "AWS_BEARER_TOKEN_BEDROCK": "k"}
    called, expected = requests_of(ours("bedrock-anthropic", environment, model=model)), requests_of(use)
    for (url, body, *headers), (url_of_theirs, body_of_theirs, *headers_of_theirs) in zip(
        called, expected, strict=True
    ):
        assert body.pop("thinking")["display"] == "summarized"  # what this model thinks has to be asked for
        assert (url, body, headers) == (url_of_theirs, body_of_theirs, headers_of_theirs)


def test_older_claude_on_vertex_has_the_first_version_and_a_temperature():
    def use(client: httpx2.Client) -> None:
        llm = create_llm(f"vertex-anthropic/{CLAUDE}", project="p", access_token="t", http_client=client)
        assert llm.generate("hi", temperature=0.2).warnings == ()

    ((url, body, version, key),) = requests_of(use)
    assert url.endswith(f"/v1/projects/p/locations/global/publishers/anthropic/models/{CLAUDE}:rawPredict")
    assert (body["anthropic_version"], body["temperature"], version, key) == (
        "vertex-2023-10-16",
        0.2,
        None,
        "Bearer t",
    )


def test_tokens_are_counted_on_vertex_as_by_anthropics_client():
    def use(client: httpx2.Client) -> None:
        place = {"project": "p", "location": "us", "access_token": "t", "api_version": "2026-10-21"}
        llm = create_llm(f"vertex-anthropic/{CLAUDE}", http_client=client, **place)
        assert llm.count_tokens("hi") == 5

    def use_theirs(client: httpx2.Client) -> None:
        llm = AnthropicVertex(region="us", project_id="p", access_token="t", http_client=client)
        llm.messages.count_tokens(model=CLAUDE, messages=ASKED["messages"])

    assert requests_of(use) == requests_of(use_theirs)


def test_open_models_on_vertex_are_called_at_the_published_address():
    # docs.cloud.google.com/vertex-ai/generative-ai/docs/maas/call-open-model-apis
    place = {"project": "p", "location": "us-central1", "access_token": "t"}
    called = requests_of(ours("vertex-openai", {}, model="openai/gpt-oss-120b-maas", **place))
    host = "https://us-central1-aiplatform.googleapis.com"
    for url, body, _, key in called:
        assert url == f"{host}/v1/projects/p/locations/us-central1/endpoints/openapi/chat/completions"
        assert (body["model"], body["max_tokens"], key) == ("openai/gpt-oss-120b-maas", 5, "Bearer t")
    assert len(called) == 2


@pytest.mark.parametrize("provider", ["vertex-anthropic", "vertex-openai"])
def test_partners_on_vertex_need_a_project(provider: str):
    with pytest.raises(ConfigurationError, match=f"'{provider}' needs a project"):
        create_llm(provider, model="m", api_key="k", services=Services(environment={}))


def test_claude_on_bedrock_needs_a_region_and_a_key():
    with pytest.raises(ConfigurationError, match="'bedrock-anthropic' needs an address") as caught:
        create_llm("bedrock-anthropic", model="m", api_key="k", services=Services(environment={}))
    assert "Set AWS_REGION" in (caught.value.hint or "")
    with pytest.raises(AuthenticationError) as refused:
        create_llm("bedrock-anthropic", model="m", services=Services(environment={"AWS_REGION": "us-west-2"}))
    assert "AWS_BEARER_TOKEN_BEDROCK" in (refused.value.hint or "")


@pytest.mark.exhaustive
def test_laws_hold_for_requests_to_vertex():
    dialect = MessagesDialect("vertex-anthropic", version="2026-10-21", raw_predict=True)
    calls = strategies.calls("vertex-anthropic", generated.content(), strategies.text_parts())
    check_laws(AnthropicMessages(dialect), "vertex-anthropic", calls=calls, max_examples=8)
