"""Renders a reply as an unstreamed answer (server side)."""

from __future__ import annotations

from abstractcore.schema import CallWarning, ModelReply, Rendered

from ...common.delta_writer import BodyWriter
from ...common.reading import Object
from .encode import is_writable, write_assistant_parts
from .vocabulary import (
    ARGUMENTS,
    PROVIDER,
    USAGE,
    WARNINGS,
    finish_reason_to_ours,
    finish_reason_to_theirs,
    metadata_to_theirs,
)


def render(reply: ModelReply) -> Rendered:
    """Returns the body, with a warning for everything that the format cannot express."""
    writer = BodyWriter(PROVIDER, ARGUMENTS, one_line=True)
    warnings = writer.warnings
    body: Object = {"model": reply.model or "", "message": _message(reply, writer), "done": True}
    reason = finish_reason_to_theirs(reply.finish_reason, calls=bool(reply.tool_calls))
    if reason is not None:
        body["done_reason"] = reason
    read = finish_reason_to_ours(reason, calls=bool(reply.tool_calls))
    WARNINGS.finish_reason(reply.finish_reason, read, warnings)
    if reply.id is not None:
        warnings.append(CallWarning("id_left_out", "id", "replies have no id in Ollama's format", reply.id))
    WARNINGS.billing(reply.usage.billing, None, warnings)
    WARNINGS.counts(reply.usage, USAGE.missing, warnings)
    metadata = metadata_to_theirs(dict(reply.provider_metadata), warnings)
    return Rendered(writer.json(body | USAGE.write(reply.usage) | metadata), tuple(warnings))


def _message(reply: ModelReply, writer: BodyWriter) -> Object:
    for index, part in enumerate(reply.parts):
        if not is_writable(part):
            writer.warnings.append(WARNINGS.part(part, f"parts[{index}]"))
    kept = [(index, part) for index, part in enumerate(reply.parts) if is_writable(part)]
    return {"role": "assistant", **write_assistant_parts(kept, "parts", writer)}
