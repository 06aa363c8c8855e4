"""Adjusts conversations to the format, with a warning for everything that it cannot express, before writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import is_

from abstractcore.schema import NO_OPTIONS, CallWarning, Message, OpaquePart, Part, ToolCall, ToolResult

from ...common.call_options import name_options_left_out, warn_of_merging, with_options_for
from ...common.conversations import SentCallIds, fits_openai, refuse_unanswered_calls
from .client_results import fit_client_result, has_own_form, without_repeated
from .client_tools import called_tool, calls_with_options
from .computer import fit_screenshot
from .content import USER_FIELDS
from .fit_answer import Receiver, fit_answer_parts
from .fit_input import fit_result, fit_user_parts
from .vocabulary import WARNINGS

_LONGEST_ID = 64


def fit_messages(
    messages: Sequence[Message], receiver: Receiver, warnings: list[CallWarning]
) -> list[tuple[int, Message]]:
    """Returns the adjusted messages, each with its index in `messages`. Adjacent assistant messages are merged.

    Raises `UnsupportedContentError` if no message is left.
    """
    refuse_unanswered_calls(messages)
    turns: list[list[tuple[int, Message]]] = []
    before: Message | None = None
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        parts = _fitted_parts(message, before, f"{path}.parts", receiver, warnings)
        before = message
        if not parts:
            continue
        kept = _with_parts(_with_options(message, parts[0], path, receiver.provider, warnings), parts)
        if kept.role == "assistant" and turns and turns[-1][0][1].role == "assistant":
            turns[-1].append((index, kept))
        else:
            turns.append([(index, kept)])
    if not turns:
        raise WARNINGS.nothing_left()
    merged = {index for turn in turns if len(turn) > 1 for index, _ in turn}
    ids = SentCallIds(messages, lambda turn, id: turn not in merged and fits_openai(id))
    return [(turn[0][0], _as_one(turn, ids, warnings)) for turn in turns]


def _fitted_parts(
    message: Message, before: Message | None, path: str, receiver: Receiver, warnings: list[CallWarning]
) -> Sequence[Part]:
    """Adjusts a message; tool results belong to the calls in the message before."""
    if message.role == "assistant":
        return fit_answer_parts(message.parts, path, receiver, warnings)
    if message.role == "tool" and before is not None:
        asked = calls_with_options(before.parts)
        return [_result(part, f"{path}[{i}]", receiver, asked, warnings) for i, part in enumerate(message.parts)]
    return fit_user_parts(message, path, receiver.provider, warnings)


def _result(
    part: Part, path: str, receiver: Receiver, asked: Mapping[str, ToolCall], warnings: list[CallWarning]
) -> ToolResult:
    """Adjusts the result of one of the calls `asked`, or of a function without options."""
    provider = receiver.provider
    call = asked.get(part.call_id) if isinstance(part, ToolResult) else None
    if call is None or not isinstance(part, ToolResult):
        return fit_result(part, path, provider, warnings)
    tool = called_tool(call, provider)
    if tool is not None and tool.name == "computer":
        return fit_screenshot(part, path, provider, warnings)
    if tool is not None and has_own_form(tool):
        return fit_client_result(part, call, tool, path, provider, warnings)
    return fit_result(without_repeated(part, call, path, provider, warnings), path, provider, warnings)


def _with_options(message: Message, first: Part, path: str, provider: str, warnings: list[CallWarning]) -> Message:
    """Returns the message, of whose parts `first` is left, with the options that can be sent."""
    if not message.provider_options:
        return message
    if message.role != "assistant" and not isinstance(first, OpaquePart):
        return with_options_for(message, path, provider, USER_FIELDS, warnings)
    why = "the Responses format has objects for the parts of such a message, but not for the message"
    name_options_left_out(message, path, provider, why, warnings)
    return replace(message, provider_options=NO_OPTIONS)


def _as_one(turn: Sequence[tuple[int, Message]], ids: SentCallIds, warnings: list[CallWarning]) -> Message:
    """Merges the messages of a turn, with their calls' ids as they are sent.

    For several messages, one warning has the result, with the texts of the warnings for their parts.
    """
    one = turn[0][1]
    if len(turn) == 1 and not ids.renames:
        return one
    if one.role in ("assistant", "tool"):
        one = _with_parts(one, [_renamed(part, index, ids) for index, message in turn for part in message.parts])
    if len(turn) == 1:
        return one
    reason = "the Responses format does not separate adjacent assistant messages"
    warn_of_merging([index for index, _ in turn], one.parts, reason, warnings)
    return one


def _with_parts(message: Message, parts: Sequence[Part]) -> Message:
    """Returns the message with these parts: the same object, if they are its own."""
    if parts is message.parts or (len(parts) == len(message.parts) and all(map(is_, parts, message.parts))):
        return message
    return replace(message, parts=tuple(parts))


def _renamed(part: Part, turn: int, ids: SentCallIds) -> Part:
    """Returns the part with the id that is sent."""
    if isinstance(part, ToolCall):
        id = ids.of_call(turn, part.id)
        return part if id == part.id else replace(part, id=id)
    if isinstance(part, ToolResult):
        id = ids.of_result(turn, part.call_id)
        return part if id == part.call_id else replace(part, call_id=id)
    return part
