"""The format's words and ours, both ways."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import CallWarning, FinishReason, Sampling, ThinkingLevel

from ...common.field_table import FieldTable
from ...common.finish_reasons import FinishReasons
from ...common.format_warnings import FormatWarnings
from ...common.json_reading import Object
from ...common.usage_table import UsageTable

PROVIDER = "ollama"
ARGUMENTS = "arguments"
"""The field for the arguments of a call, which are kept as they were written."""
SAMPLING = FieldTable(
    Sampling,
    {
        "num_predict": "max_output_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "seed": "seed",
        "stop": "stop",
        "presence_penalty": "presence_penalty",
        "frequency_penalty": "frequency_penalty",
    },
    path="options.",
    elsewhere={"top_logprobs": "top_logprobs"},
)
"""The names under `options`."""

USAGE = UsageTable({"input": "prompt_eval_count", "output": "eval_count"})
WARNINGS = FormatWarnings("Ollama's format")
_FINISH_REASONS = FinishReasons({"length": "length", "stop": "stop"}, {})
THINKING: dict[ThinkingLevel, bool | str] = {"off": False, "low": "low", "medium": True, "high": "high"}
"""True is the middle level where a model has levels, and thinking as such where it has not."""

UNTOUCHED = {"truncate": False, "shift": False}
"""What is asked of the server unless the user says otherwise: that it refuses what does not fit, and cuts nothing."""

_THINKING_TO_OURS: dict[Any, ThinkingLevel] = {**{word: level for level, word in THINKING.items()}, "medium": "medium"}
_SHOWN_FIELDS = frozenset({"role", "content", "images"})
MESSAGE_FIELDS: dict[str, frozenset[str]] = {
    "system": _SHOWN_FIELDS,
    "user": _SHOWN_FIELDS,
    "assistant": _SHOWN_FIELDS | {"thinking", "tool_calls"},
    "tool": _SHOWN_FIELDS | {"tool_name", "tool_call_id"},
}
"""What a message of each role says in words that the schema has."""
CALL_FIELDS = frozenset({"id", "type", "function"})
"""The same for a tool call."""
_REQUEST_FIELDS = frozenset({"model", "messages", "tools", "stream", "logprobs", "top_logprobs"})
_REPLY_FIELDS = frozenset({"model", "message", "done", "done_reason", "error", "code", *USAGE.names})


def has_field(name: str, value: Any) -> bool:
    """Whether `name: value` in a request is something a `ModelCall` has a field for."""
    if name == "think":
        return thinking_to_ours(value) is not None
    if name == "format":
        return isinstance(value, dict) or value == ""
    return name in _REQUEST_FIELDS


def has_option(name: str, value: Any) -> bool:
    """As `has_field`, for `options`. A limit below 1 is the server's own: without end, or as long as the context."""
    if name == "num_predict":
        return not isinstance(value, int) or value >= 1
    return name in SAMPLING.names


def thinking_to_ours(think: Any) -> ThinkingLevel | None:
    """Our word; None for one we do not know."""
    return _THINKING_TO_OURS.get(think) if isinstance(think, bool | str) else None


def finish_reason_to_ours(raw: str | None, *, calls: bool) -> FinishReason:
    """Our word. The format has none for tool calls: a reply that stops with some asks for them."""
    if raw in ("stop", None) and calls:
        return "tool_calls"
    return _FINISH_REASONS.read(raw, calls=calls)


def finish_reason_to_theirs(reason: FinishReason, *, calls: bool) -> str | None:
    """The format's word; None for an end that nobody knows the reason of."""
    if reason == "unknown" and not calls:
        return None
    return "length" if reason == "length" else "stop"


def metadata_to_ours(data: Object) -> Object:
    """What a reply says that the schema has no field for: durations, the time, log probabilities."""
    return {name: value for name, value in data.items() if name not in _REPLY_FIELDS and value is not None}


def metadata_to_theirs(metadata: Object, warnings: list[CallWarning]) -> Object:
    """What can stand beside the reply's own fields."""
    warnings += map(WARNINGS.metadata_field, _REPLY_FIELDS & metadata.keys())
    return metadata_to_ours(metadata)
