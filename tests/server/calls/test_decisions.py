"""`/v1/decisions`, with the openai and anthropic packages as the clients: what calls would do, without making them."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from abstractcore_server import Grant, ModelSettings, Settings
from abstractcore_server.configuration.settings import MCPSettings
from tests.documents import ROOT
from tests.server.accounts import Accounts
from tests.server.serving import Served, serving

RECEIPT = base64.b64encode((ROOT / "examples/media/receipt.jpg").read_bytes()).decode()
INVOICE = ROOT / "examples/media/invoice.pdf"
IMAGE: dict[str, Any] = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{RECEIPT}"}}
GROUP = Settings(
    models={"readers": ModelSettings(("cohere/command-a-03-2025", "openai/gpt-4.1"))},
    mcp={"shop": MCPSettings(command="/no/such/program")},
)


@pytest.fixture(scope="module")
def accounts() -> Accounts:
    return Accounts()


@pytest.fixture(scope="module")
def running(accounts: Accounts) -> Iterator[Served]:
    with serving(GROUP, access=accounts) as served:
        yield served


@pytest.fixture
def client(served: Served, accounts: Accounts) -> Iterator[openai.OpenAI]:
    accounts.clear()
    with openai.OpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def decided(client: openai.OpenAI, **body: Any) -> dict[str, Any]:
    """Posts a body of any API."""
    return client.post("/decisions", body=body, cast_to=dict[str, Any])


def asked(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    """A message of a chat with parts."""
    return [{"role": "user", "content": [*parts, {"type": "text", "text": "What is the total?"}]}]


def facts(decision: dict[str, Any]) -> dict[str, Any]:
    return {name: decision[name] for name in ("part_path", "route", "fallback", "policy", "policy_source", "type")}


def test_decisions_are_those_of_the_call(served: Served, client: openai.OpenAI):
    body = {"model": "scripted", "messages": asked(IMAGE), "abstractcore": {"media_policy": {"image": "ocr"}}}
    planned = decided(client, **body)
    assert not served.calls
    served.script("EUR 12")
    called = client.post("/chat/completions", body=body, cast_to=dict[str, Any])
    (mine,), (theirs,) = planned["media"], called["abstractcore"]["media"]
    assert facts(mine) == facts(theirs)
    assert (mine["route"], mine["fallback"]) == ("fallback", "ocr")
    assert ("sent" in mine, "sent" in theirs) == (False, True)
    assert planned["model"] == called["abstractcore"]["model"]


def test_nothing_is_sent_or_charged_and_a_request_is_counted(served: Served, client: openai.OpenAI, accounts: Accounts):
    found = decided(client, model="openai/gpt-4.1", messages=asked(IMAGE), top_k=3)
    assert (found["object"], found["model"], found["fallbacks"]) == ("decisions", "openai/gpt-4.1", [])
    assert [each["route"] for each in found["media"]] == ["native"]
    assert found["estimated_input_tokens"] > found["media"][0]["tokens"] > 0
    assert 0 < float(found["estimated_cost"]["low"]) < float(found["estimated_cost"]["high"])
    assert not served.vendor.requests
    (settled,) = accounts.settled
    assert (len(accounts.begun), settled.usage.input, settled.cost, settled.estimated) == (1, 0, 0, False)


def test_body_of_messages_is_known_by_the_header_of_its_clients(served: Served):
    source = {"type": "base64", "media_type": "image/jpeg", "data": RECEIPT}
    body = {
        "model": "claude-opus-4-5",
        "max_tokens": 100,
        "metadata": {"user_id": "someone"},
        "messages": asked({"type": "image", "source": source}),
    }
    with anthropic.Anthropic(base_url=served.url, api_key="none", max_retries=0) as client:
        own = client.post("/v1/decisions", body=body, cast_to=dict[str, Any])
        other = client.post("/v1/decisions", body={**body, "model": "cohere/command-a-03-2025"}, cast_to=dict[str, Any])
    assert (own["model"], own["media"][0]["route"], own["warnings"]) == ("anthropic/claude-opus-4-5", "native", [])
    assert other["media"][0]["route"] == "fallback"
    assert ("field_left_out", "metadata") in {(each["code"], each["path"]) for each in other["warnings"]}


@pytest.mark.process
def test_files_of_earlier_responses_are_among_the_decisions(served: Served, client: openai.OpenAI):
    uploaded = client.files.create(file=INVOICE, purpose="user_data")
    content: Any = [{"type": "input_file", "file_id": uploaded.id}, {"type": "input_text", "text": "What is it?"}]
    served.script("An invoice.")
    first = client.responses.create(model="scripted", input=[{"role": "user", "content": content}])
    found = decided(client, model="scripted", input="The total?", previous_response_id=first.id)
    (decision,) = found["media"]
    assert (decision["source"], decision["type"], decision["route"]) == ("invoice.pdf", "application/pdf", "fallback")
    assert not decided(client, model="scripted", input="hi", background=True)["media"]
    with pytest.raises(openai.BadRequestError, match="there is no response"):
        decided(client, model="scripted", input="hi", previous_response_id="resp_1")


def test_uploaded_file_stands_for_its_content(served: Served, client: openai.OpenAI):
    uploaded = client.files.create(file=INVOICE, purpose="user_data")
    file = {"type": "file", "file": {"file_id": uploaded.id}}
    found = decided(client, model="openai/gpt-4.1", messages=asked(file), abstractcore={"file_store": "always"})
    (decision,) = found["media"]
    assert (decision["source"], decision["route"], decision["stored"]) == ("invoice.pdf", "native", "planned")
    assert not served.vendor.requests


def test_models_of_a_group_are_named_in_their_order(client: openai.OpenAI):
    found = decided(client, model="readers", messages=asked(IMAGE))
    assert (found["model"], found["fallbacks"]) == ("cohere/command-a-03-2025", ["openai/gpt-4.1"])


def test_missing_package_is_a_warning(client: openai.OpenAI, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    pdf = base64.b64encode(INVOICE.read_bytes()).decode()
    file = {"filename": "invoice.pdf", "file_data": f"data:application/pdf;base64,{pdf}"}
    found = decided(client, model="scripted", messages=asked({"type": "file", "file": file}))
    (warning,) = found["warnings"]
    assert (warning["code"], warning["path"]) == ("missing_package", "messages[0].parts[0]")
    assert "pip install pypdfium2" in warning["message"]


def test_mcp_servers_of_the_server_are_checked_and_not_asked(client: openai.OpenAI):
    shop: dict[str, Any] = {"type": "mcp", "server_label": "shop"}
    weather: dict[str, Any] = {
        "type": "function",
        "name": "weather",
        "parameters": {"type": "object", "properties": {}},
    }
    body: dict[str, Any] = {"model": "scripted", "input": "hi", "max_tool_calls": 2, "tool_choice": "required"}
    for tools in ([shop], [shop, weather]):
        assert decided(client, **body, tools=tools)["warnings"] == []
    with pytest.raises(openai.PermissionDeniedError, match="there is no MCP server 'shpo'"):
        decided(client, **body, tools=[{**shop, "server_label": "shpo"}])
    with pytest.raises(openai.BadRequestError, match="of its own configuration only"):
        decided(client, **body, tools=[{**shop, "server_url": "https://example.com"}])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "expected `messages`"),
        ({"messages": [], "input": "hi"}, "expected `messages`"),
        ({"messages": asked()}, "model"),
        ({"messages": asked(), "model": "gpt-4.1", "abstractcore": {"media_polcy": "native"}}, "media_policy"),
        ({"messages": [{"role": "user", "content": 7}], "model": "gpt-4.1"}, r"messages\[0\]"),
        ({"messages": asked(), "model": "openai/gpt-4.1", "n": 1000}, "at most"),
    ],
)
def test_invalid_request_is_named(client: openai.OpenAI, body: dict[str, Any], message: str):
    with pytest.raises(openai.BadRequestError, match=message):
        decided(client, **body)


def test_call_that_would_be_refused_is_refused(served: Served, client: openai.OpenAI, accounts: Accounts):
    url = {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}}
    with pytest.raises(openai.BadRequestError, match="downloads no files"):
        decided(client, model="ollama/llama3.2-vision", messages=asked(url))
    with pytest.raises(openai.BadRequestError, match="image"):
        decided(
            client,
            model="cohere/command-a-03-2025",
            messages=asked(IMAGE),
            abstractcore={"media_policy": {"image": "native"}},
        )
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        decided(client, model="nobody/model", messages=asked())
    accounts.grant = Grant(models=("openai/*",))
    with pytest.raises(openai.PermissionDeniedError, match="may not use"):
        decided(client, model="scripted", messages=asked())
    assert not served.vendor.requests


@pytest.mark.process
def test_body_that_is_no_object_is_refused(http: httpx2.Client):
    assert http.post("/v1/decisions", content=b"[1]").status_code == 400
    assert http.post("/v1/decisions", content=b"{", headers={"content-type": "text/plain"}).status_code == 415
    assert http.get("/v1/decisions").status_code == 405
