"""Values and field names of the format and their counterparts in the schema."""

from __future__ import annotations

from abstractcore.schema import Sampling

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object
from ...common.response_bodies import FinishReasons

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
