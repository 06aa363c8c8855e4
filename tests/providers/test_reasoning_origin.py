"""Reasoning of a model called by an alias is sent back to the alias."""

from dataclasses import replace
from typing import Any

import pytest

from abstractcore import LLM, Message, create_llm
from abstractcore.schema import ModelReply, ReasoningPart, TextPart
from abstractcore_providers.formats.registered import FORMATS
from tests.providers.serving import serving

EVENTS = "text/event-stream"
ROUTES: dict[str, tuple[str, str, str, str]] = {
    "anthropic_messages": ("anthropic", "claude-sonnet-5", "claude-sonnet-5-20260301", EVENTS),
    "bedrock_converse": ("bedrock", "anthropic.claude-sonnet-4-5", "other", "application/vnd.amazon.eventstream"),
    "gemini": ("google", "gemini-flash-latest", "gemini-3-flash-002", EVENTS),
    "gemini_interactions": ("google-interactions", "gemini-flash-latest", "gemini-3-flash-002", EVENTS),
    "ollama": ("ollama", "qwen3", "qwen3:8b", "application/x-ndjson"),
    "openai_responses": ("openai-responses", "gpt-5", "gpt-5-2025-08-07", EVENTS),
}
"""For each format: the provider, the name that its model is called by, and the one it answers under."""


def reply(provider: str, model: str) -> ModelReply:
    signature = None if provider == "ollama" else "c2ln"
    encrypted = "ZW5j" if provider == "openai-responses" else None
    thought = ReasoningPart("Let me see.", signature, encrypted, f"{provider}/{model}")
    return ModelReply((thought, TextPart("Yes.")), "stop", model=model, provider=provider)


def ask(call_style: Any, llm: LLM, streamed: bool, messages: list[Message]) -> Any:
    if not streamed:
        return call_style.generate(llm, "?", messages=messages)
    with call_style.stream(llm, "?", messages=messages) as stream:
        list(stream)
        return stream.response


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("format", ROUTES)
def test_reasoning_is_sent_back_to_the_model_by_its_requested_name(format, streamed, call_style, services):
    provider, alias, dated, stream_type = ROUTES[format]
    with serving(FORMATS[format](), stream_type, reply(provider, dated)) as server:
        llm = create_llm(provider, model=alias, base_url=server.url, api_key="k", services=services)
        first = ask(call_style, llm, streamed, [])
        assert [part.origin for part in first.reply.parts if isinstance(part, ReasoningPart)] == [f"{provider}/{alias}"]
        answer = first.reply.message()
        assert answer is not None
        second = ask(call_style, llm, streamed, [Message.user("?"), answer])
        assert not [warning for warning in second.warnings if "reasoning" in warning.code or "parts" in warning.path]
        sent = [part for part in server.calls[-1].messages[1].parts if isinstance(part, ReasoningPart)]
        assert sent == [replace(part, origin=f"{provider}/{alias}") for part in first.reply.parts[:1]]
