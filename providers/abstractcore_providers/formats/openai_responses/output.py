"""Parts of a reply as output items (server side), each with an id that is unique in the reply."""

from __future__ import annotations

from collections.abc import Container, Sequence
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

from ...common.call_options import fields_for, with_options_for
from ...common.reading import Object
from .client_tools import as_sent, called_tool, client_item, fit_client_call, render_reasoning
from .items import fit_citation, hosted_calls_of, modelled_fields, opaque_item, write_annotations, write_hosted
from .vocabulary import WARNINGS

Shown = TextPart | ReasoningPart | ToolCall
"""Parts of any provider; the others are only sent to the provider that they came from."""


def shown_parts(parts: Sequence[Part], provider: str, warnings: list[CallWarning]) -> tuple[Part, ...]:
    """Returns the parts of a reply that the format supports, with a warning for the rest."""
    kept: list[Part] = []
    hosted = hosted_calls_of(parts)
    following: Part | None = None
    for index, part in reversed(list(enumerate(parts))):
        path = f"parts[{index}]"
        if isinstance(part, ToolCall) and not _is_sayable(part, provider):
            warnings.append(WARNINGS.part(part, path))
            continue
        if isinstance(part, TextPart | ReasoningPart | ToolCall):
            following = shown(part, path, provider, warnings)
        elif _is_own(part, following, parts[index - 1] if index else None, provider, hosted):
            following = part
        else:
            warnings.append(WARNINGS.part(part, path))
            continue
        kept.insert(0, following)
    return ModelReply(tuple(kept)).parts


def _is_sayable(call: ToolCall, provider: str) -> bool:
    """Whether it is the call of a function, or complete: one of a stream that broke off has no item."""
    tool = called_tool(call, provider)
    return tool is None or client_item(as_sent(call, tool), provider) is not None


def _is_own(part: Part, following: Part | None, before: Part | None, provider: str, hosted: Container[str]) -> bool:
    """Whether it is an unchanged item of this very provider, or belongs to one."""
    if isinstance(part, OpaquePart):
        return part.provider == provider and opaque_item(part, hosted) is not None
    if isinstance(part, HostedToolResult):
        return isinstance(before, HostedToolCall) and write_hosted(before, part, provider) is not None
    if isinstance(part, HostedToolCall):
        result = following if isinstance(following, HostedToolResult) else None
        return write_hosted(part, result, provider) is not None
    return False


def shown(part: Shown, path: str, provider: str, warnings: list[CallWarning]) -> Shown:
    """Returns the part without the fields that the format does not have."""
    if isinstance(part, ReasoningPart):
        return part
    if isinstance(part, ToolCall):
        part = fit_client_call(part, path, provider, warnings)
    part = with_options_for(part, path, provider, modelled_fields(part, provider), warnings)
    if isinstance(part, ToolCall):
        WARNINGS.fields(part, path, ("signature",), warnings)
        return replace(part, signature=None)
    if not part.citations:
        return part
    length = len(part.text)
    fitted = (fit_citation(c, length, f"{path}.citations[{i}]", warnings) for i, c in enumerate(part.citations))
    return replace(part, citations=tuple(fitted))


def output_items(parts: Sequence[Part], provider: str, refused: bool) -> list[Object]:
    """Returns the items of parts that `shown_parts` returned."""
    items: list[Object] = []
    hosted = hosted_calls_of(parts)
    for index, part in enumerate(parts):
        if isinstance(part, ReasoningPart):
            items.append(output_item(part, len(items)))
        elif isinstance(part, TextPart):
            items.append({**output_item(part, len(items), refused), **fields_for(part, provider)})
        elif isinstance(part, ToolCall):
            own = client_item(part, provider, len(items))
            items.append(own or {**output_item(part, len(items)), **fields_for(part, provider)})
        elif isinstance(part, HostedToolCall):
            following = parts[index + 1] if index + 1 < len(parts) else None
            result = following if isinstance(following, HostedToolResult) else None
            items.append(cast(Object, write_hosted(part, result, provider)))
        elif isinstance(part, OpaquePart):
            items.append(cast(Object, opaque_item(part, hosted)))
    return items


def output_item(part: Shown, number: int, refused: bool = False) -> Object:
    """Returns the item number `number` of a reply."""
    if isinstance(part, ReasoningPart):
        return render_reasoning(part, f"rs_{number}")
    if isinstance(part, ToolCall):
        arguments: Any = {"call_id": part.id, "name": part.name, "arguments": part.arguments_text}
        return {"type": "function_call", "id": f"fc_{number}", **arguments, "status": "completed"}
    message: Object = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    return {**message, "content": [refusal(part) if refused else output_text(part)]}


def output_text(part: TextPart) -> Object:
    """Returns a text as content of a message."""
    annotations = write_annotations(part.citations)
    return {"type": "output_text", "text": part.text, "annotations": annotations, "logprobs": []}


def refusal(part: TextPart) -> Object:
    """Returns a refusal as content of a message, with annotations only if it has some, which no client expects."""
    notes: Object = {"annotations": write_annotations(part.citations)} if part.citations else {}
    return {"type": "refusal", "refusal": part.text, **notes}
