"""Handles: what stands in a conversation for a result of a tool, or a file, that was set aside. Pure functions.

A handle is made of the content: the same content has the same one, in every process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, cast

from ..schema import MEDIA_PARTS, MediaPart, Message, Part, TextPart, ToolResult, digest
from ..schema.base_error import shown_file_name

SetAside: TypeAlias = MediaPart | ToolResult
"""What a handle stands for: a file, or a result of a tool."""
_SHORTEST = 400
"""Characters of a result that is worth a handle: the note that stands for it has about a hundred."""


def with_handles(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Returns messages whose long results of tools and files are replaced by their handles."""
    return tuple(_shortened(message) for message in messages)


def find_handle(handle: str, messages: Iterable[Message]) -> SetAside | None:
    """Returns what a handle stands for, from the messages as they were; None for an unknown one."""
    return next((each for each in _that_can_be_set_aside(messages) if handle_of(each) == handle), None)


def has_handles(messages: Iterable[Message]) -> bool:
    """Returns whether something in the messages was set aside."""
    return any(_MARK in text for message in messages for text in _texts(message.parts))


def handle_of(content: SetAside) -> str:
    """Returns the handle of a file or a result."""
    if isinstance(content, ToolResult):
        return f"result-{digest(content.content)[:12]}"
    blob = content.blob
    return f"file-{(blob.sha256 or digest(blob))[:12]}"


_MARK = " is set aside: recall("


def _shortened(message: Message) -> Message:
    if message.role == "user":
        parts: tuple[Part, ...] = tuple(map(_file_note, message.parts))
    elif message.role == "tool":
        parts = tuple(_result_note(part) if isinstance(part, ToolResult) else part for part in message.parts)
    else:
        return message  # an answer of the model is sent back as it was
    return message if parts == message.parts else replace(message, parts=parts)


def _file_note(part: Part) -> Part:
    if not isinstance(part, MEDIA_PARTS):
        return part
    blob = part.blob
    size = "" if blob.size is None else f", {blob.size:,} bytes"
    name = f" {shown_file_name(blob.name)}" if blob.name else ""
    return TextPart(f'[The {part.type}{name} ({blob.media_type}{size}){_MARK}"{handle_of(part)}") returns it.]\n')


def _result_note(result: ToolResult) -> ToolResult:
    files = [part for part in result.content if isinstance(part, MEDIA_PARTS)]
    size = len(result.as_text)
    if (size < _SHORTEST and not files) or has_handles([Message.tool(result)]):
        return result
    what = f"{size:,} characters" + (f" and {len(files)} files" if files else "")
    note = f'[This result ({what}){_MARK}"{handle_of(result)}") returns it.]'
    return replace(result, content=(TextPart(note),))


def _that_can_be_set_aside(messages: Iterable[Message]) -> Iterator[SetAside]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) or (message.role == "user" and isinstance(part, MEDIA_PARTS)):
                yield part


def _texts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, TextPart):
            yield part.text
        elif isinstance(part, ToolResult):
            yield from _texts(cast("tuple[Any, ...]", part.content))
