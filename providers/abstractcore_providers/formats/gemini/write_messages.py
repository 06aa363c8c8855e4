"""Writes messages, with a warning for everything that the format cannot express."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstractcore.errors import InvalidInputError
from abstractcore.schema import CallWarning, Message, ReasoningPart, TextPart, ToolCall, ToolResult

from ...common.call_options import name_options_left_out, with_options
from ...common.conversations import SentCallIds, origin_of, refuse_system_only, refuse_unanswered_calls
from ...common.delta_writer import BodyWriter
from ...common.reading import Object
from .dialect import GenerateContentDialect
from .known_parts import TEXT_FIELDS
from .tool_results import write_result
from .vocabulary import UNSIGNED, WARNINGS
from .written_parts import write_part


def write_system(messages: Sequence[Message], writer: BodyWriter) -> list[Object]:
    """Returns the parts of the system instruction, one a message. Later system messages are moved into it."""
    parts: list[Object] = []
    first = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    position = first
    for index, message in enumerate(messages):
        if message.role != "system":
            continue
        body = _system_part(message, f"messages[{index}]", writer)
        if body:
            parts.append(body)
        if body and index > first:
            reason = "system messages are sent in the single systemInstruction before the conversation"
            writer.warnings.append(CallWarning("reordered", f"messages[{index}]", reason, index, position))
            position += 1
    return parts


def _system_part(message: Message, path: str, writer: BodyWriter) -> Object:
    """Returns the part of a message: a single text with its options, several without. Empty if nothing is left."""
    reason = "a system message is one part of the instruction"
    name_options_left_out(message, path, writer.provider, reason, writer.warnings)
    kept: list[tuple[TextPart, str]] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}.parts[{index}]"
        if isinstance(part, TextPart):
            WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
            kept.append((part, part_path))
        else:
            writer.warnings.append(WARNINGS.part(part, part_path))
    if len(kept) == 1:
        part, part_path = kept[0]
        return with_options({"text": part.text}, part, part_path, writer.provider, TEXT_FIELDS, writer.warnings)
    for part, part_path in kept:
        name_options_left_out(part, part_path, writer.provider, reason, writer.warnings)
    return {"text": "".join(part.text for part, _ in kept)} if kept else {}


def write_contents(
    messages: Sequence[Message], model: str, dialect: GenerateContentDialect, writer: BodyWriter
) -> list[Object]:
    """Returns the conversation without system messages; a message without any part left is omitted.

    Raises `UnsupportedContentError` for unsupported content, or if no message is left, and `InvalidInputError` for
    calls without results, or in a wrong turn.
    """
    refuse_system_only(messages)
    refuse_unanswered_calls(messages)
    contents: list[Object] = []
    ids = SentCallIds(messages, lambda turn, id: id)
    called: dict[str, tuple[str, str]] = {}
    for index, message in enumerate(messages):
        path, calls = f"messages[{index}].parts", ()
        if message.role == "system":
            continue
        if message.role == "assistant":
            calls = message.tool_calls
            called = {call.id: (ids.of_call(index, call.id), call.name) for call in calls}
            parts = _assistant(message, path, called, origin_of(dialect.provider, model) or "", dialect, writer)
        elif message.role == "tool":
            parts = _results(message, path, called, dialect, writer)
        else:
            parts = _user(message, path, dialect, writer)
        if parts:
            if calls:
                _refuse_calls_out_of_turn(contents, f"messages[{index}]")
            body = {"role": "model" if message.role == "assistant" else "user", "parts": parts}
            message_path = f"messages[{index}]"
            contents.append(with_options(body, message, message_path, dialect.provider, (), writer.warnings))
    if not contents:
        raise WARNINGS.nothing_left()
    return contents


def _refuse_calls_out_of_turn(before: Sequence[Object], path: str) -> None:
    """Checks that calls directly follow a user turn, which results are, too."""
    if not before or before[-1]["role"] == "model":
        raise InvalidInputError(
            "an assistant turn with tool calls must follow a user turn",
            path=path,
            hint="Add a user message before it, or merge the two assistant messages.",
        )


def _user(message: Message, path: str, dialect: GenerateContentDialect, writer: BodyWriter) -> list[Object]:
    written: list[Object] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}[{index}]"
        WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
        write_part(written, part, "", part_path, writer)
    return written


def _results(
    message: Message,
    path: str,
    called: dict[str, tuple[str, str]],
    dialect: GenerateContentDialect,
    writer: BodyWriter,
) -> list[Object]:
    """Returns all results, then the files next to them."""
    written = [
        write_result(part, *called[part.call_id], f"{path}[{index}]", dialect, writer)
        for index, part in enumerate(message.parts)
        if isinstance(part, ToolResult)
    ]
    return [result.part for result in written] + [part for result in written for part in result.beside]


def _assistant(
    message: Message,
    path: str,
    called: dict[str, tuple[str, str]],
    origin: str,
    dialect: GenerateContentDialect,
    writer: BodyWriter,
) -> list[Object]:
    written: list[Object] = []
    for index, part in enumerate(message.parts):
        part_path = f"{path}[{index}]"
        WARNINGS.fields(part, part_path, ("citations", "cache"), writer.warnings)
        if isinstance(part, ReasoningPart) and part.origin != origin:
            reason = f"reasoning of {part.origin or 'an unknown model'} is not sent to {origin}"
            writer.warnings.append(CallWarning("part_left_out", part_path, reason))
            continue
        if isinstance(part, ToolCall) and part.signature is not None and _is_foreign(message, dialect.provider):
            reason = "the signature is of another provider"
            writer.warnings.append(CallWarning("signature_left_out", f"{part_path}.signature", reason))
            part = replace(part, signature=None)
        write_part(written, part, called[part.id][0] if isinstance(part, ToolCall) else "", part_path, writer)
    if dialect.signed_calls:
        _sign_first_call(written)
    return written


def _sign_first_call(written: Sequence[Object]) -> None:
    for part in written:
        if "functionCall" in part:
            part.setdefault("thoughtSignature", UNSIGNED)
            return


def _is_foreign(message: Message, provider: str) -> bool:
    """Whether another provider's model wrote a thought before this."""
    thoughts = (part for part in message.parts if isinstance(part, ReasoningPart))
    return any(not (part.origin or "").startswith(f"{provider}/") for part in thoughts)
