"""Upstreams whose models think, with the rules for what a request must send back of that."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.server.conversations.upstreams import UPSTREAMS, Body, Said, Upstream

SIGNATURE = "c2lnbmVk"
THOUGHT = "Hm."
"""What every model here thinks, and signs."""
_OF_FORMAT = {each.format: each for each in UPSTREAMS}
_ANTHROPIC, _CHAT, _GEMINI = (_OF_FORMAT[name] for name in ("anthropic_messages", "openai_chat", "gemini"))


def _expected_thinking(messages: Sequence[Body], kind: Callable[[Body], str], thinks: bool) -> Iterator[str]:
    """platform.claude.com, "Extended thinking", "Extended thinking with tool use": the last turn begins with thinking
    if it goes on after tool results. The message is that of the API.
    """
    if not thinks or "tool_result" not in [kind(block) for block in _blocks(messages[-1])]:
        return
    first: Body = {}
    for message in reversed(messages):
        kinds = [kind(block) for block in _blocks(message)]
        if message["role"] == "assistant":
            first = message
        elif "tool_result" not in kinds:
            break
    found = kind(_blocks(first)[0])
    if found not in ("thinking", "redacted_thinking"):
        yield f"Expected `thinking` or `redacted_thinking`, but found `{found}`."


def _blocks(message: Body) -> list[Body]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _anthropic_rules(body: Body) -> Iterator[str]:
    yield from _ANTHROPIC.rules(body)
    for block in (block for message in body["messages"] for block in _blocks(message)):
        if block["type"] == "thinking" and (block["thinking"], block["signature"]) != (THOUGHT, SIGNATURE):
            yield "Invalid `signature` in `thinking` block"
    thinks = body.get("thinking", {}).get("type") == "enabled"
    yield from _expected_thinking(body["messages"], lambda block: block["type"], thinks)


_BEDROCK_KINDS = {"reasoningContent": "thinking", "toolUse": "tool_use", "toolResult": "tool_result"}


def _bedrock_rules(body: Body) -> Iterator[str]:
    thinking = body.get("additionalModelRequestFields", {}).get("thinking", {})

    def kind(block: Body) -> str:
        return _BEDROCK_KINDS.get(next(iter(block)), "text")

    yield from _expected_thinking(body["messages"], kind, thinking.get("type") == "enabled")


def _bedrock(said: Said) -> Body:
    content: list[Body] = []
    if said.thinking:
        content.append({"reasoningContent": {"reasoningText": {"text": said.thinking, "signature": SIGNATURE}}})
    if said.text:
        content.append({"text": said.text})
    for call in said.calls:
        used = {"toolUseId": f"tooluse_{call.id}", "name": call.name, "input": json.loads(call.arguments)}
        content.append({"toolUse": used})
    usage = {"inputTokens": 12, "outputTokens": 8, "totalTokens": 20}
    reason = "tool_use" if said.calls else "end_turn"
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": reason, "usage": usage, "metrics": {"latencyMs": 1}}


def _deepseek_rules(body: Body) -> Iterator[str]:
    """api-docs.deepseek.com/guides/thinking_mode, "Tool Calls"."""
    yield from _CHAT.rules(body)
    for index, message in enumerate(body["messages"]):
        if message.get("tool_calls") and "reasoning_content" not in message:
            yield f"Missing `reasoning_content` field in the assistant message at message index {index}."


def _signed_gemini(said: Said) -> Body:
    whole = _GEMINI.whole(said)
    for part in whole["candidates"][0]["content"]["parts"]:
        if "functionCall" in part:
            part["thoughtSignature"] = SIGNATURE
            break
    return whole


def _gemini_rules(body: Body) -> Iterator[str]:
    """ai.google.dev/gemini-api/docs/thought-signatures: the first call of each step has its signature."""
    yield from _GEMINI.rules(body)
    for content in body["contents"]:
        calls = [part for part in content["parts"] if "functionCall" in part]
        if calls and "thoughtSignature" not in calls[0]:
            yield f"Function call `{calls[0]['functionCall']['name']}` is missing a thought_signature."


def _no_stream(said: Said) -> list[bytes]:
    raise NotImplementedError("a stream of this format is binary")


def _gemini_events(said: Said) -> list[bytes]:
    return [f"data: {json.dumps(_signed_gemini(said))}\n\n".encode()]


def _claude(model: str) -> Upstream:
    return Upstream(model, "anthropic_messages", _ANTHROPIC.whole, _ANTHROPIC.events, _anthropic_rules)


THINKING_UPSTREAMS = (
    _claude("anthropic/claude-sonnet-4-5"),
    _claude("anthropic/claude-opus-4-6"),
    _claude("anthropic/claude-opus-5-5"),
    Upstream("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock", _bedrock, _no_stream, _bedrock_rules),
    Upstream("bedrock/us.anthropic.claude-3-7-sonnet-20250219-v1:0", "bedrock", _bedrock, _no_stream, _bedrock_rules),
    Upstream("deepseek/deepseek-v4-pro", "openai_chat", _CHAT.whole, _CHAT.events, _deepseek_rules),
    Upstream("google/gemini-3-flash-preview", "gemini", _signed_gemini, _gemini_events, _gemini_rules),
)
"""Models with a rule for what is sent back of thinking: Claude with budgets, with levels and with both."""


def thinks(body: Any) -> bool:
    """Whether a request to Claude has thinking enabled."""
    fields = body.get("additionalModelRequestFields", body)
    return fields.get("thinking", {}).get("type") in ("enabled", "adaptive")
