"""Renders a reply as a `response` object (server side)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import to_json

from abstractcore.schema import CallWarning, JSONObject, ModelReply, Rendered

from ...common.reading import Object
from ...common.response_bodies import merge
from .output import output_items, shown_parts
from .vocabulary import (
    BILLING,
    REPLY_FIELDS,
    USAGE,
    WARNINGS,
    billing_to_ours,
    finish_reason_to_ours,
    finish_reason_to_theirs,
)


def render(reply: ModelReply, provider: str) -> Rendered:
    """Returns the body, with a warning for everything that the format cannot express."""
    warnings: list[CallWarning] = []
    return Rendered(to_json(response_object(reply, provider, warnings)), tuple(warnings))


def response_object(reply: ModelReply, provider: str, warnings: list[CallWarning]) -> Object:
    """Returns the response, and adds to `warnings`."""
    refused = reply.finish_reason == "refusal"
    items = output_items(shown_parts(reply.parts, provider, warnings), provider, refused)
    metadata = _metadata(reply.provider_metadata, items, warnings)
    ending = finish_reason_to_theirs(reply.finish_reason)
    read, _ = finish_reason_to_ours(ending, items)
    WARNINGS.finish_reason(reply.finish_reason, read, warnings)
    WARNINGS.counts(reply.usage, USAGE.missing, warnings, "usage_left_out")
    usage = USAGE.write(reply.usage)
    fields = merge(metadata, {"usage": usage} if usage else {})
    body = {
        **response_head(reply.id, reply.model),
        **ending,
        "output": items,
        **merge(fields, BILLING.write(reply.usage.billing)),
    }
    WARNINGS.billing(reply.usage.billing, billing_to_ours(body, items), warnings)
    return body


def response_head(id: str | None, model: str | None) -> Object:
    """Returns the fields that clients expect of every response, also of one that has just started."""
    return {
        "id": id or "",
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model or "",
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
    }


def _metadata(metadata: JSONObject, items: Sequence[Object], warnings: list[CallWarning]) -> Object:
    """Returns the extra fields of the response; log probabilities go to the first text among `items`."""
    are_sent = _are_logprobs(metadata.get("logprobs")) and _add_logprobs(items, metadata["logprobs"])
    own_fields = {name: value for name, value in metadata.items() if name != "logprobs" or not are_sent}
    written = {name: value for name, value in own_fields.items() if not _has_other_meaning(name, value)}
    sent = {name: value for name, value in metadata.items() if name in written or name not in own_fields}
    WARNINGS.metadata(metadata, sent, warnings)
    return written


def _has_other_meaning(name: str, value: Any) -> bool:
    if name == "created_at":
        return not _is_time(value)
    return name in REPLY_FIELDS or (name == "metadata" and not value) or not BILLING.is_rest(name, value)


def _are_logprobs(value: Any) -> bool:
    return (
        isinstance(value, list) and value != [] and all(isinstance(token, dict) for token in cast("list[Any]", value))
    )


def _add_logprobs(items: Sequence[Object], logprobs: Any) -> bool:
    for item in items:
        if item["type"] == "message" and item["content"][0]["type"] == "output_text":
            item["content"][0]["logprobs"] = logprobs
            return True
    return False


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value != 0
