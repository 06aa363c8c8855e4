"""Thinking options of Claude at Anthropic and Amazon: a token budget or an effort level."""

from __future__ import annotations

from typing import Any, TypeAlias

from abstractcore.schema import ThinkingLevel

from .json_reading import Object, as_object, count_of

Thinking: TypeAlias = "ThinkingLevel | int | None"
EFFORTS: tuple[ThinkingLevel, ...] = ("low", "medium", "high", "xhigh", "max")
"""The levels of `effort` (anthropic's `OutputConfigParam`; botocore's `OutputConfig` of Converse)."""


def write_claude_thinking(thinking: ThinkingLevel | int, off: str) -> tuple[Object, ThinkingLevel | None]:
    """Returns the `thinking` object and the `effort` of a request; `off` is the type that disables thinking."""
    if thinking == "off":
        return {"type": off}, None
    if isinstance(thinking, int):
        return {"type": "enabled", "budget_tokens": thinking}, None
    return {"type": "adaptive"}, thinking


def read_claude_thinking(thinking: Any, effort: Any, off: str) -> Thinking:
    """Returns the thinking option of a request; None if there is none, or one that a call cannot express."""
    asked = as_object(thinking)
    budget = count_of(asked, "budget_tokens")
    if asked == {"type": off}:
        return "off"
    if budget is not None and asked == {"type": "enabled", "budget_tokens": budget}:
        return budget
    return effort if effort in EFFORTS and asked == {"type": "adaptive"} else None
