"""Parts of a reply as output items (server side), each with an id that is its own in the reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from abstractcore.schema import (
    CallWarning,
    HostedToolCall,
    HostedToolResult,
    ModelReply,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
)

from ..json_reading import Object
from .citations import sayable, write_annotations
from .hosted import write_hosted
from .items import fields_for, opaque_item
from .reasoning import render_reasoning

Shown = TextPart | ReasoningPart | ToolCall
"""Parts that any reply can hold; the others are only for the provider that they came from."""


def shown_parts(parts: Sequence[Part], provider: str, warnings: list[CallWarning]) -> tuple[Part, ...]:
    """What the format can show of a reply's parts, with a warning for the rest."""
    kept: list[Part] = []
    following: Part | None = None
    for index, part in reversed(list(enumerate(parts))):
        path = f"parts[{index}]"
        if isinstance(part, TextPart | ReasoningPart | ToolCall):
            following = shown(part, path, warnings)
        elif _is_own(part, following, parts[index - 1] if index else None, provider):
            following = part
        else:
            message = f"the Responses format has no place for this {part.type} part"
            warnings.append(CallWarning("part_left_out", path, message))
            continue
        kept.insert(0, following)
    return ModelReply(tuple(kept)).parts


def _is_own(part: Part, following: Part | None, before: Part | None, provider: str) -> bool:
    """Whether it is an item of this very provider, as it was received, or belongs to one."""
    if isinstance(part, OpaquePart):
        known = opaque_item(part) is not None or fields_for(part, following) is not None
        return known and part.provider == provider
    if isinstance(part, HostedToolResult):
        return isinstance(before, HostedToolCall) and write_hosted(before, part, provider) is not None
    if isinstance(part, HostedToolCall):
        result = following if isinstance(following, HostedToolResult) else None
        return write_hosted(part, result, provider) is not None
    return False


def shown(part: Shown, path: str, warnings: list[CallWarning]) -> Shown:
    """The part without what the format has no place for."""
    if isinstance(part, ToolCall):
        if part.signature is not None:
            message = "the Responses format has no place for a call's signature"
            warnings.append(CallWarning("signature_left_out", f"{path}.signature", message))
        return replace(part, signature=None)
    if isinstance(part, ReasoningPart) or not part.citations:
        return part
    length = len(part.text)
    said = (sayable(c, length, f"{path}.citations[{i}]", warnings) for i, c in enumerate(part.citations))
    return replace(part, citations=tuple(said))


def output_items(parts: Sequence[Part], provider: str, refused: bool) -> list[Object]:
    """The items of parts that `shown_parts` gave."""
    items: list[Object] = []
    fields: Object = {}
    for index, part in enumerate(parts):
        following = parts[index + 1] if index + 1 < len(parts) else None
        if isinstance(part, TextPart | ReasoningPart | ToolCall):
            items.append({**output_item(part, len(items), refused), **fields})
            fields = {}
        elif isinstance(part, HostedToolCall):
            result = following if isinstance(following, HostedToolResult) else None
            items.append(cast(Object, write_hosted(part, result, provider)))
        elif isinstance(part, OpaquePart):
            item = opaque_item(part)
            if item is None:
                fields = fields_for(part, following) or {}
            else:
                items.append(item)
    return items


def output_item(part: Shown, number: int, refused: bool = False) -> Object:
    """The item number `number` of a reply."""
    if isinstance(part, ReasoningPart):
        return render_reasoning(part, f"rs_{number}")
    if isinstance(part, ToolCall):
        arguments: Any = {"call_id": part.id, "name": part.name, "arguments": part.arguments_text}
        return {"type": "function_call", "id": f"fc_{number}", **arguments, "status": "completed"}
    message: Object = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    return {**message, "content": [refusal(part) if refused else output_text(part)]}


def output_text(part: TextPart) -> Object:
    """A text as content of a message."""
    annotations = write_annotations(part.citations)
    return {"type": "output_text", "text": part.text, "annotations": annotations, "logprobs": []}


def refusal(part: TextPart) -> Object:
    """A refusal as content of a message; annotations are there only if it has some, which no client expects."""
    notes: Object = {"annotations": write_annotations(part.citations)} if part.citations else {}
    return {"type": "refusal", "refusal": part.text, **notes}
