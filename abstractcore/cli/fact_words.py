"""The facts of `models info` in words: what their values mean, and what follows from them for a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

_LEFT_OUT = "left out of requests, with a warning"
_WORDS: Mapping[str, Mapping[object, str]] = {
    "tools": {
        "without_thinking": "only without thinking",
        "thinking_unset": "only if thinking is off or not set",
        "never": "no tools of its own: tools are sent in the prompt, with a warning",
    },
    "forced_tools": {
        "without_thinking": "only without thinking",
        "without_budget": "only without a thinking budget",
        "never": "never: a tool choice that forces a call becomes auto, with a warning",
    },
    "structured_output": {
        "schema": "by JSON Schema",
        "json": "JSON, but no schema",
        "none": "none: a schema becomes a tool or an instruction",
    },
    "cache_points": {0: "none: the provider caches without them"},
    "accepts_prefill": {False: "no: the last message must not be the assistant's"},
    "media_after_results": {True: "yes: files of tool results are sent after them, in a user message"},
    "output_with_tools": {False: "no: beside tools, a schema becomes a tool, or has a call of its own"},
    "parallel_tools": {False: "no: one tool call at a time"},
    "cache_tools": {False: "no: not behind tools"},
    "tool_search": {
        True: "yes: the provider searches deferred tools",
        False: "no: deferred tools are searched in this program",
    },
}
"""Values that do not explain themselves."""
_REMARKS: Mapping[str, str] = {
    "assumed": "sent as they are, with a warning: it is not known whether the model accepts them",
    "encodable": "sent as they are if they cannot be converted to text, with a warning",
    "media_limits": "at most, in a request",
    "stored_bytes": "bytes of a file, at most; larger files than a request may have are uploaded",
    "transcription": "of recordings, at an endpoint for that: transcription_model=... in create_llm",
    "media_tokens": "about, of each file, by the vendor's rule",
    "sampling": "sent unless a call sets them",
    "cache_points": "at most, in a request",
    "cache_minimum": "tokens; a shorter beginning of a prompt is not cached",
    "tools_provider": "the provider where it has tools together with thinking",
    "refused": _LEFT_OUT,
    "refused_with_thinking": f"{_LEFT_OUT}, while it thinks",
    "refused_with_level": f"{_LEFT_OUT}, at that level of thinking",
    "refused_together": "the second one of a pair is left out, with a warning",
    "no_effect": "accepted and ignored",
    "ranges": "a value outside becomes the nearest one, with a warning",
    "ranges_with_thinking": "while it thinks; a value outside becomes the nearest one, with a warning",
    "retires": "calls have a warning from that day on",
    "routed": "calls are answered by that model, by its rules and at its price, from that day on",
    "replaced_by": "to use instead",
    "settings": "how requests are written",
}
"""What follows from a fact that has a value."""


def in_words(name: str, value: Any) -> str:
    """Returns a fact on one line."""
    words = None if isinstance(value, list | Mapping) else _WORDS.get(name, {}).get(value)
    if words is not None:
        return words
    if name == "thinking" and isinstance(value, Mapping):
        return "; ".join(_thinking(cast("Mapping[str, Any]", value)))
    remark = _REMARKS.get(name) if value not in (None, [], {}) else None
    return f"{_text(value)} ({remark})" if remark else _text(value)


def _thinking(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yields how the thinking of a model is set, and whether it is on."""
    levels, budget = facts.get("levels"), facts.get("budget")
    if not levels and not budget and not facts.get("on_by_default"):
        yield "no"
        return
    if levels:
        yield f"levels {_text(levels)}"
    if budget:
        within = ", within max_output_tokens" if facts.get("budget_within_output") else ""
        yield f"budget of {budget[0]:,} to {budget[1]:,} tokens{within}"
    yield "can be off" if facts.get("can_be_off", True) else "cannot be off"
    yield "on by default" if facts.get("on_by_default") else "off by default"
    if facts.get("words"):
        yield f"sent as {_text(facts['words'])}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(item)}" for key, item in cast("Mapping[str, Any]", value).items())
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in cast("list[Any]", value)) or "none"
    return "unknown" if value is None else str(value)
