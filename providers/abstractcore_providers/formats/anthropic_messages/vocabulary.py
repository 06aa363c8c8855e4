"""Values and field names of the format and their counterparts in the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from abstractcore.schema import CachePoint, CallWarning, FinishReason, JSONObject, Sampling, SchemaError, Usage

from ...common.cache_times import CACHE_TIMES
from ...common.field_table import FieldTable
from ...common.finish_reasons import FinishReasons
from ...common.format_warnings import FormatWarnings
from ...common.json_reading import Object, as_object
from ...common.usage_table import UsageTable

FINISH_REASONS = FinishReasons(
    {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "tool_use": "tool_calls",
        "pause_turn": "paused",
        "refusal": "refusal",
    },
    {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "paused": "pause_turn",
        "refusal": "refusal",
        "content_filter": "refusal",
        "unknown": "end_turn",
    },
)
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
WARNINGS = FormatWarnings("the Messages format")
REPLY_FIELDS = frozenset({"id", "type", "role", "model", "content", "stop_reason", "usage", "error"})
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


def finish_reason_to_theirs(reason: FinishReason, raw: str | None) -> str:
    """Returns the format's finish reason: the raw one if it means `reason`, since it is more specific."""
    return raw if raw is not None and FINISH_REASONS.to_ours.get(raw) == reason else FINISH_REASONS.to_theirs[reason]


def usage_to_theirs(usage: Usage) -> Object:
    """Returns the format's usage object; input and output are null if not reported. Cached tokens outside the input
    count are omitted.
    """
    if not _fits(usage):
        usage = replace(usage, cached=None, cache_written=None)
    return {"input_tokens": None, "output_tokens": None, **USAGE.write(usage)}


def _fits(usage: Usage) -> bool:
    return usage.input is None or usage.input >= (usage.cached or 0) + (usage.cache_written or 0)


def warn_of_usage(usage: Usage, warnings: list[CallWarning]) -> None:
    """Returns the counts that `usage_to_theirs` omits."""
    names = USAGE.missing if _fits(usage) else (*USAGE.missing, "cached", "cache_written")
    WARNINGS.counts(usage, names, warnings, "usage_left_out")


def metadata_to_ours(data: Object) -> Object:
    """Returns the fields of a reply, or of an event that changes it, that the schema does not model."""
    metadata = {name: value for name, value in data.items() if name not in REPLY_FIELDS and value is not None}
    usage = as_object(data.get("usage"))
    of_usage = {name: value for name, value in usage.items() if name not in USAGE.names and value is not None}
    return {**metadata, "usage": of_usage} if of_usage else metadata


def metadata_to_theirs(metadata: JSONObject, warnings: list[CallWarning]) -> tuple[Object, Object]:
    """Returns the extra fields of a reply, and those of its usage."""
    written: Object = {}
    of_usage: Object = {}
    for name, value in metadata.items():
        if name == "usage" and isinstance(value, Mapping) and value and not _is_counted(value):
            of_usage = dict(value)
        elif name not in REPLY_FIELDS:
            written[name] = value
    kept = {**written, "usage": of_usage} if of_usage else written
    WARNINGS.metadata(metadata, kept, warnings)
    return written, of_usage


def _is_counted(usage: Mapping[str, Any]) -> bool:
    return None in usage.values() or not USAGE.names.isdisjoint(usage)


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
