"""Clients of every API with system messages anywhere, and the role `developer`, before servers that run templates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import httpx2
import pytest

from abstractcore_providers.vendors.openai_compatible import VENDORS
from tests.chaos_server import answer
from tests.providers.strict_fakes.chat_templates import template_errors
from tests.server.conversations.upstreams import UPSTREAMS, Said, Upstream
from tests.server.serving import Served, serving

PRESETS = [preset.name for preset in VENDORS if preset.runs_templates]
OF_FORMAT = {each.format: each for each in UPSTREAMS}
Message = dict[str, Any]


def said(role: str, text: str) -> Message:
    return {"role": role, "content": text}


def cases(role: str) -> Iterator[list[Message]]:
    """Conversations with instructions of a role in every place."""
    rule, later = said(role, "Be brief."), said(role, "It is late.")
    hi, hello, more = said("user", "Hi."), said("assistant", "Hello."), said("user", "More?")
    yield [rule, hi]
    yield [rule, later, hi]
    yield [rule, hi, hello, later, more]
    yield [rule, hi, later, hello, more]
    yield [rule, hi, later]
    yield [hi, hello, later, more]


def requests() -> Iterator[tuple[str, Message]]:
    """Requests of every API that has a place for such messages."""
    for role in ("system", "developer"):
        for messages in cases(role):
            yield "/v1/chat/completions", {"messages": messages}
            yield "/v1/responses", {"input": messages, "store": False}
    for messages in cases("system"):
        rest = [message for index, message in enumerate(messages) if index or message["role"] != "system"]
        yield "/v1/messages", {"system": [{"type": "text", "text": "Be brief."}], "messages": rest, "max_tokens": 9}
        yield "/v2/chat", {"messages": messages}
        yield "/api/chat", {"messages": messages, "stream": False}


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    """A server with all vendors whose servers run templates."""
    with serving(vendors={**dict.fromkeys(PRESETS, "/v1"), "ollama": "", "openai": "/v1"}) as served:
        yield served


def strict(upstream: Upstream) -> Any:
    """Answers as a server does whose template raises an exception."""

    def reply(request: Any) -> list[bytes]:
        problem = next(template_errors(request.json["messages"]), None)
        return [
            answer({"error": {"message": problem}}, 400) if problem else upstream.reply(Said("Sunny."), stream=False)
        ]

    return reply


@pytest.mark.parametrize("provider", [*PRESETS, "ollama"])
def test_templates_accept_the_messages_of_every_client(served: Served, http: httpx2.Client, provider: str):
    served.vendor.always_by(strict(OF_FORMAT["ollama" if provider == "ollama" else "openai_chat"]))
    walked = 0
    for path, body in requests():
        response = http.post(path, json={**body, "model": f"{provider}/qwen3.5"})
        assert response.status_code == 200, (path, body, response.text)
        sent = served.vendor.requests[-1].json["messages"]
        assert sum(message["role"] == "system" for message in sent) <= 1
        texts = [message["content"] for message in body.get("messages") or body["input"]]
        assert all(any(text in message["content"] for message in sent) for text in texts)
        walked += 1
    assert walked == 2 * 6 * 2 + 6 * 3


def test_openai_gets_its_roles_as_they_are(served: Served, http: httpx2.Client):
    served.vendor.always(OF_FORMAT["openai_chat"].reply(Said("Sunny."), stream=False))
    for role, messages in product(("system", "developer"), cases("x")):
        given = [{**message, "role": role if message["role"] == "x" else message["role"]} for message in messages]
        response = http.post("/v1/chat/completions", json={"messages": given, "model": "openai/gpt-5.4"})
        assert response.status_code == 200
        assert served.vendor.requests[-1].json["messages"] == given
