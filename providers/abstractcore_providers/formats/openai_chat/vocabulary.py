"""Values and field names of the format and their counterparts in the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from abstractcore.schema import (
    AudioPart,
    Billing,
    Citation,
    Part,
    ReasoningPart,
    Role,
    Sampling,
    TextPart,
    ToolCall,
    Usage,
)

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, as_object, count_of, object_of, objects_of, text_of, texts_of
from ...common.response_bodies import BillingTable, FinishReasons, merge
from .dialect import (
    BLOCKS,
    CACHE_HITS,
    DETAILS,
    PIECES,
    RECEIVED,
    TAGS,
    USAGE,
    USUAL,
    ChatDialect,
    are_other_tools,
    is_other_choice,
    read_thinking,
)

FINISH_REASONS = FinishReasons(
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "function_call": "tool_calls",
        "content_filter": "content_filter",
        "model_length": "length",
        "error": "error",
        "insufficient_system_resource": "error",
    },
    {
        "stop": "stop",
        "length": "length",
        "tool_calls": "tool_calls",
        "content_filter": "content_filter",
        "refusal": "stop",
        "paused": "stop",
        "error": "stop",
        "unknown": "stop",
    },
)
"""OpenAI's values, then those of Mistral, Mistral and OpenRouter, and DeepSeek."""
PART_ORDER: dict[type[Part], int] = {ReasoningPart: 0, TextPart: 1, AudioPart: 2, ToolCall: 3}
"""Each kind of part of an answer has its own field, so their order is not known."""
WARNINGS = FormatWarnings("the chat completions format")
REASONING_FIELDS = (USUAL, "reasoning")
"""The fields for reasoning next to an answer, by server."""
REASONING_PLACES = (*REASONING_FIELDS, PIECES, TAGS)
"""All places of reasoning in an answer. Of several in one answer, the first of these counts."""
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
AUDIO_FIELDS = frozenset({"id", "data", "transcript", "expires_at"})
"""Fields of a reply's audio; a request needs its id, but not the time at which it expires."""
_SOURCES = frozenset({"search_results", "citations"})
REPLY_FIELDS = frozenset({"id", "object", "model", "choices", "error", "obfuscation"})
"""Fields of a reply that never become metadata; `obfuscation` is padding."""


def has_field(name: str, value: Any, dialect: ChatDialect) -> bool:
    """Whether a `ModelCall` has a field for `name: value` in a request."""
    if name == "response_format":
        return is_schema(value)
    if name == "tools":
        return not are_other_tools(value)
    if name == "tool_choice":
        return not is_other_choice(value)
    return (
        name in _CALL_FIELDS or name == dialect.seed_field or read_thinking(name, value, dialect.thinking) is not None
    )


def has_details(dialect: ChatDialect) -> bool:
    """Whether reasoning may be objects (`DETAILS`, `BLOCKS`)."""
    return dialect.reasoning_field in (DETAILS, RECEIVED)


def message_fields(role: Role, dialect: ChatDialect) -> frozenset[str]:
    """Returns the fields of a message that the schema models."""
    known = _MESSAGE_FIELDS[role]
    if role != "assistant" or not has_details(dialect):
        return known
    return known | ({DETAILS, BLOCKS} if dialect.reasoning_field == RECEIVED else {DETAILS})


def reasoning_of(message: Object) -> tuple[str, str | None]:
    """Returns the reasoning next to an answer, as one text, and its field."""
    return next(((text, name) for name in REASONING_FIELDS if (text := text_of(message, name))), ("", None))


def is_schema(response_format: Any) -> bool:
    """Whether a response format has a schema."""
    return as_object(response_format).get("type") == "json_schema"


def citations_to_ours(message: Object) -> tuple[Citation, ...]:
    """Returns the web citations among the annotations of a message or a delta."""
    cited = [object_of(note, "url_citation") for note in objects_of(message, "annotations")]
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
    """Whether a field next to an answer may be its sources, as Perplexity sends them."""
    return not _SOURCES.isdisjoint(metadata)


def sources_to_ours(metadata: Mapping[str, Any]) -> tuple[Citation, ...]:
    """Returns the sources next to an answer: results with titles, else URLs only."""
    results = [(text_of(result, "url"), text_of(result, "title")) for result in objects_of(metadata, "search_results")]
    if not results:
        results = [(address, None) for address in texts_of(metadata, "citations")]
    return tuple(Citation(url, title) for url, title in results if url)


def citations_to_theirs(citations: tuple[Citation, ...], offset: int) -> list[Object]:
    """Returns annotations for a text that starts at `offset` of the message's text."""
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


def reply_fields(data: Object) -> Object:
    """Returns the fields of a reply or chunk that may be metadata or billing data."""
    fields = {name: value for name, value in data.items() if name not in REPLY_FIELDS and value is not None}
    if fields.get("created") == 0:
        del fields["created"]
    return fields


def metadata_to_ours(data: Object, table: BillingTable) -> Object:
    """Returns the fields of a reply that the schema does not model."""
    return table.rest(reply_fields(data))


def usage_to_ours(data: Object, table: BillingTable) -> Usage:
    """Returns the usage of a reply with the fields `data`; None for what is not reported."""
    return token_counts(object_of(data, "usage"), table.read(data))


def token_counts(data: Object, billing: Billing | None = None) -> Usage:
    """Returns the token counts; None for those that are not reported. DeepSeek has another name for cached ones."""
    usage = USAGE.read(data, billing)
    if usage.reasoning:
        usage = replace(usage, output=_output_tokens(data, usage.reasoning))
    if usage.cached is None and CACHE_HITS in data:
        usage = replace(usage, cached=count_of(data, CACHE_HITS))
    return usage


def usage_to_theirs(usage: Usage, table: BillingTable, beside: Object) -> Object:
    """Returns the fields of a reply with token counts and billing data, in nested objects, for one with `beside`."""
    counts = USAGE.write(usage)
    return merge({"usage": counts} if counts else {}, table.write(usage.billing, beside))


def _output_tokens(data: Object, reasoning: int) -> int | None:
    """Returns all output tokens. xAI's count excludes reasoning, though the total includes it."""
    completion = count_of(data, "completion_tokens")
    if completion is None:
        return completion
    if count_of(data, "total_tokens") != (count_of(data, "prompt_tokens") or 0) + completion + reasoning:
        return completion
    return completion + reasoning
