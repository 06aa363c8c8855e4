"""Renders a reply as an unstreamed answer (server side)."""

from __future__ import annotations

from pydantic_core import to_json

from abstractcore.schema import CallWarning, ModelReply, Rendered

from ...common.reading import Object
from ...common.response_bodies import merge
from .answers import write_answer
from .vocabulary import BILLING, FINISH_REASONS, USAGE, WARNINGS, metadata_to_theirs, usage_to_theirs


def render(reply: ModelReply) -> Rendered:
    """Returns the body, with a warning for everything that the format cannot express.

    The model is named, beyond the format, for clients that need it for reasoning.
    """
    warnings: list[CallWarning] = []
    body: Object = {
        "id": reply.id or "",
        "message": {"role": "assistant", **write_answer(reply.parts, "parts", warnings)},
    }
    reason = FINISH_REASONS.to_theirs.get(reply.finish_reason)
    if reason is not None:
        body["finish_reason"] = reason
    if reply.model is not None:
        body["model"] = reply.model
    read = FINISH_REASONS.read(reason, calls=bool(reply.tool_calls))
    WARNINGS.finish_reason(reply.finish_reason, read, warnings)
    WARNINGS.counts(reply.usage, USAGE.missing, warnings)
    usage = usage_to_theirs(reply.usage)
    WARNINGS.billing(reply.usage.billing, BILLING.read(usage), warnings)
    fields = merge(metadata_to_theirs(reply.provider_metadata, warnings), usage)
    return Rendered(to_json(body | fields), tuple(warnings))
