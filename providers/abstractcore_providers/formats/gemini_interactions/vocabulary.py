"""Values and field names of the format and their counterparts in the schema."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import FinishReason, HostedToolKind, Modality, Sampling, ThinkingLevel

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object
from ...common.response_bodies import FinishReasons

WARNINGS = FormatWarnings("the Interactions format")
ARGUMENTS = "arguments"
"""The field for the arguments of a call, whose original text is kept."""
SAMPLING = FieldTable(
    Sampling,
    {
        "max_output_tokens": "max_output_tokens",
        "temperature": "temperature",
        "top_p": "top_p",
        "seed": "seed",
        "stop_sequences": "stop",
    },
    path="generation_config.",
    unsupported=("top_k", "presence_penalty", "frequency_penalty", "top_logprobs"),
)
LEVELS: dict[str, ThinkingLevel] = {
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
}
MODALITIES: dict[str, Modality] = {"text": "text", "image": "image", "audio": "audio"}
HOSTED_TOOLS: dict[HostedToolKind, str] = {
    "web_search": "google_search",
    "code_interpreter": "code_execution",
    "file_search": "file_search",
    "computer_use": "computer_use",
}
FAILED = "failed"
"""The status of an interaction that is an error."""

_FINISH_REASONS = FinishReasons(
    {
        "completed": "stop",
        "incomplete": "length",
        "budget_exceeded": "length",
        **dict.fromkeys(("requires_continuation", "in_progress", "queued"), "paused"),
        **dict.fromkeys(("requires_action", "cancelled"), "unknown"),
    },
    {
        "stop": "completed",
        "tool_calls": "requires_action",
        "length": "incomplete",
        "paused": "requires_continuation",
        "content_filter": "completed",
        "refusal": "completed",
        "error": "completed",
        "unknown": "completed",
    },
)
_CALLING = ("completed", "requires_action")
"""The statuses of a reply that may end with calls."""
_ECHOES = frozenset(
    {
        "agent_config",
        "cached_content",
        "environment",
        "generation_config",
        "input",
        "response_format",
        "response_mime_type",
        "response_modalities",
        "safety_settings",
        "system_instruction",
        "tools",
        "webhook_config",
    }
)
"""Fields of an interaction that repeat its request."""
_REPLY_FIELDS = _ECHOES | {"error", "id", "model", "object", "service_tier", "status", "steps", "usage"}
"""Fields of an interaction that never become metadata under their own names."""


def is_status(value: Any) -> bool:
    """Whether it is the status of an interaction."""
    return value == FAILED or (isinstance(value, str) and value in _FINISH_REASONS.to_ours)


def finish_reason_to_ours(status: str | None, calls_tools: bool) -> FinishReason:
    """Returns our finish reason; that of a finished interaction depends on tool calls."""
    if calls_tools and status in _CALLING:
        return "tool_calls"
    return _FINISH_REASONS.read(status, calls=calls_tools)


def finish_reason_to_theirs(reason: FinishReason, calls_tools: bool) -> str:
    """Returns the status; there is none for a refusal or blocked content, and that for calls needs some."""
    status = _FINISH_REASONS.to_theirs[reason]
    if status in _CALLING:
        return _CALLING[calls_tools]
    return status


def metadata_to_ours(data: Object) -> Object:
    """Returns the fields of an interaction that the schema does not model, except `usage`."""
    return {name: value for name, value in data.items() if is_metadata(name) and value is not None}


def is_metadata(name: str) -> bool:
    """Whether a field of an interaction is metadata of the reply."""
    return name not in _REPLY_FIELDS


def as_whole(value: Any) -> Any:
    """Converts a float without a fractional part to an integer, since clients write both."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
