"""Messages as the format writes them, with a warning for everything it has no place for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstractcore.errors import InvalidInputError
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

from ...common.call_ids import CallIds
from ...common.conversations import refuse_system_only, refuse_unanswered_calls
from ...common.item_options import name_options_left_out, with_options
from ...common.json_reading import Object
from ...common.origins import origin_of
from .dialect import Dialect
from .known_parts import TEXT_FIELDS
from .tool_results import write_result
from .vocabulary import UNSIGNED, WARNINGS
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
        body = _system_part(message, f"messages[{index}]", writing)
        if body:
            parts.append(body)
        if body and index > first:
            told = "instructions stand at the beginning, since the format has one place for them"
            writing.warnings.append(CallWarning("reordered", f"messages[{index}]", told, index, position))
            position += 1
    return parts


def _system_part(message: Message, path: str, writing: Writing) -> Object:
    """The part that a message is: of one text with its options, of more without. Empty if nothing is left."""
    told = "a system message is one part of the instruction"
    name_options_left_out(message, path, writing.provider, told, writing.warnings)
    kept: list[tuple[TextPart, str]] = []
    for index, part in enumerate(message.parts):
        place = f"{path}.parts[{index}]"
        if isinstance(part, TextPart):
            writing.warn_of_text(part, place)
            kept.append((part, place))
        else:
            what = f"the system instruction has no place for {part.type} parts"
            writing.warnings.append(CallWarning("part_left_out", place, what))
    if len(kept) == 1:
        part, place = kept[0]
        return with_options({"text": part.text}, part, place, writing.provider, TEXT_FIELDS, writing.warnings)
    for part, place in kept:
        name_options_left_out(part, place, writing.provider, told, writing.warnings)
    return {"text": "".join(part.text for part, _ in kept)} if kept else {}


def write_contents(messages: Sequence[Message], model: str, dialect: Dialect, writing: Writing) -> list[Object]:
    """The conversation but for its system messages; a message of which nothing is left is left out.

    Raises `UnsupportedContentError` for content without a shape here, or if no message is left, and
    `InvalidInputError` for calls without results, or out of their turn.
    """
    refuse_system_only(messages)
    refuse_unanswered_calls(messages)
    contents: list[Object] = []
    ids = CallIds(messages, lambda turn, id: id)
    called: dict[str, tuple[str, str]] = {}
    for index, message in enumerate(messages):
        path, calls = f"messages[{index}].parts", ()
        if message.role == "system":
            continue
        if message.role == "assistant":
            calls = message.tool_calls
            called = {call.id: (ids.of_call(index, call.id), call.name) for call in calls}
            parts = _assistant(message, path, called, origin_of(dialect.provider, model) or "", dialect, writing)
        elif message.role == "tool":
            parts = _results(message, path, called, dialect, writing)
        else:
            parts = _user(message, path, dialect, writing)
        if parts:
            if calls:
                _refuse_calls_out_of_turn(contents, f"messages[{index}]")
            body = {"role": "model" if message.role == "assistant" else "user", "parts": parts}
            place = f"messages[{index}]"
            contents.append(with_options(body, message, place, dialect.provider, (), writing.warnings))
    if not contents:
        raise WARNINGS.nothing_left()
    return contents


def _refuse_calls_out_of_turn(before: Sequence[Object], path: str) -> None:
    """The format takes calls right after the user's turn, or after results, which are the user's turn too."""
    if not before or before[-1]["role"] == "model":
        raise InvalidInputError(
            "the assistant calls tools, and the turn before it is not the user's",
            path=path,
            hint="Put the user's words before it, or the assistant's two messages into one.",
        )


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
    for index, part in enumerate(message.parts):
        place = f"{path}[{index}]"
        _warn_of_extras(part, place, writing)
        if isinstance(part, ReasoningPart) and part.origin != origin:
            told = f"reasoning of {part.origin or 'nobody known'} is not sent to {origin}"
            writing.warnings.append(CallWarning("part_left_out", place, told))
            continue
        if isinstance(part, ToolCall) and part.signature is not None and _is_foreign(message, dialect.provider):
            told = "the signature is of another provider"
            writing.warnings.append(CallWarning("signature_left_out", f"{place}.signature", told))
            part = replace(part, signature=None)
        write_part(written, part, called[part.id][0] if isinstance(part, ToolCall) else "", place, writing)
    if dialect.signed_calls:
        _sign_first_call(written)
    return written


def _sign_first_call(written: Sequence[Object]) -> None:
    for part in written:
        if "functionCall" in part:
            part.setdefault("thoughtSignature", UNSIGNED)
            return


def _is_foreign(message: Message, provider: str) -> bool:
    """Whether another provider's model thought before it said this."""
    thoughts = (part for part in message.parts if isinstance(part, ReasoningPart))
    return any(not (part.origin or "").startswith(f"{provider}/") for part in thoughts)
