"""Values and field names of the format and their counterparts in the schema.

Token counts and billing data of a reply.

The counts of a reply do not include those of compaction, by the model of the request, and of advisors, other models
(`BetaUsage.iterations` in anthropic 2.12; https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool).
They are separate usage. All iterations stay in the metadata too, and are rendered from there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from abstractcore.schema import (
    Billing,
    CachePoint,
    CallWarning,
    FinishReason,
    JSONObject,
    Sampling,
    SchemaError,
    SeparateUsage,
    Usage,
)

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, as_object, object_of, objects_of, text_of
from ...common.response_bodies import BillingTable, FinishReasons, UsageTable, merge
from ...common.thinking import CACHE_TIMES

USAGE = UsageTable(
    {
        "input": "input_tokens",
        "output": "output_tokens",
        "cached": "cache_read_input_tokens",
        "cache_written": "cache_creation_input_tokens",
        "reasoning": "output_tokens_details.thinking_tokens",
    },
    cache_apart=True,
)
BILLING = BillingTable(
    tier="usage.service_tier",
    region="usage.inference_geo",
    counts={
        "cache_write_5m": "usage.cache_creation.ephemeral_5m_input_tokens",
        "cache_write_1h": "usage.cache_creation.ephemeral_1h_input_tokens",
        "web_search": "usage.server_tool_use.web_search_requests",
        "web_fetch": "usage.server_tool_use.web_fetch_requests",
    },
    others=(*(f"usage.{name}" for name in USAGE.names), "usage.speed"),
)
"""https://platform.claude.com/docs/en/api/messages: `usage`. In fast mode, `speed` is the tier."""
_FAST = "fast"
_SEPARATE = ("compaction", "advisor_message")


def usage_to_ours(data: Object) -> Usage:
    """Returns the usage of a reply with this usage object; None for what is not reported."""
    return USAGE.read(data, billing_to_ours(data))


def billing_to_ours(data: Object) -> Billing | None:
    """Returns the billing data in a usage object."""
    billing = BILLING.read({"usage": data})
    if data.get("speed") == _FAST:
        billing = replace(billing or Billing(), tier=_FAST)
    separate = [_separate(each) for each in objects_of(data, "iterations") if each.get("type") in _SEPARATE]
    return replace(billing or Billing(), separate=tuple(separate)) if separate else billing


def _separate(iteration: Object) -> SeparateUsage:
    usage = USAGE.read(iteration)
    billing = BILLING.read({"usage": iteration})
    return SeparateUsage(
        text_of(iteration, "model"),
        usage.input,
        usage.output,
        usage.cached,
        usage.cache_written,
        {} if billing is None else billing.counts,
    )


def usage_to_theirs(usage: Usage, rest: Object) -> Object:
    """Returns the format's usage object with the `rest` of its fields; input and output are null if not reported.

    Cached tokens outside the input count are omitted.
    """
    if not _fits(usage):
        usage = replace(usage, cached=None, cache_written=None)
    billing, speed = usage.billing, {}
    if billing is not None and billing.tier == _FAST:
        billing, speed = replace(billing, tier=None), {"speed": _FAST}
    billed = object_of(BILLING.write(billing), "usage") | speed
    return merge({"input_tokens": None, "output_tokens": None, **USAGE.write(usage)}, merge(rest, billed))


def counts_left_out(usage: Usage) -> tuple[str, ...]:
    """Returns the names of the counts that `usage_to_theirs` omits."""
    return USAGE.missing if _fits(usage) else (*USAGE.missing, "cached", "cache_written")


def _fits(usage: Usage) -> bool:
    return usage.input is None or usage.input >= (usage.cached or 0) + (usage.cache_written or 0)


FINISH_REASONS = FinishReasons(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "pause_turn": "paused",
        "refusal": "refusal",
        "compaction": "stop",
    },
    {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "paused": "pause_turn",
        "refusal": "refusal",
        "content_filter": "refusal",
        "error": "end_turn",
        "unknown": "end_turn",
    },
)
WARNINGS = FormatWarnings("the Messages format")
REPLY_FIELDS = frozenset({"id", "type", "role", "model", "content", "stop_reason", "error"})
"""Fields of a reply that never become metadata."""
SAMPLING = FieldTable(
    Sampling,
    {
        "max_tokens": "max_output_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "stop_sequences": "stop",
    },
    unsupported=("seed", "presence_penalty", "frequency_penalty", "top_logprobs"),
)
CALL_FIELDS = frozenset(
    {
        "model",
        "system",
        "messages",
        *SAMPLING.names,
        "tool_choice",
        "stream",
    }
)
"""Fields of a request for which a call has fields, whatever their value."""
THINKING_BLOCKS = frozenset({"thinking", "redacted_thinking"})
"""Types of blocks that contain a model's thinking."""


def finish_reason_to_theirs(reason: FinishReason, raw: str | None) -> str:
    """Returns the format's finish reason: the raw one if it means `reason`, since it is more specific."""
    return raw if raw is not None and FINISH_REASONS.to_ours.get(raw) == reason else FINISH_REASONS.to_theirs[reason]


def metadata_to_ours(data: Object) -> Object:
    """Returns the fields of a reply, or of an event that changes it, that the schema does not model."""
    return BILLING.rest({name: value for name, value in data.items() if name not in REPLY_FIELDS})


def metadata_to_theirs(metadata: JSONObject, warnings: list[CallWarning]) -> tuple[Object, Object]:
    """Returns the extra fields of a reply, and those of its usage."""
    written = {
        name: value for name, value in metadata.items() if name not in REPLY_FIELDS and BILLING.is_rest(name, value)
    }
    WARNINGS.metadata(metadata, written, warnings)
    return written, as_object(written.pop("usage", None))


def cache_to_theirs(point: CachePoint) -> Object:
    """Returns the breakpoint for an adjusted cache point."""
    if point.ttl is None:
        return {"type": "ephemeral"}
    return {"type": "ephemeral", "ttl": next(name for name, time in CACHE_TIMES.items() if time == point.ttl)}


def cache_to_ours(data: Any) -> CachePoint | None:
    """Returns the cache point in a block's `cache_control`; raises `SchemaError` for an unknown TTL."""
    if data is None:
        return None
    ttl = as_object(data).get("ttl")
    if as_object(data).get("type") != "ephemeral" or not (ttl is None or ttl in tuple(CACHE_TIMES)):
        raise SchemaError("expected {'type': 'ephemeral', 'ttl': '5m' or '1h'}", "cache_control")
    return CachePoint(None if ttl is None else CACHE_TIMES[ttl])
