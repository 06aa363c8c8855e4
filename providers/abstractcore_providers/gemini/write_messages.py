"""Messages as the format writes them, with a warning for everything it has no place for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    MEDIA_PARTS,
    CallWarning,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ..call_ids import CallIds
from ..json_reading import Object
from .dialect import Dialect
from .tool_results import write_result
from .vocabulary import origin_of
from .writing import Writing
from .written_parts import write_part


def write_system(messages: Sequence[Message], writing: Writing) -> list[Object]:
    """The parts of the system instruction, one a message. Messages from further down are moved up to it."""
    parts: list[Object] = []
    first = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    position = first
    for index, message in enumerate(messages):
        if message.role != "system":
            continue
        text = _system_text(message, f"messages[{index}].parts", writing)
        if text:
            parts.append({"text": text})
        if text and index > first:
            told = "instructions stand at the beginning, since the format has one place for them"
            writing.warnings.append(CallWarning("reordered", f"messages[{index}]", told, index, position))
            position += 1
    return parts


def _system_text(message: Message, path: str, writing: Writing) -> str:
    text = ""
    for index, part in enumerate(message.parts):
        if isinstance(part, TextPart):
            writing.warn_of_text(part, f"{path}[{index}]")
            text += part.text
        else:
            told = f"the system instruction has no place for {part.type} parts"
            writing.warnings.append(CallWarning("part_left_out", f"{path}[{index}]", told))
    return text


def write_contents(messages: Sequence[Message], model: str, dialect: Dialect, writing: Writing) -> list[Object]:
    """The conversation but for its system messages; a message of which nothing is left is left out.

    Raises `UnsupportedContentError` for content without a shape here, or if no message is left.
    """
    contents: list[Object] = []
    ids = CallIds(messages, lambda turn, id: id)
    called: dict[str, tuple[str, str]] = {}
    for index, message in enumerate(messages):
        path = f"messages[{index}].parts"
        if message.role == "system":
            continue
        if message.role == "assistant":
            called = {call.id: (ids.of_call(index, call.id), call.name) for call in message.tool_calls}
            parts = _assistant(message, path, called, origin_of(dialect.provider, model) or "", dialect, writing)
        elif message.role == "tool":
            parts = _results(message, path, called, dialect, writing)
        else:
            parts = _user(message, path, dialect, writing)
        if parts:
            contents.append({"role": "model" if message.role == "assistant" else "user", "parts": parts})
    if not contents:
        raise UnsupportedContentError("the generateContent format has no place for any part of these messages.")
    return contents


def _user(message: Message, path: str, dialect: Dialect, writing: Writing) -> list[Object]:
    written: list[Object] = []
    for index, part in enumerate(message.parts):
        place = f"{path}[{index}]"
        _warn_of_extras(part, place, writing)
        write_part(written, part, "", place, writing)
    return written


def _warn_of_extras(part: Part, path: str, writing: Writing) -> None:
    if isinstance(part, TextPart):
        writing.warn_of_text(part, path)
    elif isinstance(part, (ToolCall, *MEDIA_PARTS)):
        writing.warn_of_cache(part, path)


def _results(
    message: Message,
    path: str,
    called: dict[str, tuple[str, str]],
    dialect: Dialect,
    writing: Writing,
) -> list[Object]:
    """All results, then the files that go beside them."""
    written = [
        write_result(part, *called[part.call_id], f"{path}[{index}]", dialect, writing)
        for index, part in enumerate(message.parts)
        if isinstance(part, ToolResult)
    ]
    return [result.part for result in written] + [part for result in written for part in result.beside]


def _assistant(
    message: Message,
    path: str,
    called: dict[str, tuple[str, str]],
    origin: str,
    dialect: Dialect,
    writing: Writing,
) -> list[Object]:
    written: list[Object] = []
    foreign = any(_is_foreign(part, dialect.provider) for part in message.parts)
    for index, part in enumerate(message.parts):
        place = f"{path}[{index}]"
        _warn_of_extras(part, place, writing)
        if isinstance(part, ReasoningPart) and part.origin != origin:
            told = f"reasoning of {part.origin or 'nobody known'} is not sent to {origin}"
            writing.warnings.append(CallWarning("part_left_out", place, told))
            continue
        if isinstance(part, ToolCall) and part.signature is not None and foreign:
            told = "the signature is of another provider"
            writing.warnings.append(CallWarning("signature_left_out", f"{place}.signature", told))
            part = replace(part, signature=None)
        id = called[part.id][0] if isinstance(part, ToolCall) else ""
        write_part(written, part, id, place, writing)
    return written


def _is_foreign(part: Part, provider: str) -> bool:
    return isinstance(part, ReasoningPart) and not (part.origin or "").startswith(f"{provider}/")
