"""`with_texts`: all texts of a call or a reply, changed by a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

from ..schema import (
    EMPTY,
    AudioPart,
    HostedToolCall,
    HostedToolResult,
    Message,
    ModelCall,
    ModelReply,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)
from .guards import TextKind

Change: TypeAlias = Callable[[str, TextKind], str]
H = TypeVar("H", ModelCall, ModelReply)


def with_texts(holder: H, change: Change) -> H:
    """Returns a call or a reply with `change(text, kind)` for each of its texts in order; `holder` itself if none is
    changed. Of arguments that are JSON, each string is a text, and each name in an object.

    With a changed text, its citations and signature are left out, and what the provider says besides of a reply, or of
    a tool that it ran: all of these may quote it. Audio whose transcript is changed becomes the text.
    """
    if isinstance(holder, ModelReply):
        parts = _parts(holder.parts, change)
        return holder if parts is holder.parts else replace(holder, parts=parts, provider_metadata=EMPTY)
    messages = tuple(_message(message, change) for message in holder.messages)
    same = all(new is old for new, old in zip(messages, holder.messages, strict=True))
    return holder if same else holder.with_(messages=messages)


def _message(message: Message, change: Change) -> Message:
    parts = _parts(message.parts, change)
    return message if parts is message.parts else replace(message, parts=parts)


def _parts(parts: tuple[Part, ...], change: Change) -> tuple[Part, ...]:
    changed = tuple(part_with_texts(part, change) for part in parts)
    return parts if all(new is old for new, old in zip(changed, parts, strict=True)) else changed


def part_with_texts(part: Part, change: Change) -> Part:
    """Returns a part with its texts changed, as `with_texts`."""
    if isinstance(part, TextPart):
        return _text(part, change, "text")
    if isinstance(part, ReasoningPart):
        text = change(part.text, "reasoning") if part.text else ""
        return part if text == part.text else replace(part, text=text, signature=None, redacted_data=None)
    if isinstance(part, AudioPart):
        text = change(part.transcript, "text") if part.transcript else None
        return part if text is None or text == part.transcript else TextPart(text)
    if isinstance(part, ToolCall | HostedToolCall):
        text = _arguments(part.arguments_text, change)
        changed = part if text == part.arguments_text else replace(part, arguments_text=text)
    elif isinstance(part, ToolResult | HostedToolResult):
        content = tuple(_text(each, change, "result") if isinstance(each, TextPart) else each for each in part.content)
        same = all(new is old for new, old in zip(content, part.content, strict=True))
        changed = part if same else replace(part, content=content)
    else:
        return part
    if changed is not part and isinstance(changed, HostedToolCall | HostedToolResult):
        return replace(changed, provider_metadata=EMPTY)
    return changed


def _text(part: TextPart, change: Change, kind: TextKind) -> TextPart:
    text = change(part.text, kind) if part.text else ""
    if text == part.text:
        return part
    return replace(part, text=text, citations=()) if text else TextPart("")


def _arguments(text: str, change: Change) -> str:
    try:
        plain: Any = json.loads(text, object_pairs_hook=_unique) if text.strip() else {}
    except (ValueError, RecursionError):
        return change(text, "arguments")
    try:
        changed = _strings(plain, change)
    except RecursionError:
        return change(text, "arguments")
    return text if changed == plain else json_text(changed)


def json_text(value: object) -> str:
    """Returns JSON with as few escapes as can be: halves of surrogate pairs cannot be sent without."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object; raises `ValueError` for a duplicate key: readers differ in which of its values they take."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"duplicate key {key!r}")
        found[key] = value
    return found


def _strings(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change(value, "arguments") if value else value
    if isinstance(value, list):
        return [_strings(item, change) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {_strings(name, change): _strings(item, change) for name, item in items}
    return value
