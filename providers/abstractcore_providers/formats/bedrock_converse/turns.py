"""Puts a conversation into the order of the format: system messages, then user and assistant in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Blob, CallWarning, JSONValue, Message, ModelCall, Part, SchemaError, TextPart, to_data

from ...common.call_options import name_options_left_out
from ...common.conversations import origin_of, refuse_system_only, refuse_unanswered_calls
from ...common.thinking import CacheTimes
from .fit import PartFitter, fits
from .vocabulary import PROVIDER, WARNINGS


@dataclass(slots=True)
class MessageGroup:
    """One or more adjacent messages that are sent as one."""

    indexes: list[int]
    message: Message
    warnings: list[CallWarning]


def turns_of(
    call: ModelCall, times: CacheTimes, warnings: list[CallWarning], *, replays: bool
) -> tuple[list[Message], list[Message]]:
    """Returns the system messages and all others, with adjusted parts. `times` are the TTLs of cache points; reasoning
    is sent back if `replays`.

    Raises `UnsupportedContentError` if nothing is left, `InvalidInputError` for an order that the format does not
    support.
    """
    refuse_system_only(call.messages)
    refuse_unanswered_calls(call.messages)
    system: list[MessageGroup] = []
    others: list[MessageGroup] = []
    origin = origin_of(PROVIDER, call.model)
    # In the order in which they are sent, as TTLs of cache points depend on it.
    for index, message in sorted(enumerate(call.messages), key=lambda numbered: numbered[1].role != "system"):
        own: list[CallWarning] = []
        fitted = (
            message
            if _fits(message)
            else _fitted(message, index, PartFitter(message.role, origin, own, times, replays))
        )
        if fitted is None:
            warnings += own
        else:
            _add(MessageGroup([index], fitted, own), system if message.role == "system" else others)
    if not others:
        raise WARNINGS.nothing_left()
    if others[0].message.role == "assistant":
        raise InvalidInputError(
            "the conversation must begin with a user message",
            path=f"messages[{others[0].indexes[0]}]",
            hint="Add a user message before it.",
        )
    _warn_of_moves(system, others, warnings)
    for turn in (*system, *others):
        warnings += _losses(turn)
    return [turn.message for turn in system], [turn.message for turn in others]


def _warn_of_moves(system: Sequence[MessageGroup], others: Sequence[MessageGroup], warnings: list[CallWarning]) -> None:
    begin = others[0].indexes[0]
    if not system or system[-1].indexes[0] < begin:
        return
    joined = {index for turn in (*system, *others) for index in turn.indexes[1:]}
    position = sum(index not in joined for index in range(begin))
    for turn in system:
        index = turn.indexes[0]
        if index > begin:
            message = "system messages come before the conversation"
            warnings.append(CallWarning("reordered", f"messages[{index}]", message, index, position))
            position += 1


def is_boundary(before: Part, after: Part) -> bool:
    """Whether two blocks of one list are of two messages: texts in one are separate only at a cache point."""
    return isinstance(before, TextPart) and before.cache is None and isinstance(after, TextPart)


def _fits(message: Message) -> bool:
    """Whether it is sent unchanged, as most are: adjusting would cost more than everything else."""
    return not message.provider_options and all(map(fits, message.parts))


def _fitted(message: Message, index: int, fitting: PartFitter) -> Message | None:
    """Returns the message as it is sent; None if nothing is left of it."""
    if message.provider_options:
        why = "adjacent messages are sent as one"
        name_options_left_out(message, f"messages[{index}]", PROVIDER, why, fitting.warnings)
    fitted = [fitting.part(part, f"messages[{index}].parts[{i}]") for i, part in enumerate(message.parts)]
    try:
        return Message(message.role, tuple(part for part in fitted if part is not None))
    except SchemaError:
        return None


def _add(turn: MessageGroup, turns: list[MessageGroup]) -> None:
    """Appends `turn`, or merges it into the last one if the two could not be distinguished."""
    last = turns[-1] if turns else None
    if last is None or _are_apart(last.message, turn.message):
        turns.append(turn)
    elif last.message.tool_calls or turn.message.tool_calls:
        raise InvalidInputError(
            "two assistant messages in a row cannot contain tool calls",
            path=f"messages[{turn.indexes[0]}]",
            hint="Merge them, or add a user message between them.",
        )
    else:
        last.indexes += turn.indexes
        last.message = _joined(last.message, turn.message)
        last.warnings += turn.warnings


def _are_apart(before: Message, after: Message) -> bool:
    """Whether two adjacent messages can be distinguished when they are sent. The assistant's blocks are always one
    message.
    """
    if before.role != after.role or after.role == "tool":
        return True
    return after.role != "assistant" and is_boundary(before.parts[-1], after.parts[0])


def _joined(before: Message, after: Message) -> Message:
    """Merges both, with an empty line between texts that would become one."""
    last = before.parts[-1]
    if is_boundary(last, after.parts[0]) and isinstance(last, TextPart):
        before = Message(before.role, (*before.parts[:-1], replace(last, text=f"{last.text}\n\n")))
    return Message(before.role, (*before.parts, *after.parts))


def _losses(turn: MessageGroup) -> list[CallWarning]:
    """Warns of what is lost of a turn. For one of several messages, a single warning has the result, with the texts of
    the warnings for their parts."""
    if len(turn.indexes) == 1:
        return turn.warnings
    first, *others = turn.indexes
    reason = f"adjacent {turn.message.role} messages are sent as one"
    message = "; ".join(dict.fromkeys([reason, *(warning.message for warning in turn.warnings)]))
    became = CallWarning("merged", f"messages[{first}].parts", message, sent=_as_data(turn.message.parts))
    of_first = [warning for warning in turn.warnings if warning.path.startswith(f"messages[{first}].provider_options")]
    return [*of_first, became, *(CallWarning("merged", f"messages[{index}]", message) for index in others)]


def _as_data(parts: Sequence[Part]) -> JSONValue:
    """Returns the parts as data, with the hashes of files in place of their content."""
    return [to_data(_without_bytes(part)) for part in parts]


def _without_bytes(part: Any) -> Any:
    blob = getattr(part, "blob", None)
    if isinstance(blob, Blob) and blob.sha256 is not None and blob.size is not None:
        return replace(part, blob=Blob.from_artifact(blob.sha256, blob.media_type, blob.size, name=blob.name))
    if hasattr(part, "content"):
        return replace(part, content=tuple(map(_without_bytes, part.content)))
    return part
