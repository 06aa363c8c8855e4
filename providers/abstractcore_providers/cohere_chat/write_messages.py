"""Messages as the format writes them, with a warning for everything it has no place for.

An answer's blocks of text and reasoning keep their order. Text that came with tool calls is their plan (`tool_plan`);
reasoning goes back to the model it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_core import to_json

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ..data_urls import content_of, write_url
from ..json_reading import Object, as_object, read_json
from ..reordering import in_order
from .citations import citations_to_theirs, fitting

JSON_DOCUMENT = "application/json"
"""The type of a document among a tool's results: the JSON of its `data` and `id`."""


def write_messages(messages: Iterable[Message], origin: str | None, warnings: list[CallWarning]) -> list[Object]:
    """The conversation with the model `origin`; a message of which nothing is left is left out.

    Raises `UnsupportedContentError` for content without a shape here, or if no message is left.
    """
    written: list[Object] = []
    for index, message in enumerate(messages):
        path = f"messages[{index}].parts"
        if message.role == "tool":
            results = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, ToolResult)]
            written += [_tool_result(part, f"{path}[{i}]", warnings) for i, part in results]
        elif message.role == "assistant":
            written += _assistant(message, path, origin, warnings)
        elif message.parts == (TextPart(message.text),):
            written.append({"role": message.role, "content": message.text})
        else:
            kept = [part for i, part in enumerate(message.parts) if _is_kept(part, f"{path}[{i}]", warnings)]
            if kept:
                said = Message(message.role, tuple(_plain(kept)))
                written.append({"role": message.role, "content": _content(said.parts)})
    if not written:
        raise UnsupportedContentError("Cohere's chat format has no place for any part of these messages.")
    return written


def _is_kept(part: Part, path: str, warnings: list[CallWarning]) -> bool:
    """Whether a user's or system message can hold a part; warns of what it says beyond its content."""
    if isinstance(part, OpaquePart):
        warnings.append(_left_out(part, path))
        return False
    if not isinstance(part, TextPart | ImagePart):
        what = part.blob.media_type if isinstance(part, MEDIA_PARTS) else part.type
        raise UnsupportedContentError(
            f"{path}: Cohere's chat format cannot carry {what}.", hint="It carries text and images."
        )
    if isinstance(part, ImagePart) and part.blob.form in ("provider_file", "artifact"):
        content_of(part.blob, path)  # raises
    warn_of_fields(part, path, ("citations", "cache"), warnings)
    return True


def _plain(parts: Iterable[Part]) -> list[Part]:
    """Texts and images without cache points, so that neighbouring texts become one."""
    return [
        TextPart(part.text)
        if isinstance(part, TextPart)
        else ImagePart(part.blob, part.detail)
        if isinstance(part, ImagePart)
        else part
        for part in parts
    ]


def _content(parts: Sequence[Part]) -> Any:
    """One text as a string, anything else as a list."""
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return [_block(part) for part in parts]


def _block(part: Part) -> Object:
    """A block of content that has been checked."""
    if isinstance(part, ImagePart):
        image: Object = {"url": write_url(part.blob, "")}
        return {"type": "image_url", "image_url": image | ({"detail": part.detail} if part.detail else {})}
    if isinstance(part, DocumentPart):
        return {"type": "document", "document": _document(part, "")}
    if isinstance(part, ReasoningPart):
        return {"type": "thinking", "thinking": part.text}
    assert isinstance(part, TextPart)
    return {"type": "text", "text": part.text}


def _document(part: DocumentPart, path: str) -> Object:
    """A document that is one already: what a citation can name must have its own fields."""
    data = part.blob.read() if part.blob.form in ("bytes", "file") else b""
    try:
        document = as_object(read_json(data))
        is_own = part.blob.media_type == JSON_DOCUMENT and "data" in document and to_json(document) == data
    except ValueError:
        document, is_own = {}, False
    if not is_own:
        raise UnsupportedContentError(
            f"{path}: a tool's result holds {part.blob.media_type}, which Cohere's chat format cannot carry.",
            hint="Give its text.",
        )
    return document


def _tool_result(result: ToolResult, path: str, warnings: list[CallWarning]) -> Object:
    warn_of_fields(result, path, ("is_error", "cache"), warnings)
    for index, part in enumerate(result.content):
        place = f"{path}.content[{index}]"
        if not isinstance(part, TextPart | DocumentPart):
            raise UnsupportedContentError(
                f"{place}: the result of tool call {result.call_id!r} holds {part.type}; Cohere takes text there only.",
                hint="Put it into a user message after the result.",
            )
        warn_of_fields(part, place, ("citations", "cache"), warnings)
        if isinstance(part, DocumentPart):
            _document(part, place)
    shown = [DocumentPart(part.blob) if isinstance(part, DocumentPart) else part for part in _plain(result.content)]
    said = ToolResult(result.call_id, tuple(shown)).content  # pyright: ignore[reportArgumentType]
    content = _content(said) if said else ""
    return {"role": "tool", "tool_call_id": result.call_id, "content": content}


def _assistant(message: Message, path: str, origin: str | None, warnings: list[CallWarning]) -> list[Object]:
    kept: list[tuple[int, Part]] = []
    for index, part in enumerate(message.parts):
        said = _said(part, f"{path}[{index}]", origin, warnings)
        if said is not None:
            kept.append((index, said))
    rank = _rank_with_calls if message.tool_calls else _no_rank
    ordered = tuple(part for _, part in in_order(kept, rank, path, warnings))
    return [{"role": "assistant", **answer_body(Message("assistant", ordered).parts, plan=True)}] if ordered else []


def _said(part: Part, path: str, origin: str | None, warnings: list[CallWarning]) -> Part | None:
    """What of a part of an earlier answer can be sent back."""
    if isinstance(part, TextPart):
        warn_of_fields(part, path, ("cache",), warnings)
        return fitting(part, path, warnings)
    if isinstance(part, ToolCall):
        warn_of_fields(part, path, ("signature", "cache"), warnings)
        return part
    if isinstance(part, ReasoningPart) and part.text and part.origin == origin:
        warn_of_fields(part, path, ("signature", "redacted_data"), warnings)
        return ReasoningPart(part.text, origin=origin)
    warnings.append(_left_out(part, path))
    return None


def _rank_with_calls(part: Part) -> int:
    return next(i for i, kind in enumerate((ReasoningPart, TextPart, ToolCall)) if isinstance(part, kind))


def _no_rank(part: Part) -> int:
    return 0


def answer_body(parts: Sequence[Part], *, plan: bool) -> Object:
    """The fields of an assistant's message; with `plan`, text beside tool calls is their plan."""
    blocks: list[Object] = []
    calls: list[Object] = []
    citations: list[Object] = []
    body: Object = {}
    plan = plan and any(isinstance(part, ToolCall) for part in parts)
    for part in parts:
        if isinstance(part, ToolCall):
            function = {"name": part.name, "arguments": part.arguments_text}
            calls.append({"id": part.id, "type": "function", "function": function})
            continue
        if isinstance(part, TextPart):
            citations += citations_to_theirs(part, None if plan else len(blocks))
            if plan:
                body["tool_plan"] = part.text
                continue
        blocks.append(_block(part))
    fields = {"content": blocks, "tool_calls": calls, "citations": citations}
    return body | {name: value for name, value in fields.items() if value}


def _left_out(part: Part, path: str) -> CallWarning:
    if isinstance(part, ReasoningPart):
        return CallWarning("reasoning_left_out", path, "reasoning goes back only to the model it came from")
    return CallWarning("part_left_out", path, f"Cohere's chat format has no place for {part.type} parts")


def warn_of_fields(item: object, path: str, names: tuple[str, ...], warnings: list[CallWarning]) -> None:
    """Warn of what a part says beyond what the format has a place for."""
    for name in names:
        if getattr(item, name, None) not in (None, False, ()):
            message = f"Cohere's chat format has no place for {name}"
            warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message))
