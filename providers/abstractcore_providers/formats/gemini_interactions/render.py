"""Renders a reply as an `Interaction` object (server side)."""

from __future__ import annotations

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import CallWarning, JSONObject, ModelReply, Rendered, ToolCall, Usage

from ...common.delta_writer import BodyWriter
from ...common.reading import Object
from .vocabulary import (
    ARGUMENTS,
    WARNINGS,
    finish_reason_to_ours,
    finish_reason_to_theirs,
    is_metadata,
    sent_billing,
    usage_to_theirs,
    with_extra_usage,
)
from .write_steps import StepWriter


def render(reply: ModelReply, provider: str) -> Rendered:
    """Returns the body, with a warning for everything that the format cannot express."""
    writer = BodyWriter(provider, ARGUMENTS)
    steps = StepWriter(writer)
    for index, part in enumerate(reply.parts):
        path = f"parts[{index}]"
        before = len(writer.warnings)
        try:
            steps.add(part, path, part.id if isinstance(part, ToolCall) else "")
        except UnsupportedContentError as error:
            del writer.warnings[before:]
            writer.warnings.append(CallWarning("part_left_out", path, error.message))
    status = finish_reason_to_theirs(reply.finish_reason, bool(reply.tool_calls))
    body: Object = {**head(reply.id, reply.model, status), "steps": steps.finish()}
    read = finish_reason_to_ours(status, bool(reply.tool_calls))
    WARNINGS.finish_reason(reply.finish_reason, read, writer.warnings)
    body |= ending(reply.usage, reply.provider_metadata, writer.warnings)
    return Rendered(writer.json(body), tuple(writer.warnings))


def head(id: str | None, model: str | None, status: str) -> Object:
    """Returns the fields that clients expect of every interaction, also of one that has just started."""
    named: Object = {} if model is None else {"model": model}
    return {"id": id or "", "object": "interaction", "status": status, **named}


def ending(usage: Usage, metadata: JSONObject, warnings: list[CallWarning]) -> Object:
    """Returns the fields that a finished interaction has: usage, service tier and metadata."""
    written = {name: value for name, value in metadata.items() if is_metadata(name)}
    counts = usage_to_theirs(usage, warnings)
    whole = with_extra_usage(counts, usage, metadata.get("usage"))
    sent = written if whole is None else {**written, "usage": whole}
    WARNINGS.metadata(metadata, {name: metadata[name] for name in metadata if name in sent}, warnings)
    WARNINGS.billing(usage.billing, sent_billing(usage.billing), warnings)
    if usage.billing is not None and usage.billing.tier is not None:
        written = {**written, "service_tier": usage.billing.tier}
    counts = counts if whole is None else whole
    return {**written, "usage": counts} if counts else dict(written)
