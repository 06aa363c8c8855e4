"""`with_texts`: all texts of a call or a reply, changed by a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

from ..schema import (
    EMPTY,
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
    changed. Of arguments that are JSON, each string is a text.

    With a changed text, its citations and signature are left out, and with one in a reply the metadata of the provider,
    which may quote it.
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
    if isinstance(part, ToolCall):
        text = _arguments(part, change)
        return part if text == part.arguments_text else replace(part, arguments_text=text)
    if isinstance(part, ToolResult | HostedToolResult):
        content = tuple(_text(each, change, "result") if isinstance(each, TextPart) else each for each in part.content)
        same = all(new is old for new, old in zip(content, part.content, strict=True))
        return part if same else replace(part, content=content)
    return part


def _text(part: TextPart, change: Change, kind: TextKind) -> TextPart:
    text = change(part.text, kind) if part.text else ""
    if text == part.text:
        return part
    return replace(part, text=text, citations=()) if text else TextPart("")


def _arguments(call: ToolCall, change: Change) -> str:
    if call.arguments is None:
        return change(call.arguments_text, "arguments")
    plain: Any = json.loads(call.arguments_text) if call.arguments_text.strip() else {}
    changed = _strings(plain, change)
    return call.arguments_text if changed == plain else json.dumps(changed, ensure_ascii=False)


def _strings(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change(value, "arguments") if value else value
    if isinstance(value, list):
        return [_strings(item, change) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        return {name: _strings(item, change) for name, item in cast("Mapping[str, Any]", value).items()}
    return value
