"""Names of models that clients send, on a server without vendors' keys: what their errors say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from abstractcore_server import ModelSettings, ServerSettings, Settings
from abstractcore_server.access.admission import Grant
from abstractcore_server.configuration.settings import MCPSettings
from tests.server.accounts import Accounts
from tests.server.serving import Served, serving


@pytest.fixture(scope="module")
def alone() -> Iterator[Served]:
    """A server with one model, which it also serves under the name of a vendor's model."""
    with serving(Settings(models={"gpt-4o-mini": ModelSettings(("scripted",))}), vendors={}) as served:
        yield served


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpt-4.1", "'gpt-4.1' cannot be used: 'openai' is not set up on this server. The server needs its key"),
        ("openai/gpt-4.1", "'openai/gpt-4.1' cannot be used: 'openai' is not set up"),
        ("gpt-4o-mni", r"'gpt-4o-mni' does not exist here. Did you mean gpt-4o-mini\?"),
        ("local/all-minilm-l6-v2", r"does not exist here\. Of the models on this machine, it has 'default' and those"),
        ("nothing-like-it", "'nothing-like-it' does not exist here. GET /v1/models lists the models."),
    ],
)
def test_errors_about_models_say_what_is_missing(alone: Served, name: str, message: str):
    client = openai.OpenAI(base_url=f"{alone.url}/v1", api_key="unused", max_retries=0)
    with client, pytest.raises(openai.NotFoundError, match=message):
        client.chat.completions.create(model=name, messages=[{"role": "user", "content": "hi"}])


def test_the_vendor_is_that_of_the_client(alone: Served):
    client = anthropic.Anthropic(base_url=alone.url, api_key="unused", max_retries=0)
    with client, pytest.raises(anthropic.NotFoundError, match="'anthropic' is not set up on this server"):
        client.messages.create(model="claude-opus-4-1", max_tokens=9, messages=[{"role": "user", "content": "hi"}])


def test_a_model_can_have_the_name_of_a_vendors_model(alone: Served):
    alone.script("hello")
    with openai.OpenAI(base_url=f"{alone.url}/v1", api_key="unused", max_retries=0) as client:
        reply = client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "hi"}])
    assert reply.choices[0].message.content == "hello"


@pytest.mark.parametrize("patterns", [("default",), ("openai/*",)])
def test_keys_guards_and_mcp_servers_can_be_for_default_by_both_of_its_names(patterns: tuple[str, ...]):
    accounts = Accounts()
    accounts.grant = Grant(models=patterns)
    ask: Any = {"messages": [{"role": "user", "content": "hi"}], "n": 99}
    with serving(Settings(ServerSettings(default="openai/gpt-4.1")), access=accounts) as served:
        url = f"{served.url}/v1/chat/completions"
        let_in = httpx2.post(url, json={"model": "default", **ask}, trust_env=False)
        refused = httpx2.post(url, json={"model": "scripted", **ask}, trust_env=False)
        names = served.application.state.llms.find("default").names
    assert "at most 8 answers" in let_in.json()["error"]["message"]  # which is checked later
    assert refused.json()["error"]["message"] == "this key may not use the model 'scripted'"
    assert names == ("default", "openai/gpt-4.1")
    assert MCPSettings(models=patterns).is_for(None, names)
