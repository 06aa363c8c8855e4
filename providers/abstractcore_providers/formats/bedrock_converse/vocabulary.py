"""Values and field names of the format and their counterparts in the schema."""

from __future__ import annotations

from dataclasses import replace

from abstractcore.schema import CallWarning, Sampling, Usage

from ...common.field_table import FieldTable
from ...common.finish_reasons import FinishReasons
from ...common.format_warnings import FormatWarnings
from ...common.json_reading import Object
from ...common.usage_table import UsageTable

SAMPLING = FieldTable(
    Sampling,
    {"maxTokens": "max_output_tokens", "temperature": "temperature", "topP": "top_p", "stopSequences": "stop"},
    path="inferenceConfig.",
    elsewhere={"top_k": "additionalModelRequestFields"},
    unsupported=("seed", "presence_penalty", "frequency_penalty", "top_logprobs"),
)
PROVIDER = "bedrock"
"""The key of provider options, and the provider of replies."""

FINISH_REASONS = FinishReasons(
    {
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
    },
    {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "content_filter": "content_filtered",
        "refusal": "content_filtered",
        "paused": "end_turn",
        "unknown": "end_turn",
    },
)
USAGE = UsageTable(
    {
        "input": "inputTokens",
        "output": "outputTokens",
        "total": "totalTokens",
        "cached": "cacheReadInputTokens",
        "cache_written": "cacheWriteInputTokens",
    },
    cache_apart=True,
)
WARNINGS = FormatWarnings("the Converse format")


def usage_rest(data: Object) -> Object:
    """Fields of the format's usage that ours does not have."""
    return {name: value for name, value in data.items() if name not in USAGE.names and value is not None}


def usage_to_theirs(usage: Usage, warnings: list[CallWarning]) -> Object:
    """Returns the format's usage object; empty if nothing was reported."""
    WARNINGS.counts(usage, USAGE.missing, warnings, "usage_left_out")
    kept = (usage.cached or 0) + (usage.cache_written or 0)
    if usage.input is not None and usage.input < kept:
        message = "cached and cache-written tokens are part of the input"
        warnings.append(CallWarning("usage_changed", "usage.input", message, usage.input, kept))
        usage = replace(usage, input=kept)
    return USAGE.write(usage)
