"""Values and field names of the format and their counterparts in the schema.

Token counts and billing data of a reply.
"""

from __future__ import annotations

from typing import Any

from abstractcore.schema import CallWarning, JSONObject, Role, Sampling, ThinkingLevel, Usage

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, as_object, count_of, object_of
from ...common.response_bodies import BillingTable, FinishReasons, UsageTable, merge

USAGE = UsageTable({"input": "tokens.input_tokens", "output": "tokens.output_tokens", "cached": "cached_tokens"})
"""For writing: Cohere sends counts as floats, which `usage_to_ours` reads."""
BILLING = BillingTable(
    counts={
        "billed_input": "usage.billed_units.input_tokens",
        "billed_output": "usage.billed_units.output_tokens",
        "search_unit": "usage.billed_units.search_units",
    },
    others=(f"usage.{name}" for name in USAGE.names),
)
"""https://docs.cohere.com/reference/chat: `usage.billed_units` are what is billed, instead of `usage.tokens`."""


def usage_to_ours(data: Object) -> Usage:
    """Returns the usage of a reply with these fields; None for what is not reported. Counts are floats here."""
    usage = object_of(data, "usage")
    tokens = object_of(usage, "tokens")
    return Usage(
        input=whole(tokens, "input_tokens"),
        output=whole(tokens, "output_tokens"),
        cached=whole(usage, "cached_tokens"),
        billing=BILLING.read(data),
    )


def whole(data: Object, key: str) -> int | None:
    """Returns the count at `key`, an integer or a float without a fraction."""
    count = data.get(key)
    return int(count) if isinstance(count, float) and count.is_integer() else count_of(data, key)


def usage_to_theirs(usage: Usage) -> Object:
    """Returns the fields of a reply with token counts and billing data; empty if nothing was reported."""
    counts = USAGE.write(usage)
    return merge({"usage": counts} if counts else {}, BILLING.write(usage.billing))


PROVIDER = "cohere"
SAMPLING = FieldTable(
    Sampling,
    {
        "max_tokens": "max_output_tokens",
        "temperature": "temperature",
        "p": "top_p",
        "k": "top_k",
        "seed": "seed",
        "stop_sequences": "stop",
        "presence_penalty": "presence_penalty",
        "frequency_penalty": "frequency_penalty",
    },
    elsewhere={"top_logprobs": "logprobs"},
)

FINISH_REASONS = FinishReasons(
    {"COMPLETE": "stop", "STOP_SEQUENCE": "stop", "MAX_TOKENS": "length", "TOOL_CALL": "tool_calls"},
    {
        **dict.fromkeys(("stop", "content_filter", "refusal", "paused", "error"), "COMPLETE"),
        "length": "MAX_TOKENS",
        "tool_calls": "TOOL_CALL",
    },
)
"""The format has no value for an unknown finish reason."""
WARNINGS = FormatWarnings("Cohere's chat format")
_REQUEST_FIELDS = frozenset(
    {"model", "messages", "tools", "strict_tools", "tool_choice", "stream", "logprobs", *SAMPLING.names}
)
_FIELDS = frozenset({"role", "content"})
MESSAGE_FIELDS: dict[Role, frozenset[str]] = {
    "system": _FIELDS,
    "user": _FIELDS,
    "assistant": _FIELDS | {"tool_plan", "tool_calls", "citations"},
    "tool": _FIELDS | {"tool_call_id"},
}
"""By role, the fields of a message that the schema models."""

TEXT_FIELDS = ("type", "text")
CALL_FIELDS = ("id", "type", "function")
_REPLY_FIELDS = frozenset({"id", "type", "index", "delta", "model", "message", "finish_reason", "error", "code"})


def has_field(name: str, value: Any) -> bool:
    """Whether a `ModelCall` has a field for `name: value` in a request."""
    if name == "thinking":
        return thinking_to_ours(value) is not None
    if name == "response_format":
        return isinstance(as_object(value).get("json_schema"), dict)
    return name in _REQUEST_FIELDS


def thinking_to_ours(thinking: Any) -> ThinkingLevel | int | None:
    """Returns the level or the budget; None for neither. Thinking without a budget is the middle level."""
    data = as_object(thinking)
    budget = data.get("token_budget")
    if data.get("type") == "disabled":
        return "off"
    if data.get("type") != "enabled":
        return None
    if budget is None:
        return "medium"
    return budget if type(budget) is int and budget > 0 else None


def metadata_to_ours(data: Object) -> Object:
    """Returns the fields of a reply that the schema does not model, such as log probabilities."""
    return BILLING.rest({name: value for name, value in data.items() if name not in _REPLY_FIELDS})


def metadata_to_theirs(metadata: JSONObject, warnings: list[CallWarning]) -> Object:
    """Returns the extra fields of a reply."""
    written: Object = {}
    for name, value in metadata.items():
        if name in _REPLY_FIELDS or not BILLING.is_rest(name, value):
            warnings.append(WARNINGS.metadata_field(name))
        else:
            written[name] = value
    return written
