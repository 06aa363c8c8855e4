"""Values and field names of the format and their counterparts in the schema.

Token counts and billing data of a response.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstractcore.schema import Billing, FinishReason, Sampling, Usage

from ...common.call_options import FieldTable, FormatWarnings
from ...common.reading import Object, object_of, objects_of, text_of
from ...common.response_bodies import BillingTable, FinishReasons, UsageTable
from .client_tools import calls_client

USAGE = UsageTable(
    {
        "input": "input_tokens",
        "output": "output_tokens",
        "total": "total_tokens",
        "cached": "input_tokens_details.cached_tokens",
        "cache_written": "input_tokens_details.cache_write_tokens",
        "reasoning": "output_tokens_details.reasoning_tokens",
    }
)
BILLING = BillingTable(
    tier="service_tier",
    ticks="usage.cost_in_usd_ticks",
    counts={
        "cache_write_30m": "usage.input_tokens_details.cache_write_tokens_details.ttl_30m_tokens",
        "cache_write_12h": "usage.input_tokens_details.cache_write_tokens_details.ttl_12h_tokens",
        "web_search": "tool_usage.web_search.num_requests",
    },
    others=(f"usage.{name}" for name in USAGE.names),
)
"""OpenAI (https://developers.openai.com/api/reference/resources/responses); the cost is a field of xAI's server
(https://docs.x.ai/developers/cost-tracking).
"""
_FILE_SEARCH = "file_search_call"


def usage_to_ours(data: Object, items: Sequence[Object]) -> Usage:
    """Returns the usage of a response with these output items; None for what is not reported."""
    return USAGE.read(object_of(data, "usage"), billing_to_ours(data, items))


def billing_to_ours(data: Object, items: Sequence[Object]) -> Billing | None:
    """Returns the billing data of a response. Each search in files is billed, and has an output item."""
    billing = BILLING.read(data)
    searches = sum(item.get("type") == _FILE_SEARCH for item in items)
    if not searches:
        return billing
    billing = billing or Billing()
    return replace(billing, counts={**billing.counts, "file_search": searches})


_TAKEN = ("max_output_tokens", "temperature", "top_p", "top_logprobs")
SAMPLING = FieldTable(
    Sampling,
    {name: name for name in _TAKEN},
    unsupported=("top_k", "seed", "stop", "presence_penalty", "frequency_penalty"),
)

WARNINGS = FormatWarnings("the Responses format")
_INCOMPLETE: dict[str, FinishReason] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
    "steered": "paused",
}
"""`IncompleteDetails` in the types of the `openai` package 3.54. A steered response has a successor."""
_UNFINISHED = FinishReasons(
    {**dict.fromkeys(("cancelled", "failed"), "unknown"), **dict.fromkeys(("in_progress", "queued"), "paused")}, {}
)
"""A response in the background is `queued`, then `in_progress` (developers.openai.com/api/docs/guides/background)."""
_REASONS: dict[FinishReason, str] = {"length": "max_output_tokens", "content_filter": "content_filter"}
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
"""Fields of a response that repeat its request."""
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
}
"""Fields of a response that never become metadata."""


def finish_reason_to_ours(data: Object, items: Sequence[Object]) -> tuple[FinishReason, str | None]:
    """Returns the finish reason of a response with these output items: ours and the format's own."""
    status = text_of(data, "status")
    if status == "incomplete":
        why = text_of(object_of(data, "incomplete_details"), "reason")
        return _INCOMPLETE.get(why or "", "unknown"), why or status
    calls = calls_client(items)
    if status not in ("completed", None):
        return _UNFINISHED.read(status, calls=calls), status
    if any(part.get("type") == "refusal" for item in items for part in objects_of(item, "content")):
        return "refusal", status
    return "tool_calls" if calls else "stop", status


def finish_reason_to_theirs(reason: FinishReason) -> Object:
    """Returns the fields for a finish reason."""
    if reason in _REASONS:
        return {"status": "incomplete", "incomplete_details": {"reason": _REASONS[reason]}}
    return {"status": "completed", "incomplete_details": None}


def metadata_to_ours(data: Object, items: Sequence[Object]) -> Object:
    """Returns the fields of a response that the schema does not model; log probabilities are those of all texts, in
    order.
    """
    metadata = BILLING.rest({name: value for name, value in data.items() if name not in REPLY_FIELDS})
    if metadata.get("created_at") == 0:
        del metadata["created_at"]
    if metadata.get("metadata") == {}:
        del metadata["metadata"]
    logprobs = [
        token for item in items for part in objects_of(item, "content") for token in objects_of(part, "logprobs")
    ]
    return {**metadata, "logprobs": logprobs} if logprobs else metadata
