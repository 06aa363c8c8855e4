"""Why a reply ended, from a vendor's word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from abstractcore.schema import FinishReason, Part, ToolCall


def finish_reason_of(raw: str | None, known: Mapping[str, FinishReason], *, calls: bool) -> FinishReason:
    """The reason that `known` has for the word `raw`.

    For a word that the format does not know it is "tool_calls" if the reply `calls` tools. For any other, and for none,
    it is "unknown"; so are words in `known` that leave it open, as that for a call which the model wrote wrongly.
    """
    return known.get(raw or "", "tool_calls" if calls and raw else "unknown")


def calls_tools(parts: Iterable[Part]) -> bool:
    """Whether a reply of these parts asks for results of tools."""
    return any(isinstance(part, ToolCall) for part in parts)
