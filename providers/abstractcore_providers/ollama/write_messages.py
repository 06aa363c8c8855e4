"""Messages as the format writes them, with a warning for everything it has no place for.

A message has one text and one list of images. Reasoning goes back to the model it came from.
"""

from __future__ import annotations

from collections.abc import Iterable

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

from ..json_reading import Object
from ..reordering import in_order
from ..tool_arguments import arguments_object
from .images import is_at_hand, write_image


def write_messages(messages: Iterable[Message], origin: str | None, warnings: list[CallWarning]) -> list[Object]:
    """The conversation with the model `origin`; a message of which nothing is left is left out.

    Raises `UnsupportedContentError` for content without a shape here, or if no message is left.
    """
    written: list[Object] = []
    names: dict[str, str] = {}
    for index, message in enumerate(messages):
        path = f"messages[{index}].parts"
        if message.role == "tool":
            results = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, ToolResult)]
            written += [_tool_result(part, names[part.call_id], f"{path}[{i}]", warnings) for i, part in results]
            continue
        if message.role == "assistant":
            names = {call.id: call.name for call in message.tool_calls}
            body = _assistant(message, path, origin, warnings)
        else:
            body = _content(message.parts, path, warnings)
        if body.keys() - {"content"} or body["content"]:
            written.append({"role": message.role, **body})
    if not written:
        raise UnsupportedContentError("Ollama's format has no place for any part of these messages.")
    return written


def _content(parts: Iterable[Part], path: str, warnings: list[CallWarning]) -> Object:
    """The text and images of a user's or system message, or of a tool's result."""
    kept: list[tuple[int, Part]] = []
    for index, part in enumerate(parts):
        place = f"{path}[{index}]"
        if isinstance(part, OpaquePart):
            warnings.append(_left_out(part, place))
        elif isinstance(part, TextPart | ImagePart):
            kept.append((index, part))
        else:
            what = part.blob.media_type if isinstance(part, MEDIA_PARTS) else part.type
            raise UnsupportedContentError(
                f"{place}: Ollama's format cannot carry {what}.", hint="It carries text and images."
            )
    body: Object = {"content": ""}
    for index, part in in_order(kept, _shown_rank, path, warnings):
        _write_part(part, f"{path}[{index}]", body, warnings)
    return body


def _shown_rank(part: Part) -> int:
    """Servers put the images before the text."""
    return 0 if isinstance(part, ImagePart) else 1


def said_rank(part: Part) -> int:
    """The order in an assistant's message: reasoning, text, tool calls, images."""
    return next(i for i, kind in enumerate((ReasoningPart, TextPart, ToolCall, ImagePart)) if isinstance(part, kind))


def _assistant(message: Message, path: str, origin: str | None, warnings: list[CallWarning]) -> Object:
    kept: list[tuple[int, Part]] = []
    for index, part in enumerate(message.parts):
        if _can_be_said(part, origin):
            kept.append((index, part))
        else:
            warnings.append(_left_out(part, f"{path}[{index}]"))
    body: Object = {"content": ""}
    for index, part in in_order(kept, said_rank, path, warnings):
        _write_part(part, f"{path}[{index}]", body, warnings)
    return body


def _can_be_said(part: Part, origin: str | None) -> bool:
    if isinstance(part, ReasoningPart):
        return bool(part.text) and part.origin == origin
    return isinstance(part, TextPart | ToolCall) or (isinstance(part, ImagePart) and is_at_hand(part))


def _left_out(part: Part, path: str) -> CallWarning:
    if isinstance(part, ReasoningPart):
        return CallWarning("reasoning_left_out", path, "reasoning goes back only to the model it came from")
    return CallWarning("part_left_out", path, f"Ollama's format has no place for {part.type} parts")


def _write_part(part: Part, path: str, body: Object, warnings: list[CallWarning]) -> None:
    """Puts `part` into `body`, which parts of its kind may be in already."""
    if isinstance(part, TextPart):
        warn_of_fields(part, path, ("citations", "cache"), warnings)
        body["content"] += part.text
    elif isinstance(part, ImagePart):
        warn_of_fields(part, path, ("cache",), warnings)
        body.setdefault("images", []).append(write_image(part, path, warnings))
    elif isinstance(part, ReasoningPart):
        warn_of_fields(part, path, ("signature", "redacted_data"), warnings)
        body["thinking"] = body.get("thinking", "") + part.text
    elif isinstance(part, ToolCall):
        warn_of_fields(part, path, ("signature", "cache"), warnings)
        calls = body.setdefault("tool_calls", [])
        calls.append(write_call(part, len(calls), path, warnings))


def write_call(call: ToolCall, index: int, path: str, warnings: list[CallWarning]) -> Object:
    """A tool call, with its id for the servers that know ids."""
    function = {"index": index, "name": call.name, "arguments": arguments_object(call, path, warnings)}
    return {"id": call.id, "type": "function", "function": function}


def _tool_result(result: ToolResult, name: str, path: str, warnings: list[CallWarning]) -> Object:
    warn_of_fields(result, path, ("is_error", "cache"), warnings)
    head: Object = {"role": "tool", "tool_name": name, "tool_call_id": result.call_id}
    return head | _content(result.content, f"{path}.content", warnings)


def warn_of_fields(item: object, path: str, names: tuple[str, ...], warnings: list[CallWarning]) -> None:
    """Warn of what a part says beyond what the format has a place for."""
    for name in names:
        if getattr(item, name) not in (None, False, ()):
            message = f"Ollama's format has no place for {name}"
            warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message))
