"""The format's words and ours, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from abstractcore.schema import Citation, FinishReason, Role, Sampling, Usage

from ...common.field_table import FieldTable
from ...common.finish_reasons import finish_reason_of
from ...common.json_reading import Object, as_object, as_objects, count_of, text_of
from ...common.openai_words import reported
from .dialect import DETAILS, Dialect
from .thinking import read_thinking

_TO_OURS: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "model_length": "length",
    "error": "unknown",
    "insufficient_system_resource": "unknown",
}
"""OpenAI's words, then those of Mistral, Mistral and OpenRouter, and DeepSeek."""
_TO_THEIRS: dict[FinishReason, str] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "stop",
    "paused": "stop",
    "unknown": "stop",
}
REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where reasoning stands beside an answer, by the names that servers give it."""
_SAMPLING_FIELDS = ("temperature", "top_p", "top_k", "presence_penalty", "frequency_penalty")
SAMPLING = FieldTable(
    Sampling,
    {name: name for name in _SAMPLING_FIELDS},
    elsewhere={name: name for name in ("max_output_tokens", "seed", "stop", "top_logprobs")},
)
"""The fields with the same name in every dialect."""
_CALL_FIELDS = frozenset(
    {
        "model",
        "messages",
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "logprobs",
        "top_logprobs",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "modalities",
        "stream",
        "stream_options",
        *_SAMPLING_FIELDS,
    }
)
_MESSAGE_FIELDS: dict[Role, frozenset[str]] = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls", "audio", "refusal", "annotations", *REASONING_FIELDS}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}
TOOL_CALL_FIELDS = frozenset({"id", "type", "function", "index"})
SPOKEN_FIELDS = frozenset({"id", "data", "transcript", "expires_at"})
"""Fields of a reply's audio; a request needs its id, and has no use for the time at which that ends."""
_SOURCES = frozenset({"search_results", "citations"})
REPLY_FIELDS = frozenset({"id", "object", "model", "choices", "usage", "error", "obfuscation"})
"""Fields of a reply that never become metadata; `obfuscation` is padding."""


def has_field(name: str, value: Any, dialect: Dialect) -> bool:
    """Whether `name: value` in a request is something a `ModelCall` has a field for."""
    if name == "response_format":
        return is_schema(value)
    return (
        name in _CALL_FIELDS or name == dialect.seed_field or read_thinking(name, value, dialect.thinking) is not None
    )


def message_fields(role: Role, dialect: Dialect) -> frozenset[str]:
    """The fields of a message that the schema has words for."""
    known = _MESSAGE_FIELDS[role]
    return known | {DETAILS} if role == "assistant" and dialect.reasoning_field == DETAILS else known


def reasoning_of(message: Object) -> str:
    """The reasoning that stands beside an answer, as one text."""
    return next((text for name in REASONING_FIELDS if (text := text_of(message, name))), "")


def is_schema(response_format: Any) -> bool:
    """Whether a response format is one with a schema."""
    return as_object(response_format).get("type") == "json_schema"


def finish_reason_to_ours(raw: str | None, *, calls: bool) -> FinishReason:
    """Our word; for one we do not know, whether the reply `calls` tools decides."""
    return finish_reason_of(raw, _TO_OURS, calls=calls)


def finish_reason_to_theirs(reason: FinishReason) -> str:
    """The format's word; it has none for a refusal, a pause or an unknown end."""
    return _TO_THEIRS[reason]


def usage_to_ours(data: Object) -> Usage:
    """Token counts; what was not reported is None."""
    of_input, of_output = as_object(data.get("prompt_tokens_details")), as_object(data.get("completion_tokens_details"))
    cached, reasoning = count_of(of_input, "cached_tokens"), count_of(of_output, "reasoning_tokens")
    return Usage(
        input=count_of(data, "prompt_tokens"),
        output=_output_tokens(data, reasoning),
        cached=count_of(data, "prompt_cache_hit_tokens") if cached is None else cached,
        cache_written=count_of(of_input, "cache_write_tokens"),
        reasoning=reasoning,
        input_audio=count_of(of_input, "audio_tokens"),
        output_audio=count_of(of_output, "audio_tokens"),
    )


def _output_tokens(data: Object, reasoning: int | None) -> int | None:
    """All tokens of the answer. xAI leaves reasoning out of their number, though not out of the total."""
    completion = count_of(data, "completion_tokens")
    if completion is None or not reasoning:
        return completion
    if count_of(data, "total_tokens") != (count_of(data, "prompt_tokens") or 0) + completion + reasoning:
        return completion
    return completion + reasoning


def usage_to_theirs(usage: Usage) -> Object | None:
    """The format's usage object; None if nothing was reported."""
    if usage == Usage():
        return None
    data: Object = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total}
    of_input = reported(
        cached_tokens=usage.cached, cache_write_tokens=usage.cache_written, audio_tokens=usage.input_audio
    )
    of_output = reported(reasoning_tokens=usage.reasoning, audio_tokens=usage.output_audio)
    if of_input:
        data["prompt_tokens_details"] = of_input
    if of_output:
        data["completion_tokens_details"] = of_output
    return {name: value for name, value in data.items() if value is not None}


def citations_to_ours(annotations: Any) -> tuple[Citation, ...]:
    """The web citations among a message's annotations."""
    cited = [as_object(note.get("url_citation")) for note in as_objects(annotations)]
    return tuple(
        Citation(
            source=text_of(citation, "url") or "",
            title=text_of(citation, "title"),
            start=count_of(citation, "start_index"),
            end=count_of(citation, "end_index"),
        )
        for citation in cited
        if citation
    )


def has_sources(metadata: Mapping[str, Any]) -> bool:
    """Whether what stands beside an answer may be its sources, as Perplexity sends them."""
    return not _SOURCES.isdisjoint(metadata)


def sources_to_ours(metadata: Mapping[str, Any]) -> tuple[Citation, ...]:
    """The sources beside an answer: results with titles, else addresses alone."""
    results = [
        (text_of(result, "url"), text_of(result, "title")) for result in as_objects(metadata.get("search_results"))
    ]
    addresses = metadata.get("citations")
    if not results and isinstance(addresses, list):
        results = [(address, None) for address in cast("list[Any]", addresses) if isinstance(address, str)]
    return tuple(Citation(url, title) for url, title in results if url)


def citations_to_theirs(citations: tuple[Citation, ...], offset: int) -> list[Object]:
    """Annotations for a text that begins at `offset` of the message's."""
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "url": citation.source,
                "title": citation.title or "",
                "start_index": (citation.start or 0) + offset,
                "end_index": (citation.end or 0) + offset,
            },
        }
        for citation in citations
    ]


def metadata_to_ours(data: Object) -> Object:
    """What a reply says that the schema has no field for."""
    metadata = {name: value for name, value in data.items() if name not in REPLY_FIELDS and value is not None}
    if metadata.get("created") == 0:
        del metadata["created"]
    return metadata
