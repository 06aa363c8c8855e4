"""The format's words and ours, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstractcore.schema import CachePoint, CallWarning, FinishReason, JSONObject, Sampling, SchemaError, Usage

from ...common.cache_times import CACHE_TIMES
from ...common.field_table import FieldTable
from ...common.finish_reasons import finish_reason_of
from ...common.json_reading import Object, as_object, count_of

_TO_OURS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "pause_turn": "paused",
    "refusal": "refusal",
}
_TO_THEIRS: dict[FinishReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "paused": "pause_turn",
    "refusal": "refusal",
    "content_filter": "refusal",
    "unknown": "end_turn",
}
REPLY_FIELDS = frozenset({"id", "type", "role", "model", "content", "stop_reason", "usage", "error"})
"""Fields of a reply that never become metadata."""
USAGE_FIELDS = frozenset(
    {
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens_details",
    }
)
SAMPLING = FieldTable(
    Sampling,
    {
        "max_tokens": "max_output_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "top_k": "top_k",
        "stop_sequences": "stop",
    },
    unsaid=("seed", "presence_penalty", "frequency_penalty", "top_logprobs"),
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
"""Fields of a request that a call has fields for, whatever they hold."""


def finish_reason_to_ours(raw: str | None, *, calls: bool) -> FinishReason:
    """Our word; for one we do not know, whether the reply `calls` tools decides."""
    return finish_reason_of(raw, _TO_OURS, calls=calls)


def finish_reason_to_theirs(reason: FinishReason, raw: str | None) -> str:
    """The format's word: the raw one if it means `reason`, since it says more."""
    return raw if raw is not None and _TO_OURS.get(raw) == reason else _TO_THEIRS[reason]


def usage_to_ours(data: Object) -> Usage:
    """Token counts. Theirs of the input leave out what was cached and what was written to the cache; ours do not."""
    cached, written = count_of(data, "cache_read_input_tokens"), count_of(data, "cache_creation_input_tokens")
    new = count_of(data, "input_tokens")
    return Usage(
        input=None if new is None else new + (cached or 0) + (written or 0),
        output=count_of(data, "output_tokens"),
        cached=cached,
        cache_written=written,
        reasoning=count_of(as_object(data.get("output_tokens_details")), "thinking_tokens"),
    )


def usage_to_theirs(usage: Usage) -> Object:
    """The format's usage object; what was not reported is null. Cached tokens that were no input are left out."""
    data: Object = {"input_tokens": usage.input, "output_tokens": usage.output}
    if usage.input is not None and _fits(usage):
        data["input_tokens"] = usage.input - (usage.cached or 0) - (usage.cache_written or 0)
    if _fits(usage):
        counts = {"cache_read_input_tokens": usage.cached, "cache_creation_input_tokens": usage.cache_written}
        data |= {name: count for name, count in counts.items() if count is not None}
    if usage.reasoning is not None:
        data["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return data


def _fits(usage: Usage) -> bool:
    return usage.input is None or usage.input >= (usage.cached or 0) + (usage.cache_written or 0)


def warn_of_usage(usage: Usage, warnings: list[CallWarning]) -> None:
    """What `usage_to_theirs` leaves out."""
    lost = ["input_audio", "output_audio"] + ([] if _fits(usage) else ["cached", "cache_written"])
    for name in lost:
        count = getattr(usage, name)
        if count is not None:
            message = f"the Messages format has no place for this count of {name} tokens"
            warnings.append(CallWarning("usage_left_out", f"usage.{name}", message, count))


def metadata_to_ours(data: Object) -> Object:
    """What a reply, or an event that changes it, says that the schema has no field for."""
    metadata = {name: value for name, value in data.items() if name not in REPLY_FIELDS and value is not None}
    usage = as_object(data.get("usage"))
    of_usage = {name: value for name, value in usage.items() if name not in USAGE_FIELDS and value is not None}
    return {**metadata, "usage": of_usage} if of_usage else metadata


def metadata_to_theirs(metadata: JSONObject, warnings: list[CallWarning]) -> tuple[Object, Object]:
    """What stands beside the reply's own fields, and what beside the counts of its usage."""
    written: Object = {}
    of_usage: Object = {}
    for name, value in metadata.items():
        if name == "usage" and isinstance(value, Mapping) and value and not _is_counted(value):
            of_usage = dict(value)
        elif name not in REPLY_FIELDS:
            written[name] = value
    kept = {**written, "usage": of_usage} if of_usage else written
    if len(kept) < len(metadata):
        names = ", ".join(name for name in metadata if name not in kept)
        message = f"the Messages format means something else by {names}"
        warnings.append(CallWarning("metadata_left_out", "provider_metadata", message, metadata, kept or None))
    return written, of_usage


def _is_counted(usage: Mapping[str, Any]) -> bool:
    return None in usage.values() or not USAGE_FIELDS.isdisjoint(usage)


def cache_to_theirs(point: CachePoint) -> Object:
    """The breakpoint of a point that was fitted."""
    if point.ttl is None:
        return {"type": "ephemeral"}
    return {"type": "ephemeral", "ttl": next(name for name, time in CACHE_TIMES.items() if time == point.ttl)}


def cache_to_ours(data: Any) -> CachePoint | None:
    """The cache point in a block's `cache_control`; raises `SchemaError` for a time that the format has not."""
    if data is None:
        return None
    ttl = as_object(data).get("ttl")
    if as_object(data).get("type") != "ephemeral" or not (ttl is None or ttl in tuple(CACHE_TIMES)):
        raise SchemaError("a cache point here is {'type': 'ephemeral', 'ttl': '5m' or '1h'}", "cache_control")
    return CachePoint(None if ttl is None else CACHE_TIMES[ttl])
