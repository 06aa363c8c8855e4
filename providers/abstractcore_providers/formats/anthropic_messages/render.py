"""Renders a reply as a `message` object (server side)."""

from __future__ import annotations

from collections.abc import Iterable

from abstractcore.schema import CallWarning, ModelReply, Part, ReasoningPart, Rendered, TextPart, ToolCall

from ...common.call_options import name_options_left_out, with_options
from ...common.conversations import HOLE, written_with
from ...common.reading import Object
from .blocks import citation_to_theirs, cited_blocks, input_text, spanned_citations, write_own
from .content import BLOCK_FIELDS, append_block
from .dialect import MessagesDialect
from .vocabulary import (
    FINISH_REASONS,
    WARNINGS,
    billing_to_ours,
    counts_left_out,
    finish_reason_to_theirs,
    metadata_to_theirs,
    usage_to_theirs,
)
from .write_messages import thinking_block


def render(reply: ModelReply, dialect: MessagesDialect) -> Rendered:
    """Returns the body, with a warning for everything that the format cannot express."""
    warnings: list[CallWarning] = []
    inputs: list[str] = []
    metadata, of_usage = metadata_to_theirs(reply.provider_metadata, warnings)
    usage = usage_to_theirs(reply.usage, of_usage)
    WARNINGS.counts(reply.usage, counts_left_out(reply.usage), warnings, "usage_left_out")
    WARNINGS.billing(reply.usage.billing, billing_to_ours(usage), warnings)
    body: Object = {
        "id": reply.id or "",
        "type": "message",
        "role": "assistant",
        "model": reply.model or "",
        "content": _blocks(reply.parts, dialect.provider, inputs, warnings),
        "stop_reason": _finish_reason(reply, warnings),
        "stop_sequence": None,
        "usage": usage,
        **metadata,
    }
    return Rendered(written_with(body, "input", inputs), tuple(warnings))


def _finish_reason(reply: ModelReply, warnings: list[CallWarning]) -> str:
    theirs = finish_reason_to_theirs(reply.finish_reason, reply.raw_finish_reason)
    read = FINISH_REASONS.read(theirs, calls=bool(reply.tool_calls))
    WARNINGS.finish_reason(reply.finish_reason, read, warnings)
    return theirs


def _blocks(parts: Iterable[Part], provider: str, inputs: list[str], warnings: list[CallWarning]) -> list[Object]:
    blocks: list[Object] = []
    for index, part in enumerate(parts):
        path = f"parts[{index}]"
        if isinstance(part, TextPart):
            for block in _texts(part, path, provider, warnings):
                append_block(blocks, block)
        elif isinstance(part, ReasoningPart):
            redacted = part.redacted_data is not None and not part.text
            _append_thinking(blocks, thinking_block(part, redacted, path, warnings))
        elif isinstance(part, ToolCall):
            blocks.append(_call(part, path, provider, inputs, warnings))
        else:
            blocks += write_own(part, path, provider, inputs, warnings)
    return blocks


def _append_thinking(blocks: list[Object], block: Object) -> None:
    """Appends `block` to `blocks`. Adjacent unsigned thinking is merged, since the format does not separate it."""
    if blocks and _is_unsigned(blocks[-1]) and _is_unsigned(block):
        blocks[-1]["thinking"] += block["thinking"]
    else:
        blocks.append(block)


def _is_unsigned(block: Object) -> bool:
    return block["type"] == "thinking" and not block.get("signature")


def _texts(part: TextPart, path: str, provider: str, warnings: list[CallWarning]) -> list[Object]:
    """Returns a text as several blocks, for its citations, or as one if it has options."""
    if provider not in part.provider_options:
        name_options_left_out(part, path, provider, "", warnings)
        return cited_blocks(part, path, citation_to_theirs, warnings)
    block: Object = {"type": "text", "text": part.text}
    citations = spanned_citations(part, path, warnings)
    if citations:
        block["citations"] = citations
    return [with_options(block, part, path, provider, BLOCK_FIELDS["text"], warnings)]


def _call(part: ToolCall, path: str, provider: str, inputs: list[str], warnings: list[CallWarning]) -> Object:
    """Returns a call. Arguments that are not an object are in an extra field, for clients that know it."""
    WARNINGS.fields(part, path, ("signature",), warnings)
    block: Object = {"type": "tool_use", "id": part.id, "name": part.name, "input": HOLE}
    inputs.append(input_text(part))
    if not part.arguments_text:
        message = "missing arguments are sent as an empty object"
        warnings.append(CallWarning("arguments_changed", f"{path}.arguments_text", message, "", inputs[-1]))
    elif part.arguments_text != inputs[-1]:
        block["partial_json"] = part.arguments_text
    return with_options(block, part, path, provider, BLOCK_FIELDS["tool_use"], warnings)
