"""Handles: what stands in a conversation for a result of a tool, or a file, that was set aside; the tool `recall`.

A handle is made of the content: the same content has the same one, in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from ..schema import MEDIA_PARTS, MediaPart, Message, Part, TextPart, ToolResult, digest
from ..schema.amounts import counted
from ..schema.base_error import shown_file_name
from ..tools.tool import Tool

SetAside: TypeAlias = MediaPart | ToolResult
"""What a handle stands for: a file, or a result of a tool."""
_SHORTEST = 400
"""Characters of a result that is worth a handle: the note that stands for it has about a hundred."""


def with_handles(messages: Iterable[Message], *, can_recall: bool) -> tuple[Message, ...]:
    """Returns messages whose files are replaced by their handles; so are long results of tools, if the model has the
    tool `recall` to read them.
    """
    return tuple(_shortened(message, can_recall) for message in messages)


def find_handle(handle: str, messages: Iterable[Message]) -> SetAside | None:
    """Returns what a handle stands for, from the messages as they were; None for an unknown one."""
    return next((each for each in _that_can_be_set_aside(messages) if handle_of(each) == handle), None)


def handle_of(content: SetAside) -> str:
    """Returns the handle of a file or a result."""
    if isinstance(content, ToolResult):
        return f"result-{digest(content.content)[:12]}"
    blob = content.blob
    return f"file-{(blob.sha256 or digest(blob))[:12]}"


def _shortened(message: Message, can_recall: bool) -> Message:
    if message.role == "user":
        parts: tuple[Part, ...] = tuple(_file_note(part, can_recall) for part in message.parts)
    elif message.role == "tool" and can_recall:
        parts = tuple(_result_note(part) if isinstance(part, ToolResult) else part for part in message.parts)
    else:
        return message  # an answer of the model is sent back as it was
    return message if parts == message.parts else replace(message, parts=parts)


def _file_note(part: Part, can_recall: bool) -> Part:
    if not isinstance(part, MEDIA_PARTS):
        return part
    blob = part.blob
    size = "" if blob.size is None else f", {blob.size:,} bytes"
    name = f" {shown_file_name(blob.name)}" if blob.name else ""
    what = f"[The {part.type}{name} ({blob.media_type}{size}) is set aside: "
    return TextPart(
        what + (f'recall("{handle_of(part)}") returns it.]' if can_recall else f"{handle_of(part)}]") + "\n"
    )


def _result_note(result: ToolResult) -> ToolResult:
    files = [part for part in result.content if isinstance(part, MEDIA_PARTS)]
    size = len(result.as_text)
    if size < _SHORTEST and not files:
        return result
    what = counted(size, "character") + (f" and {counted(len(files), 'file')}" if files else "")
    note = f'[This result ({what}) is set aside: recall("{handle_of(result)}") returns it.]'
    return replace(result, content=(TextPart(note),))


def _that_can_be_set_aside(messages: Iterable[Message]) -> Iterator[SetAside]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolResult) or (message.role == "user" and isinstance(part, MEDIA_PARTS)):
                yield part


RECALL = "recall"
"""The name of the tool that reads what was set aside."""


def recall_tool(messages: Callable[[], Iterable[Message]]) -> Tool[..., Any]:
    """Returns the tool with which the model reads what was set aside of messages."""

    def recall(handle: str) -> Any:
        """Returns a result or a file of this conversation that was set aside.

        Args:
            handle: The handle that stands in its place, such as result-0a1b2c3d4e5f.
        """
        found = find_handle(handle, messages())
        if found is None:
            return f"Nothing has the handle {handle[:80]!r}: copy it exactly."
        return found

    return Tool(recall, name=RECALL, read_only=True, idempotent=True)
