"""Tool search in this program: the model finds deferred tools by words of their names and descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..schema import HostedToolCall, Message, OpaquePart, ToolSpec

_WORD = re.compile(r"[^\W_]+")
_MOST_FOUND = 5
SEARCH_TOOLS = ToolSpec(
    "search_tools",
    "Finds further tools by what they do. Tools that it returns can be called from then on.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words that describe what the tool should do, or its name."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    read_only=True,
    idempotent=True,
)
"""The tool that a loop offers where tools are deferred. Lowering removes it where the provider searches them."""
_HOSTED_SEARCH = "tool_search"
"""The beginning of the names that providers give their tool search in replies."""


def found_tools(query: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Returns up to five of `tools`, those with the most words of `query` in their name and description first.

    A word counts for the beginning of another, as "mail" for "mails"; words of the name count twice.
    """
    words = {word.lower() for word in _WORD.findall(query)}
    scores = [(_score(words, tool), -index) for index, tool in enumerate(tools)]
    best = sorted((score for score in scores if score[0] > 0), reverse=True)[:_MOST_FOUND]
    return [tools[-index] for _, index in best]


def given_tools(
    tools: Sequence[ToolSpec], messages: Iterable[Message], chosen: str | None = None
) -> tuple[ToolSpec, ...]:
    """Returns the tools that the model is given while this program searches: without the deferred ones, but for those
    that `messages` call and the one that the model must call, `chosen`. These come last, and are not deferred any more.
    """
    deferred = {tool.name: tool for tool in tools if tool.defer}
    called = [call.name for message in messages for call in message.tool_calls]
    wanted = called if chosen is None else [*called, chosen]
    known = (replace(deferred[name], defer=False) for name in dict.fromkeys(wanted) if name in deferred)
    return (*(tool for tool in tools if not tool.defer), *known)


def has_hosted_search(messages: Iterable[Message]) -> bool:
    """Returns whether a provider has searched tools in `messages`."""
    return any(
        (isinstance(part, HostedToolCall) and part.name.startswith(_HOSTED_SEARCH))
        or (isinstance(part, OpaquePart) and part.kind.startswith(_HOSTED_SEARCH))
        for message in messages
        if message.role == "assistant"
        for part in message.parts
    )


def _score(words: set[str], tool: ToolSpec) -> int:
    return 2 * _matches(words, tool.name) + _matches(words, tool.description)


def _matches(words: set[str], text: str) -> int:
    held = {word.lower() for word in _WORD.findall(text)}
    return sum(1 for word in words if any(each.startswith(word) or word.startswith(each) for each in held))
