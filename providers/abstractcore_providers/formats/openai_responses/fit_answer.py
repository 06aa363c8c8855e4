"""Adjusts assistant messages to the format, with a warning for everything that it cannot express."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from abstractcore.schema import (
    CallWarning,
    HostedToolCall,
    HostedToolResult,
    OpaquePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
)

from ...common.conversations import is_sent_as_written, with_valid_text
from .client_tools import called_tool
from .fit_input import without_cache
from .hosted import write_hosted
from .items import hosted_calls_of, opaque_item
from .output import shown
from .reasoning import is_raw, run_length
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
