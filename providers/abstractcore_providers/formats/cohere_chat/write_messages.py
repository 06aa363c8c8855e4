"""Writes messages, with a warning for everything that the format cannot express."""

from __future__ import annotations

from collections.abc import Sequence

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    TextPart,
    ToolCall,
    ToolResult,
)

from ...common.call_options import with_options
from ...common.conversations import append_block, as_content, refuse_unanswered_calls, with_valid_text
from ...common.reading import Object
from .answers import write_answer
from .blocks import document_block, image_block, text_block
from .vocabulary import MESSAGE_FIELDS, PROVIDER, WARNINGS

_LOST = ("citations", "cache")


def write_messages(messages: Sequence[Message], origin: str | None, warnings: list[CallWarning]) -> list[Object]:
    """Returns the conversation with the model `origin`; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, or if no message is left.
    """
    refuse_unanswered_calls(messages)
    written: list[Object] = []
    for index, message in enumerate(messages):
        path, role = f"messages[{index}]", message.role
        if role == "tool":
            results = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, ToolResult)]
            written += [_tool_result(part, f"{path}.parts[{i}]", warnings) for i, part in results]
            continue
        if role == "assistant":
            parts = [
                with_valid_text(part, f"{path}.parts[{i}]", warnings) if isinstance(part, ToolCall) else part
                for i, part in enumerate(message.parts)
            ]
            body = write_answer(parts, f"{path}.parts", warnings, planned=True, origin=origin)
        else:
            body = _content(message, f"{path}.parts", warnings)
        if body:
            body = {"role": role, **body}
            written.append(with_options(body, message, path, PROVIDER, MESSAGE_FIELDS[role], warnings))
    if not written:
        raise WARNINGS.nothing_left()
    return written


def _content(message: Message, path: str, warnings: list[CallWarning]) -> Object:
    """Returns the content of a user's or system message; empty if there is none."""
    blocks: list[Object] = []
    for index, part in enumerate(message.parts):
        block = _block(part, f"{path}[{index}]", warnings)
        if block is not None:
            append_block(blocks, block)
    return {"content": as_content(blocks)} if blocks else {}


def _block(part: Part, path: str, warnings: list[CallWarning]) -> Object | None:
    if isinstance(part, TextPart):
        return text_block(part, path, _LOST, warnings)
    if isinstance(part, ImagePart):
        return image_block(part, path, warnings)
    if isinstance(part, OpaquePart):
        warnings.append(WARNINGS.part(part, path))
        return None
    what = part.blob.media_type if isinstance(part, MEDIA_PARTS) else part.type
    raise UnsupportedContentError(
        f"{path}: Cohere's chat format does not support {what}.", hint="It supports text and images."
    )


def _tool_result(result: ToolResult, path: str, warnings: list[CallWarning]) -> Object:
    WARNINGS.fields(result, path, ("is_error", "cache"), warnings)
    blocks: list[Object] = []
    for index, part in enumerate(result.content):
        part_path = f"{path}.content[{index}]"
        if isinstance(part, TextPart):
            append_block(blocks, text_block(part, part_path, _LOST, warnings))
        elif isinstance(part, DocumentPart):
            blocks.append(document_block(part, part_path, warnings))
        else:
            raise UnsupportedContentError(
                f"{part_path}: the result of tool call {result.call_id!r} has {part.type}: only text is supported.",
                hint="Put it into a user message after the result.",
            )
    body: Object = {"role": "tool", "tool_call_id": result.call_id, "content": as_content(blocks) if blocks else ""}
    return with_options(body, result, path, PROVIDER, (), warnings)
