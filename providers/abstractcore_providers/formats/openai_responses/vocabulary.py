"""The format's words and ours, both ways."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore.schema import FinishReason, Sampling, Usage

from ...common.field_table import FieldTable
from ...common.finish_reasons import finish_reason_of
from ...common.json_reading import Object, as_object, as_objects, count_of, text_of
from ...common.openai_words import reported

_TAKEN = ("max_output_tokens", "temperature", "top_p", "top_logprobs")
SAMPLING = FieldTable(
    Sampling,
    {name: name for name in _TAKEN},
    unsaid=("top_k", "seed", "stop", "presence_penalty", "frequency_penalty"),
)

_INCOMPLETE: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_UNFINISHED: dict[str, FinishReason] = dict.fromkeys(("cancelled", "failed", "in_progress", "queued"), "unknown")
_CALLS = ("function_call", "computer_call")
"""Types of items that the caller has to answer."""
_REASONS: dict[FinishReason, str] = {ours: theirs for theirs, ours in _INCOMPLETE.items()}
_ECHOES = frozenset(
    {
        "background",
        "instructions",
        "max_output_tokens",
        "parallel_tool_calls",
        "reasoning",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
    }
)
"""What a response repeats of its request."""
REPLY_FIELDS = _ECHOES | {
    "error",
    "id",
    "incomplete_details",
    "logprobs",
    "model",
    "object",
    "output",
    "output_text",
    "status",
    "usage",
}
"""Fields of a response that never become metadata."""


def finish_reason_to_ours(data: Object, items: Sequence[Object]) -> tuple[FinishReason, str | None]:
    """Why a response with these output items ended: our word and the format's own."""
    status = text_of(data, "status")
    if status == "incomplete":
        why = text_of(as_object(data.get("incomplete_details")), "reason")
        return _INCOMPLETE.get(why or "", "unknown"), why or status
    calls = any(item.get("type") in _CALLS for item in items)
    if status not in ("completed", None):
        return finish_reason_of(status, _UNFINISHED, calls=calls), status
    if any(part.get("type") == "refusal" for item in items for part in as_objects(item.get("content"))):
        return "refusal", status
    return "tool_calls" if calls else "stop", status


def finish_reason_to_theirs(reason: FinishReason) -> Object:
    """The fields that say why a response ended."""
    if reason in _REASONS:
        return {"status": "incomplete", "incomplete_details": {"reason": _REASONS[reason]}}
    return {"status": "completed", "incomplete_details": None}


def usage_to_ours(data: Object) -> Usage:
    """Token counts; what was not reported is None."""
    of_input, of_output = as_object(data.get("input_tokens_details")), as_object(data.get("output_tokens_details"))
    return Usage(
        input=count_of(data, "input_tokens"),
        output=count_of(data, "output_tokens"),
        cached=count_of(of_input, "cached_tokens"),
        cache_written=count_of(of_input, "cache_write_tokens"),
        reasoning=count_of(of_output, "reasoning_tokens"),
    )


def usage_to_theirs(usage: Usage) -> Object | None:
    """The format's usage object; None if it has a word for nothing that was reported."""
    data: Object = {**reported(input_tokens=usage.input, output_tokens=usage.output, total_tokens=usage.total)}
    of_input = reported(cached_tokens=usage.cached, cache_write_tokens=usage.cache_written)
    of_output = reported(reasoning_tokens=usage.reasoning)
    if of_input:
        data["input_tokens_details"] = of_input
    if of_output:
        data["output_tokens_details"] = of_output
    return data or None


def metadata_to_ours(data: Object, items: Sequence[Object]) -> Object:
    """What a response says that the schema has no field for; log probabilities are those of all texts, in order."""
    metadata = {name: value for name, value in data.items() if name not in REPLY_FIELDS and value is not None}
    if metadata.get("created_at") == 0:
        del metadata["created_at"]
    if metadata.get("metadata") == {}:
        del metadata["metadata"]
    logprobs = [
        token
        for item in items
        for part in as_objects(item.get("content"))
        for token in as_objects(part.get("logprobs"))
    ]
    return {**metadata, "logprobs": logprobs} if logprobs else metadata
