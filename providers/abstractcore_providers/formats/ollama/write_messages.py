"""Writes messages, with a warning for everything that the format cannot express.

A message has one text and one list of images. Reasoning is sent only to the model that wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ...common.call_options import name_options_left_out, reasoning_left_out, with_options
from ...common.conversations import in_order
from ...common.delta_writer import BodyWriter
from ...common.reading import Object
from .images import is_at_hand, write_image
from .vocabulary import CALL_FIELDS, MESSAGE_FIELDS, PROVIDER, WARNINGS

_NO_OBJECT = "Ollama's format has no object for texts and images"
_CONTENT_ORDER: dict[type[Part], int] = {ImagePart: 0, TextPart: 1}
"""The order of input parts: servers put the images before the text."""
_ASSISTANT_ORDER: dict[type[Part], int] = {ReasoningPart: 0, TextPart: 1, ToolCall: 2, ImagePart: 3}
"""The order in an assistant's message."""


def write_messages(messages: Iterable[Message], origin: str | None, writer: BodyWriter) -> list[Object]:
    """Returns the conversation with the model `origin`; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, or if no message is left.
    """
    written: list[Object] = []
    names: dict[str, str] = {}
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        if message.role == "tool":
            results = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, ToolResult)]
            written += [_result(part, names[part.call_id], f"{path}.parts[{i}]", writer) for i, part in results]
            continue
        if message.role == "assistant":
            names = {call.id: call.name for call in message.tool_calls}
            fields = _assistant(message, f"{path}.parts", origin, writer)
        else:
            fields = _content(message.parts, f"{path}.parts", writer)
        if len(fields) > 1 or fields["content"]:
            body = {"role": message.role, **fields}
            written.append(with_options(body, message, path, PROVIDER, MESSAGE_FIELDS[message.role], writer.warnings))
    if not written:
        raise WARNINGS.nothing_left()
    return written


def _content(parts: Iterable[Part], path: str, writer: BodyWriter) -> Object:
    """Returns the text and images of a user's or system message, or of a tool's result."""
    kept: list[tuple[int, Part]] = []
    for index, part in enumerate(parts):
        if isinstance(part, TextPart | ImagePart):
            kept.append((index, part))
        elif isinstance(part, OpaquePart):
            writer.warnings.append(WARNINGS.part(part, f"{path}[{index}]"))
        else:
            what = part.blob.media_type if isinstance(part, MEDIA_PARTS) else part.type
            raise UnsupportedContentError(
                f"{path}[{index}]: Ollama's format does not support {what}.", hint="It supports text and images."
            )
    body: Object = {"content": ""}
    for index, part in in_order(kept, _CONTENT_ORDER, path, writer.warnings):
        write_part(part, f"{path}[{index}]", body, writer)
    return body


def _assistant(message: Message, path: str, origin: str | None, writer: BodyWriter) -> Object:
    kept: list[tuple[int, Part]] = []
    for index, part in enumerate(message.parts):
        if is_writable(part) and (not isinstance(part, ReasoningPart) or part.origin == origin):
            kept.append((index, part))
        else:
            writer.warnings.append(_left_out(part, f"{path}[{index}]"))
    return write_assistant_parts(kept, path, writer)


def is_writable(part: Part) -> bool:
    """Whether an assistant's message has a field for it."""
    if isinstance(part, ReasoningPart):
        return bool(part.text)
    return isinstance(part, TextPart | ToolCall) or (isinstance(part, ImagePart) and is_at_hand(part))


def write_assistant_parts(kept: Sequence[tuple[int, Part]], path: str, writer: BodyWriter) -> Object:
    """Returns the fields of an assistant's message; each part comes with its index in `path`."""
    body: Object = {"content": ""}
    for index, part in in_order(kept, _ASSISTANT_ORDER, path, writer.warnings):
        write_part(part, f"{path}[{index}]", body, writer)
    return body


def _left_out(part: Part, path: str) -> CallWarning:
    if isinstance(part, ReasoningPart):
        return reasoning_left_out(path)
    return WARNINGS.part(part, path)


def write_part(part: Part, path: str, body: Object, writer: BodyWriter) -> None:
    """Adds `part` to `body`, which may already have parts of its kind."""
    if isinstance(part, TextPart):
        WARNINGS.fields(part, path, ("citations", "cache"), writer.warnings)
        name_options_left_out(part, path, PROVIDER, _NO_OBJECT, writer.warnings)
        body["content"] += part.text
    elif isinstance(part, ImagePart):
        WARNINGS.fields(part, path, ("cache",), writer.warnings)
        name_options_left_out(part, path, PROVIDER, _NO_OBJECT, writer.warnings)
        body.setdefault("images", []).append(write_image(part, path, writer.warnings))
    elif isinstance(part, ReasoningPart):
        WARNINGS.fields(part, path, ("signature", "redacted_data"), writer.warnings)
        body["thinking"] = body.get("thinking", "") + part.text
    elif isinstance(part, ToolCall):
        WARNINGS.fields(part, path, ("signature", "cache"), writer.warnings)
        calls = body.setdefault("tool_calls", [])
        calls.append(write_call(part, len(calls), path, writer))


def write_call(call: ToolCall, index: int, path: str, writer: BodyWriter) -> Object:
    """Returns a tool call, with its id for servers that support ids."""
    function: Object = {"index": index, "name": call.name}
    writer.put_arguments(function, call, path)
    body: Object = {"id": call.id, "type": "function", "function": function}
    return with_options(body, call, path, PROVIDER, CALL_FIELDS, writer.warnings)


def _result(result: ToolResult, name: str, path: str, writer: BodyWriter) -> Object:
    WARNINGS.fields(result, path, ("is_error", "cache"), writer.warnings)
    content = _content(result.content, f"{path}.content", writer)
    body = {"role": "tool", "tool_name": name, "tool_call_id": result.call_id, **content}
    return with_options(body, result, path, PROVIDER, MESSAGE_FIELDS["tool"], writer.warnings)
