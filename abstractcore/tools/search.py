"""Tool search: the model finds deferred tools by words of their names and descriptions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..schema import ToolSpec

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
"""The tool that a loop adds where tools are deferred, and the provider has no tool search."""


def found_tools(query: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Returns up to five of `tools`, those with the most words of `query` in their name and description first.

    A word counts for the beginning of another, as "mail" for "mails"; words of the name count twice.
    """
    words = {word.lower() for word in _WORD.findall(query)}
    scores = [(_score(words, tool), -index) for index, tool in enumerate(tools)]
    best = sorted((score for score in scores if score[0] > 0), reverse=True)[:_MOST_FOUND]
    return [tools[-index] for _, index in best]


def _score(words: set[str], tool: ToolSpec) -> int:
    return 2 * _matches(words, tool.name) + _matches(words, tool.description)


def _matches(words: set[str], text: str) -> int:
    held = {word.lower() for word in _WORD.findall(text)}
    return sum(1 for word in words if any(each.startswith(word) or word.startswith(each) for each in held))
