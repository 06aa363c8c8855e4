"""Adjusts conversations to the format, with a warning for everything that it cannot express, before writing.

Adjusts assistant messages to the format, with a warning for everything that it cannot express.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_

from abstractcore.schema import (
    NO_OPTIONS,
    CallWarning,
    HostedToolCall,
    HostedToolResult,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
)

from ...common.call_options import name_options_left_out, warn_of_merging, with_options_for
from ...common.conversations import (
    SentCallIds,
    fits_openai,
    is_sent_as_written,
    refuse_unanswered_calls,
    with_valid_text,
)
from .client_results import fit_client_result, fit_result, fit_user_parts, has_own_form, without_cache, without_repeated
from .client_tools import called_tool, calls_with_options, is_raw, run_length
from .content import USER_FIELDS, fit_screenshot
from .items import hosted_calls_of, opaque_item, write_hosted
from .output import shown
from .vocabulary import WARNINGS

_SEARCHES = ("tool_search_call", "tool_search_output")


@dataclass(frozen=True, slots=True)
class Receiver:
    """The recipient of a conversation. With `stored`, the provider stores its replies and needs no encrypted copy; with
    `searched`, the request has a tool search, beside which searches of earlier replies can be repeated.
    """

    provider: str
    origin: str
    stored: bool
    searched: bool


def fit_answer_parts(
    parts: Sequence[Part], path: str, receiver: Receiver, warnings: list[CallWarning]
) -> Sequence[Part]:
    """Adjusts an assistant's parts."""
    if all(map(_goes_as_it_is, parts)):
        return parts
    kept: list[Part] = []
    hosted = hosted_calls_of(parts)
    index = 0
    while index < len(parts):
        length = _encodable_run(parts, index, receiver, hosted)
        if length == 0:
            warnings.append(_part_left_out(parts[index], f"{path}[{index}]", receiver))
        kept += [_fitted(parts[i], f"{path}[{i}]", receiver, warnings) for i in range(index, index + length)]
        index += max(1, length)
    return kept


def _goes_as_it_is(part: Part) -> bool:
    """Whether it is a text or a call without anything to warn of, as most parts are."""
    if isinstance(part, TextPart):
        return part.cache is None and not part.citations and not part.provider_options
    if isinstance(part, ToolCall):
        plain = part.signature is None and part.cache is None and not part.provider_options
        return plain and is_sent_as_written(part)
    return False


def _encodable_run(parts: Sequence[Part], index: int, receiver: Receiver, hosted: Container[str]) -> int:
    """Returns how many parts, from `index` on, become items together; 0 if the first cannot be expressed."""
    part = parts[index]
    if isinstance(part, ReasoningPart):
        length = run_length(parts, index)
        last = parts[index + length - 1]
        complete = isinstance(last, ReasoningPart) and (last.redacted_data is not None or is_raw(last))
        known = complete or (receiver.stored and part.signature is not None)
        return length if known and part.origin == receiver.origin else 0
    if isinstance(part, HostedToolCall):
        following = parts[index + 1] if index + 1 < len(parts) else None
        result = following if isinstance(following, HostedToolResult) else None
        if result is not None and write_hosted(part, result, receiver.provider) is not None:
            return 2
        return 1 if write_hosted(part, None, receiver.provider) is not None else 0
    if isinstance(part, OpaquePart):
        own = part.provider == receiver.provider and opaque_item(part, hosted) is not None
        return int(own and (receiver.searched or not _is_search(part)))
    return int(isinstance(part, TextPart | ToolCall))


def _is_search(part: Part) -> bool:
    """Whether it is a search of deferred tools by the provider, or its result."""
    if not isinstance(part, OpaquePart) or part.kind not in _SEARCHES or not isinstance(part.data, Mapping):
        return False
    return part.data.get("execution") == "server"


def _part_left_out(part: Part, path: str, receiver: Receiver) -> CallWarning:
    if _is_search(part) and not receiver.searched:
        return CallWarning("part_left_out", path, "a tool search can be repeated only beside the tool tool_search")
    return WARNINGS.part(part, path)


def _fitted(part: Part, path: str, receiver: Receiver, warnings: list[CallWarning]) -> Part:
    if isinstance(part, ToolCall) and called_tool(part, receiver.provider) is None:
        part = with_valid_text(part, path, warnings)
    if isinstance(part, TextPart | ToolCall):
        return without_cache(shown(part, path, receiver.provider, warnings), path, warnings)
    return part


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
