"""The format's words and ours, both ways."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import EMPTY, CallWarning, FinishReason, JSONObject, Sampling, Usage

from ...common.field_table import FieldTable
from ...common.finish_reasons import finish_reason_of
from ...common.item_options import HasOptions
from ...common.json_reading import Object, count_of

SAMPLING = FieldTable(
    Sampling,
    {"maxTokens": "max_output_tokens", "temperature": "temperature", "topP": "top_p", "stopSequences": "stop"},
    path="inferenceConfig.",
    elsewhere={"top_k": "additionalModelRequestFields"},
    unsaid=("seed", "presence_penalty", "frequency_penalty", "top_logprobs"),
)
PROVIDER = "bedrock"
"""The name under which provider options are looked up and replies are made."""

_TO_OURS: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "refusal": "refusal",
    "pause_turn": "paused",
    "malformed_model_output": "unknown",
    "malformed_tool_use": "unknown",
}
_TO_THEIRS: dict[FinishReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
    "refusal": "content_filtered",
    "paused": "end_turn",
    "unknown": "end_turn",
}
_COUNTS = frozenset({"inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens"})


def own_options(item: HasOptions) -> JSONObject:
    """What a part or delta that was fitted says to this provider."""
    return item.provider_options.get(PROVIDER, EMPTY)


def origin_of(model: str | None) -> str | None:
    """Whose reasoning it is; None if the model is not named."""
    return f"{PROVIDER}/{model}" if model else None


def finish_reason_to_ours(raw: str | None, *, calls: bool) -> FinishReason:
    """Our word; for one we do not know, whether the reply `calls` tools decides."""
    return finish_reason_of(raw, _TO_OURS, calls=calls)


def finish_reason_to_theirs(reason: FinishReason) -> str:
    """The format's word; it has none for a refusal, a pause or an unknown end."""
    return _TO_THEIRS[reason]


def usage_to_ours(data: Object) -> Usage:
    """Token counts. What was read from and written to the cache is not in the format's count of input."""
    fresh, cached, written = (
        count_of(data, name) for name in ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    )
    total = None if fresh is None else fresh + (cached or 0) + (written or 0)
    return Usage(total, count_of(data, "outputTokens"), cached=cached, cache_written=written)


def usage_rest(data: Object) -> Object:
    """What the format's usage says that ours has no field for."""
    return {name: value for name, value in data.items() if name not in _COUNTS and value is not None}


def usage_to_theirs(usage: Usage, warnings: list[CallWarning]) -> Object:
    """The format's usage object; empty if nothing was reported."""
    warnings += [
        CallWarning("usage_left_out", f"usage.{name}", f"the format does not report {name} tokens")
        for name in ("reasoning", "input_audio", "output_audio")
        if getattr(usage, name) is not None
    ]
    kept = (usage.cached or 0) + (usage.cache_written or 0)
    total = usage.input
    if total is not None and total < kept:
        message = "cached and cache-written tokens are part of the input"
        warnings.append(CallWarning("usage_changed", "usage.input", message, total, kept))
        total = kept
    counts: dict[str, Any] = {
        "inputTokens": None if total is None else total - kept,
        "outputTokens": usage.output,
        "totalTokens": None if total is None or usage.output is None else total + usage.output,
        "cacheReadInputTokens": usage.cached,
        "cacheWriteInputTokens": usage.cache_written,
    }
    return {name: count for name, count in counts.items() if count is not None}
