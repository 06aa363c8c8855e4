"""Values and field names of the format and their counterparts in the schema.

The `usage` object of an interaction and `Usage`, both ways, with the billing that a reply reports.

Tokens used by hosted tools are apart from the input on the wire, thoughts apart from the output.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from abstractcore.schema import (
    Billing,
    CallWarning,
    FinishReason,
    HostedToolKind,
    JSONValue,
    Modality,
    Sampling,
    ThinkingLevel,
    Usage,
    freeze_object,
)

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, as_object, as_objects, count_of, objects_of, text_of
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


_TOTALS = frozenset(
    {"total_cached_tokens", "total_input_tokens", "total_output_tokens", "total_thought_tokens", "total_tokens"}
)
_TOOL_USE = "total_tool_use_tokens"
_INPUT, _OUTPUT, _CACHED, _CALLS = (
    "input_tokens_by_modality",
    "output_tokens_by_modality",
    "cached_tokens_by_modality",
    "grounding_tool_count",
)
_LISTS: Mapping[str, tuple[str, str, Mapping[str, str]]] = {
    _INPUT: ("modality", "tokens", {"audio": "input_audio", "image": "input_image", "video": "input_video"}),
    _OUTPUT: ("modality", "tokens", {"audio": "output_audio", "image": "output_image", "video": "output_video"}),
    _CACHED: (
        "modality",
        "tokens",
        {"audio": "cache_read_audio", "image": "cache_read_image", "video": "cache_read_video"},
    ),
    _CALLS: ("type", "count", {"google_search": "web_search", "google_maps": "maps_search"}),
}
"""The lists of counts: the names of an entry's fields, and the count for each kind of entry."""
_AUDIO = ("input_audio", "output_audio")
"""The counts of the lists that are counts of `Usage`; the others are meters."""
_METERS = frozenset(name for _, _, names in _LISTS.values() for name in names.values()) - set(_AUDIO)


def usage_to_ours(data: Object, tier: str | None) -> Usage:
    """Returns the token counts, None for those that are not reported; `tier` is the interaction's service tier."""
    thoughts = count_of(data, "total_thought_tokens")
    counts = _listed(data)
    audio = {name: counts.pop(name) for name in _AUDIO if name in counts}
    return Usage(
        input=_sum(count_of(data, "total_input_tokens"), count_of(data, _TOOL_USE)),
        output=_sum(count_of(data, "total_output_tokens"), thoughts),
        cached=count_of(data, "total_cached_tokens"),
        reasoning=thoughts,
        billing=Billing(tier=tier, counts=counts),
        **audio,
    )


def _sum(left: int | None, right: int | None) -> int | None:
    return left if right is None else (left or 0) + right


def _listed(data: Object) -> dict[str, int]:
    """Returns the counts in lists by our names; the first entry of a kind counts."""
    counts: dict[str, int] = {}
    for field, (kind, amount, names) in _LISTS.items():
        for entry in objects_of(data, field):
            name, count = names.get(text_of(entry, kind) or ""), count_of(entry, amount)
            if name is not None and count is not None:
                counts.setdefault(name, count)
    return counts


def extra_usage(data: Object) -> Object:
    """Returns the fields of a usage object that `Usage` does not model, which are metadata of the reply."""
    return {
        name: value
        for name, value in data.items()
        if name not in _TOTALS and value not in (None, [], 0) and not _is_modelled(name, value)
    }


def _is_modelled(field: str, value: Any) -> bool:
    """Whether it is a list of nothing but counts that `Usage` has."""
    if field not in _LISTS or not isinstance(value, list):
        return False
    kind, amount, names = _LISTS[field]
    entries = as_objects(value)
    kinds = [text_of(entry, kind) or "" for entry in entries]
    fit = all(entry.keys() == {kind, amount} and count_of(entry, amount) is not None for entry in entries)
    return fit and len(entries) == len(value) and kinds == [name for name in names if name in kinds]  # pyright: ignore[reportUnknownArgumentType]


def usage_to_theirs(usage: Usage, warnings: list[CallWarning]) -> Object:
    """Returns the usage object, empty if nothing was reported, with a warning for counts without a field."""
    reasoning = usage.reasoning
    if reasoning is not None and (usage.output is None or usage.output < reasoning):
        message = "reasoning tokens are part of the output tokens, which are fewer"
        warnings.append(CallWarning("count_left_out", "usage.reasoning", message, reasoning))
        reasoning = None
    WARNINGS.counts(usage, ("cache_written",), warnings)
    return _written(usage, reasoning)


def with_extra_usage(written: Object, usage: Usage, extra: JSONValue) -> Object | None:
    """Returns the usage object `written` for `usage` with `extra`, the metadata of `extra_usage`.

    None without such metadata, and for metadata that would be read as something else.
    """
    whole = {**written, **as_object(extra)}
    tool_use = count_of(whole, _TOOL_USE)
    if tool_use and usage.input is not None and tool_use <= usage.input:
        whole["total_input_tokens"] = usage.input - tool_use
    same = usage_to_ours(whole, None) == usage_to_ours(written, None)
    return whole if extra and same and freeze_object(extra_usage(whole)) == extra else None


def _written(usage: Usage, reasoning: int | None) -> Object:
    meters: Mapping[str, int] = {} if usage.billing is None else usage.billing.counts
    counts = {**meters, "input_audio": usage.input_audio, "output_audio": usage.output_audio}
    data: Object = {
        "total_tokens": usage.total,
        "total_input_tokens": usage.input,
        "total_output_tokens": None if usage.output is None else usage.output - (reasoning or 0),
        "total_thought_tokens": reasoning,
        "total_cached_tokens": usage.cached,
    }
    for field, (kind, amount, names) in _LISTS.items():
        known = ((theirs, counts.get(ours)) for theirs, ours in names.items())
        entries = [{kind: theirs, amount: count} for theirs, count in known if count is not None]
        data[field] = entries or None
    return {name: value for name, value in data.items() if value is not None}


def sent_billing(billing: Billing | None) -> Billing | None:
    """Returns the part of a reply's billing that the format can express: the tier and the counts above."""
    if billing is None:
        return None
    counts = {name: count for name, count in billing.counts.items() if name in _METERS}
    return Usage(billing=Billing(tier=billing.tier, counts=counts)).billing
