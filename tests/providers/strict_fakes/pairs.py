"""What vendors refuse of a conversation: calls and results that do not match, turns that do not alternate.

Anthropic: "tool_use ids were found without tool_result blocks immediately after", and its counterpart. OpenAI: "An
assistant message with 'tool_calls' must be followed by tool messages", "No tool output found for function call", "Item
of type 'reasoning' was provided without its required following item". Gemini: "the number of function response parts is
equal to the number of function call parts of the function call turn". Converse: "A conversation must start with a user
message", "roles must alternate", "Expected toolResult blocks for the following Ids".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any


def openai_chat(body: Any) -> Iterator[str]:
    """Chat Completions."""
    waiting: set[str] = set()
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
            waiting.discard(message["tool_call_id"])
            continue
        if waiting:
            yield f"An assistant message with 'tool_calls' must be followed by tool messages: {waiting}"
        waiting = {call["id"] for call in message.get("tool_calls") or ()}
    if waiting:
        yield f"tool_call_ids did not have response messages: {waiting}"


def openai_responses(body: Any) -> Iterator[str]:
    """The Responses API."""
    items = [item if "type" in item else {"type": "message", **item} for item in body["input"]]
    calls = [item["call_id"] for item in items if item["type"] == "function_call"]
    outputs = [item["call_id"] for item in items if item["type"] == "function_call_output"]
    yield from (f"No tool output found for function call {id}." for id in calls if id not in outputs)
    yield from (f"No tool call found for function call output {id}." for id in outputs if id not in calls)
    for item, following in zip(items, [*items[1:], {"type": "end"}], strict=True):
        is_next = following["type"] not in ("end", "function_call_output") and following.get("role") != "user"
        if item["type"] == "reasoning" and not is_next:
            yield "Item of type 'reasoning' was provided without its required following item."


def anthropic_messages(body: Any) -> Iterator[str]:
    """The Messages API."""
    messages = [_blocks_of(message) for message in body["messages"]]
    if messages and messages[0][0] != "user":
        yield 'messages: first message must use the "user" role'
    yield from _pairs_in_next_turn(messages, "tool_use", "tool_result", "id", "tool_use_id")
    ids = [block["id"] for _, blocks in messages for block in blocks if block.get("type") == "tool_use"]
    if len(set(ids)) < len(ids):
        yield "messages: `tool_use` ids must be unique"
    for role, blocks in messages:
        if role == "assistant" and blocks and blocks[-1].get("type") in ("thinking", "redacted_thinking"):
            yield "messages: the final block in an assistant message cannot be `thinking`"


def bedrock_converse(body: Any) -> Iterator[str]:
    """Converse."""
    roles = [message["role"] for message in body["messages"]]
    if roles[:1] != ["user"]:
        yield "A conversation must start with a user message."
    if any(one == other for one, other in pairwise(roles)):
        yield "roles must alternate between user and assistant"
    turns = [
        (message["role"], [{**inner, "type": name} for block in message["content"] for name, inner in _named(block)])
        for message in body["messages"]
    ]
    yield from _pairs_in_next_turn(turns, "toolUse", "toolResult", "toolUseId", "toolUseId")


def gemini(body: Any) -> Iterator[str]:
    """generateContent."""
    turns: list[tuple[str, list[Any]]] = [(content["role"], content["parts"]) for content in body["contents"]]
    if turns and turns[0][0] != "user":
        yield "function call turn comes immediately after a user turn or after a function response turn"
    for (_, parts), following in zip(turns, [*turns[1:], ("end", list[Any]())], strict=True):
        calls = sum("functionCall" in part for part in parts)
        results = sum("functionResponse" in part for part in following[1])
        if calls != results:
            yield f"the number of function response parts is {results}, that of function call parts {calls}"


def _blocks_of(message: Any) -> tuple[str, list[Any]]:
    content = message["content"]
    return message["role"], [{"type": "text"}] if isinstance(content, str) else content


def _named(block: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, inner if isinstance(inner, dict) else {}) for name, inner in block.items()]


def _pairs_in_next_turn(
    turns: list[tuple[str, list[Any]]], call: str, result: str, id: str, of_result: str
) -> Iterator[str]:
    """Yields what does not match: each turn with calls is followed by one with exactly their results. Results of tools
    that the vendor ran are in the turn of their calls.
    """
    before: list[str] = []
    for role, blocks in [*turns, ("end", [])]:
        found = [block[of_result] for block in blocks if block.get("type") == result]
        own = [block[id] for block in blocks if block.get("type") == call]
        if role == "assistant":
            yield from (f"{result} {each} has no {call} in its turn" for each in found if each not in own)
            if before:
                yield f"{call} ids {before} were found without {result} blocks immediately after"
            before = [each for each in own if each not in found]
            continue
        if sorted(found) != sorted(before):
            yield f"{call} ids {before} were found without {result} blocks immediately after: {found}"
        before = own


CHECKS: Mapping[str, Callable[[Any], Iterator[str]]] = {
    "openai": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic_messages,
    "google": gemini,
    "bedrock": bedrock_converse,
}
"""The check of each wire format."""
