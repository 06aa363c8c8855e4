"""Values and field names of the format and their counterparts in the schema.

Token counts and billing data of a reply. Differences between the models behind this format, as data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from abstractcore.schema import EMPTY, METERS, Billing, CallWarning, Sampling, Usage

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, count_of, object_of, objects_of, text_of
from ...common.response_bodies import BillingTable, FinishReasons, UsageTable, merge

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
        "malformed_model_output": "error",
        "malformed_tool_use": "error",
    },
    {
        "stop": "end_turn",
        "length": "max_tokens",
        "tool_calls": "tool_use",
        "content_filter": "content_filtered",
        "refusal": "content_filtered",
        "paused": "end_turn",
        "error": "malformed_model_output",
        "unknown": "end_turn",
    },
)
"""`StopReason` in botocore's model of bedrock-runtime, and values of Claude."""
WARNINGS = FormatWarnings("the Converse format")
SEPARATOR: Object = {"role": "assistant", "content": [{"text": "."}]}
"""Comes between tool results and what follows them, for models that refuse both in one message. The API joins adjacent
messages of the user, and several models refuse blank text. It is not read as a message.
"""


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
BILLING = BillingTable(
    tier="serviceTier.type", others=(*(f"usage.{name}" for name in USAGE.names), "usage.cacheDetails")
)
"""`ConverseResponse` and `TokenUsage`
(https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
"""
_WRITTEN = "cache_write_"
_METERS = {meter.removeprefix(_WRITTEN): meter for meter in METERS if meter.startswith(_WRITTEN)}
"""The meters of tokens written to a cache, by the TTL in `cacheDetails`."""


def usage_to_ours(data: Object) -> Usage:
    """Returns the usage of a reply with these fields; None for what is not reported."""
    return USAGE.read(object_of(data, "usage"), billing_to_ours(data))


def billing_to_ours(data: Object) -> Billing | None:
    """Returns the billing data in the fields of a reply. Counts of one TTL, of several cache points, are added up."""
    billing = BILLING.read(data)
    counts: dict[str, int] = {}
    for detail in objects_of(object_of(data, "usage"), "cacheDetails"):
        meter, count = _METERS.get(text_of(detail, "ttl") or ""), count_of(detail, "inputTokens")
        if meter is not None and count is not None:
            counts[meter] = counts.get(meter, 0) + count
    return replace(billing or Billing(), counts=counts) if counts else billing


def usage_to_theirs(usage: Usage, warnings: list[CallWarning]) -> Object:
    """Returns the fields of a reply with token counts and billing data; empty if nothing was reported."""
    WARNINGS.counts(usage, USAGE.missing, warnings, "usage_left_out")
    kept = (usage.cached or 0) + (usage.cache_written or 0)
    if usage.input is not None and usage.input < kept:
        message = "cached and cache-written tokens are part of the input"
        warnings.append(CallWarning("usage_changed", "usage.input", message, usage.input, kept))
        usage = replace(usage, input=kept)
    counts = USAGE.write(usage)
    billed = EMPTY if usage.billing is None else usage.billing.counts
    details = [{"ttl": ttl, "inputTokens": billed[meter]} for ttl, meter in _METERS.items() if meter in billed]
    if details:
        counts["cacheDetails"] = details
    fields = merge({"usage": counts} if counts else {}, BILLING.write(usage.billing))
    WARNINGS.billing(usage.billing, billing_to_ours(fields), warnings)
    return fields


ThinkingField: TypeAlias = Literal[
    "thinking", "reasoningConfig", "reasoning.effort", "reasoning_effort", "reasoning_config", ""
]
TopKField: TypeAlias = Literal["top_k", "inferenceConfig.topK", ""]


@dataclass(frozen=True, slots=True)
class ConverseDialect:
    """How the requests of a model are written.

    `thinking_field` and `top_k_field` are the fields of `additionalModelRequestFields` for these options, empty if
    there is none or it is not known; with `reads_all`, any of them is read, since a client's request is parsed before
    its model is known. With `tool_choice_none`, that object also has a field that forbids tool calls.

    For thinking in the field `thinking`: `off` is the type that disables it, and `off_effort` the highest effort beside
    it, empty for any. With `display`, the text of thinking has to be asked for; with `thinks_by_default`, the model
    thinks unless told not to; with `block_binding`, thinking that is sent back is refused if the conversation before it
    has changed.

    With `results_alone`, the model refuses a message with tool results and anything else: an assistant message comes
    between them. Without `result_status`, it refuses the status of a tool result.
    """

    thinking_field: ThinkingField = "thinking"
    top_k_field: TopKField = "top_k"
    reads_all: bool = False
    tool_choice_none: bool = False
    off: str = "disabled"
    off_effort: str = ""
    display: bool = False
    thinks_by_default: bool = False
    block_binding: bool = False
    results_alone: bool = False
    result_status: bool = True
