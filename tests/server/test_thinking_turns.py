"""Conversations with models that think: what clients do not send back of it leads to no request that is refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from abstractcore import Message, ToolCall, create_llm
from abstractcore.engine import lower
from abstractcore.schema import ModelCall, ReasoningPart, ToolSpec
from abstractcore_server import Settings, server_services
from tests.chaos_server import answer
from tests.server.conversations.clients import CLIENTS, Conversation
from tests.server.conversations.thinking import THINKING_UPSTREAMS, THOUGHT, thinks
from tests.server.conversations.upstreams import Call, Said, Upstream
from tests.server.serving import Served, serving

CASES = [
    pytest.param(client, upstream, stream, id=f"{client.name}-{upstream.own_name}-{'stream' if stream else 'whole'}")
    for client, upstream, stream in product(CLIENTS, THINKING_UPSTREAMS, (False, True))
    if not (stream and upstream.format == "bedrock")
]
RETURNED = ("openai_responses", "anthropic_messages", "gemini")
"""Clients that send signed reasoning back."""
VENDORS = dict.fromkeys(("anthropic", "bedrock", "deepseek", "google"), "")
ULM = '{"city": "Ulm"}'


@pytest.fixture(scope="module")
def running() -> Iterator[Served]:
    """A server with the vendors of these models."""
    services = server_services(Settings(), environment={"AWS_REGION": "us-east-1"}, random=lambda: 0.0)
    with serving(services=services, vendors=VENDORS) as served:
        yield served


@pytest.fixture(scope="module")
def packages(running: Served) -> Iterator[dict[type[Conversation], Any]]:
    """The client of each package."""
    with contextlib.ExitStack() as stack:
        yield {client: stack.enter_context(client.opened(running.url)) for client in CLIENTS}


def test_every_client_meets_every_model_that_thinks():
    assert len(CASES) == 6 * (5 * 2 + 2)


def strict(upstream: Upstream, turns: list[Said], *, stream: bool) -> Any:
    """Answers with the turns, unless the vendor refuses the request."""

    def reply(request: Any) -> list[bytes]:
        for problem in upstream.rules(request.json):
            return [answer({"error": {"message": problem, "type": "invalid_request_error"}, "message": problem}, 400)]
        said = turns.pop(0)
        if upstream.format in ("anthropic_messages", "bedrock") and not thinks(request.json):
            said = Said(said.text, calls=said.calls)
        return [upstream.reply(said, stream=stream)]

    return reply


@pytest.mark.parametrize(("client", "upstream", "stream"), CASES)
def test_turns_of_tool_calls_go_on_while_a_model_thinks(
    served: Served,
    packages: dict[type[Conversation], Any],
    client: type[Conversation],
    upstream: Upstream,
    stream: bool,
):
    rounds = [Said(thinking=THOUGHT, calls=(Call("weather", ULM, f"c{number}"),)) for number in range(3)]
    served.vendor.always_by(strict(upstream, [*rounds, Said("Sunny."), Said("Yes.", THOUGHT)], stream=stream))
    conversation = client(packages[client], upstream.model, thinks=True)
    got = conversation.ask("How is it in Ulm?", stream=stream)
    for _ in rounds:
        assert [name for _, name, _ in got.calls] == ["weather"]
        got = conversation.answer(got, stream=stream)
    assert got.text == "Sunny."
    assert conversation.ask("Sure?", stream=stream).text == "Yes."
    bodies = [request.json for request in served.vendor.requests]
    if upstream.format in ("anthropic_messages", "bedrock"):
        assert thinks(bodies[0])
        assert thinks(bodies[-1]), "a new question is thought about again"
        has_levels = upstream.own_name in ("claude-opus-4-6", "claude-opus-5-5")
        assert [thinks(body) for body in bodies[1:4]] == [client.name in RETURNED or has_levels] * 3


@pytest.mark.parametrize(
    ("provider", "model", "sent"),
    [
        ("anthropic", "claude-sonnet-4-5", "off"),
        ("anthropic", "claude-opus-4-6", "low"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "off"),
        ("bedrock", "us.anthropic.claude-3-7-sonnet-20250219-v1:0", "off"),
    ],
)
def test_a_history_without_reasoning_turns_a_budget_off(provider: str, model: str, sent: str):
    llm = create_llm(provider, model=model, api_key="k", **({"region": "us-east-1"} if provider == "bedrock" else {}))
    call, result = ToolCall("c1", "weather", ULM), Message.tool("c1", "20 C")
    signed = ReasoningPart("Hm.", "c2ln", origin=f"{provider}/{model}")
    asked = Message.user("How is it?")

    def thinking(*messages: Message) -> Any:
        given = ModelCall(model, messages, provider, tools=(ToolSpec("weather"),), thinking=2000)
        lowered = lower(given, llm.profile, ())
        codes = [warning.code for warning in lowered.warnings if warning.path == "thinking"]
        assert codes == ([] if lowered.call.thinking == 2000 else ["thinking_changed"])
        return lowered.call.thinking

    assert thinking(asked, Message.assistant(call), result) == sent
    assert thinking(asked, Message.assistant(ReasoningPart("Hm.", origin=signed.origin), call), result) == sent
    assert thinking(asked, Message.assistant(ReasoningPart("Hm.", "c2ln", origin="p/m"), call), result) == sent
    assert thinking(asked, Message.assistant("Let me see.", signed, call), result) == sent
    assert thinking(asked, Message.assistant(signed, call), result) == 2000
    second = Message.assistant(ToolCall("c2", "weather")), Message.tool("c2", "21 C")
    assert thinking(asked, Message.assistant(signed, call), result, *second) == 2000
    assert thinking(asked, Message.assistant(call), result, *second) == sent
    assert thinking(asked, Message.assistant(call), result, Message.assistant("Fine."), asked) == 2000
    assert thinking(asked) == 2000
    if llm.profile.accepts_prefill:
        assert thinking(asked, Message.assistant("It is")) == sent
