"""Values and field names of the format and their counterparts in the schema."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import CachePoint, CallWarning, FinishReason, JSONObject, Sampling, SchemaError

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, as_object
from ...common.response_bodies import FinishReasons
from ...common.thinking import CACHE_TIMES
from .usage import BILLING

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
