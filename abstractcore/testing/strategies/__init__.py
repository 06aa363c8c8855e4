"""Hypothesis strategies for every object of the schema, in canonical form."""

from .call import calls, hosted_tools, output_schemas, samplings, tool_specs
from .record import deltas, streams
from .record import PROVIDER_ERRORS, errors
from .call import conversations, messages
from .part import (
    audio_parts,
    blobs,
    blobs_elsewhere,
    cache_points,
    citations,
    content_parts,
    document_parts,
    hosted_parts,
    image_parts,
    item_options,
    json_objects,
    json_values,
    names,
    numbers,
    opaque_parts,
    parts,
    reasoning_parts,
    reply_parts,
    text_parts,
    texts,
    tool_arguments,
    tool_calls,
    tool_results,
    video_parts,
)
from .record import call_records
from .reply import replies
from .reply import attempt_records, media_decisions, responses
from .tool_loop import journal_entries, tool_answers, tool_loops, tool_steps
from .record import transcripts
from .reply import billings, usages
from .reply import call_warnings

__all__ = [
    "PROVIDER_ERRORS",
    "attempt_records",
    "audio_parts",
    "billings",
    "blobs",
    "blobs_elsewhere",
    "cache_points",
    "call_records",
    "call_warnings",
    "calls",
    "citations",
    "content_parts",
    "conversations",
    "deltas",
    "document_parts",
    "errors",
    "hosted_parts",
    "hosted_tools",
    "image_parts",
    "item_options",
    "journal_entries",
    "json_objects",
    "json_values",
    "media_decisions",
    "messages",
    "names",
    "numbers",
    "opaque_parts",
    "output_schemas",
    "parts",
    "reasoning_parts",
    "replies",
    "reply_parts",
    "responses",
    "samplings",
    "streams",
    "text_parts",
    "texts",
    "tool_answers",
    "tool_arguments",
    "tool_calls",
    "tool_loops",
    "tool_results",
    "tool_specs",
    "tool_steps",
    "transcripts",
    "usages",
    "video_parts",
]
