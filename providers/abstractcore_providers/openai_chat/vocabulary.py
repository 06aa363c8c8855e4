"""The format's words and ours, both ways."""

from __future__ import annotations

from typing import Any

from abstractcore.schema import FinishReason, Usage

from ..json_reading import Object, as_object, count_of

_TO_OURS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}
_TO_THEIRS: dict[FinishReason, str] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "stop",
    "paused": "stop",
    "unknown": "stop",
}
MODELLED_REPLY_FIELDS = frozenset({"id", "object", "model", "choices", "usage"})


def finish_reason_to_ours(raw: str | None) -> FinishReason:
    """Our word; "unknown" for one we do not know."""
    return _TO_OURS.get(raw or "", "unknown")


def finish_reason_to_theirs(reason: FinishReason) -> str:
    """The format's word; it has none for a refusal, a pause or an unknown end."""
    return _TO_THEIRS[reason]


def usage_to_ours(data: Object) -> Usage:
    """Token counts; what was not reported is None."""
    of_input, of_output = as_object(data.get("prompt_tokens_details")), as_object(data.get("completion_tokens_details"))
    return Usage(
        input=count_of(data, "prompt_tokens"),
        output=count_of(data, "completion_tokens"),
        cached=count_of(of_input, "cached_tokens"),
        cache_written=count_of(of_input, "cache_write_tokens"),
        reasoning=count_of(of_output, "reasoning_tokens"),
        input_audio=count_of(of_input, "audio_tokens"),
        output_audio=count_of(of_output, "audio_tokens"),
    )


def usage_to_theirs(usage: Usage) -> Object | None:
    """The format's usage object; None if nothing was reported."""
    if usage == Usage():
        return None
    data: Object = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total}
    of_input = _reported(
        cached_tokens=usage.cached, cache_write_tokens=usage.cache_written, audio_tokens=usage.input_audio
    )
    of_output = _reported(reasoning_tokens=usage.reasoning, audio_tokens=usage.output_audio)
    if of_input:
        data["prompt_tokens_details"] = of_input
    if of_output:
        data["completion_tokens_details"] = of_output
    return {name: value for name, value in data.items() if value is not None}


def _reported(**counts: int | None) -> dict[str, Any]:
    return {name: count for name, count in counts.items() if count is not None}


def unmodelled(data: Object) -> Object:
    """What a reply says that the schema has no field for."""
    return {name: value for name, value in data.items() if name not in MODELLED_REPLY_FIELDS and value is not None}
