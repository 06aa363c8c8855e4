"""Conversations as the format can carry them, with a warning for everything it cannot. Nothing is written yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from abstractcore.errors import UnsupportedContentError
from abstractcore.schema import (
    AudioPart,
    CachePoint,
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
    to_data,
)

from ..call_ids import CallIds
from .citations import sayable
from .content import can_be_kept_for
from .hosted import write_hosted
from .items import fields_for, item_from_user, opaque_item
from .reasoning import run_length

P = TypeVar("P", bound=Part)
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True)
class Receiver:
    """To whom a conversation goes. With `stored`, the provider keeps its own replies and needs no encrypted copy."""

    provider: str
    origin: str
    stored: bool


def sendable_messages(
    messages: Sequence[Message], receiver: Receiver, warnings: list[CallWarning]
) -> list[tuple[int, Message]]:
    """What is left of each message, with its index in `messages`. Neighbours of the assistant become one.

    Raises `UnsupportedContentError` if no message is left.
    """
    turns: list[list[tuple[int, Message]]] = []
    for index, message in enumerate(messages):
        parts = _carried_parts(message, f"messages[{index}].parts", receiver, warnings)
        if not parts:
            continue
        kept = Message(message.role, tuple(parts))
        if kept.role == "assistant" and turns and turns[-1][0][1].role == "assistant":
            turns[-1].append((index, kept))
        else:
            turns.append([(index, kept)])
    if not turns:
        raise UnsupportedContentError("the Responses format has no place for any part of these messages.")
    merged = {index for turn in turns if len(turn) > 1 for index, _ in turn}
    ids = CallIds(messages, lambda turn, id: turn not in merged and 0 < len(id) <= _LONGEST_ID)
    return [(turn[0][0], _as_one(turn, ids, warnings)) for turn in turns]


def _carried_parts(message: Message, path: str, receiver: Receiver, warnings: list[CallWarning]) -> Sequence[Part]:
    if message.role == "assistant":
        return _said(message.parts, path, receiver, warnings)
    if message.role == "tool":
        return [_result(part, f"{path}[{i}]", warnings) for i, part in enumerate(message.parts)]
    return _content(message, path, receiver, warnings)


def _as_one(turn: Sequence[tuple[int, Message]], ids: CallIds, warnings: list[CallWarning]) -> Message:
    """The messages of a turn as one, with their calls' ids as they are sent.

    Of several messages all losses are told at once: what they became, in the words of the warnings for their parts.
    """
    parts = [_renamed(part, index, ids) for index, message in turn for part in message.parts]
    one = Message(turn[0][1].role, tuple(parts))
    if len(turn) == 1:
        return one
    first, *others = (f"messages[{index}]" for index, _ in turn)
    within = [
        warning for warning in warnings if warning.path.startswith(tuple(f"{path}." for path in (first, *others)))
    ]
    warnings[:] = [warning for warning in warnings if warning not in within]
    why = "the Responses format does not tell neighbouring messages of the assistant apart"
    message = "; ".join(dict.fromkeys([why, *(warning.message for warning in within)]))
    warnings.append(CallWarning("merged", f"{first}.parts", message, sent=[to_data(part) for part in one.parts]))
    warnings += [CallWarning("merged", path, message) for path in others]
    return one


def _renamed(part: P, turn: int, ids: CallIds) -> P:
    """The part under the id that is sent."""
    changed: Any = part
    if isinstance(part, ToolCall):
        changed = replace(part, id=ids.of_call(turn, part.id))
    elif isinstance(part, ToolResult):
        changed = replace(part, call_id=ids.of_result(turn, part.call_id))
    return changed


def _left_out(part: Part, path: str) -> CallWarning:
    return CallWarning("part_left_out", path, f"the Responses format has no place for this {part.type} part")


def _content(message: Message, path: str, receiver: Receiver, warnings: list[CallWarning]) -> list[Part]:
    parts: list[Part] = []
    own = False
    for index, part in enumerate(message.parts):
        place = f"{path}[{index}]"
        if not isinstance(part, OpaquePart):
            parts.append(_plain(_cacheable(part, place, warnings), place, warnings))
        elif message.role == "user" and part.provider == receiver.provider and item_from_user(part) is not None:
            own = True
            parts.append(part)
        else:
            warnings.append(_left_out(part, place))
    if own and len(parts) > 1:
        raise UnsupportedContentError(
            f"{path}: an item that answers the model stands in a message of its own.",
            hint="Put it into a user message without other parts.",
        )
    return parts


def _cacheable(part: P, path: str, warnings: list[CallWarning]) -> P:
    """`part` with its cache point as far as the format can carry it."""
    cache: CachePoint | None = getattr(part, "cache", None)
    if cache is None:
        return part
    if isinstance(part, AudioPart):
        return without_cache(part, path, warnings)
    if can_be_kept_for(cache.ttl):
        return part
    message = "the provider keeps what it has read for 30 minutes or 12 hours"
    warnings.append(CallWarning("cache_ttl_left_out", f"{path}.cache.ttl", message, cache.ttl))
    changed: Any = replace(part, cache=CachePoint())
    return changed


def without_cache(item: Any, path: str, warnings: list[CallWarning]) -> Any:
    """`item` without its cache point, with a warning if it has one."""
    if item.cache is None:
        return item
    warnings.append(CallWarning("cache_left_out", f"{path}.cache", "a cache point cannot be sent here"))
    return replace(item, cache=None)


def _plain(part: P, path: str, warnings: list[CallWarning]) -> P:
    """`part` without what it says beyond its content."""
    if isinstance(part, TextPart) and part.citations:
        warnings.append(CallWarning("citations_left_out", f"{path}.citations", "only what a model said is cited"))
        return replace(part, citations=())
    if isinstance(part, AudioPart):
        for name in ("transcript", "id"):
            if getattr(part, name) is not None:
                message = f"audio is sent without its {name}"
                warnings.append(CallWarning(f"{name}_left_out", f"{path}.{name}", message))
        return replace(part, transcript=None, id=None)
    return part


def _result(part: Part, path: str, warnings: list[CallWarning]) -> ToolResult:
    assert isinstance(part, ToolResult)
    result: ToolResult = part
    if result.is_error:
        warnings.append(CallWarning("error_flag_left_out", f"{path}.is_error", "a result cannot be marked as an error"))
    result = _cacheable(result, path, warnings) if result.content else without_cache(result, path, warnings)
    content = [_given(result, i, f"{path}.content[{i}]", warnings) for i in range(len(result.content))]
    return replace(result, content=tuple(content), is_error=False)


def _given(result: ToolResult, index: int, path: str, warnings: list[CallWarning]) -> Any:
    """Content of a result. The cache point after the last of it is the result's own."""
    part = result.content[index]
    if isinstance(part, AudioPart):
        raise UnsupportedContentError(
            f"{path}: the result of tool call {result.call_id!r} holds audio, which cannot be sent there.",
            hint="Put it into a user message after the result.",
        )
    is_last = index == len(result.content) - 1
    cached = without_cache(part, path, warnings) if is_last else _cacheable(part, path, warnings)
    return _plain(cached, path, warnings)


def _said(parts: Sequence[Part], path: str, receiver: Receiver, warnings: list[CallWarning]) -> list[Part]:
    """What the format carries of an assistant's parts."""
    kept: list[tuple[int, Part]] = []
    index = 0
    while index < len(parts):
        length = _carried(parts, index, receiver)
        if length == 0:
            warnings.append(_left_out(parts[index], f"{path}[{index}]"))
        kept += [(i, _as_said(parts[i], f"{path}[{i}]", warnings)) for i in range(index, index + length)]
        index += max(1, length)
    return _with_their_fields(kept, path, receiver, warnings)


def _carried(parts: Sequence[Part], index: int, receiver: Receiver) -> int:
    """How many parts, from `index` on, become items together; 0 if the first of them cannot be carried."""
    part = parts[index]
    if isinstance(part, ReasoningPart):
        length = run_length(parts[index:])
        last = parts[index + length - 1]
        complete = isinstance(last, ReasoningPart) and last.redacted_data is not None
        known = complete or (receiver.stored and part.signature is not None)
        return length if known and part.origin == receiver.origin else 0
    if isinstance(part, HostedToolCall):
        following = parts[index + 1] if index + 1 < len(parts) else None
        result = following if isinstance(following, HostedToolResult) else None
        if result is not None and write_hosted(part, result, receiver.provider) is not None:
            return 2
        return 1 if write_hosted(part, None, receiver.provider) is not None else 0
    if isinstance(part, OpaquePart):
        return int(part.provider == receiver.provider)
    return int(isinstance(part, TextPart | ToolCall))


def _as_said(part: Part, path: str, warnings: list[CallWarning]) -> Part:
    if isinstance(part, TextPart):
        said = (
            sayable(citation, len(part.text), f"{path}.citations[{i}]", warnings)
            for i, citation in enumerate(part.citations)
        )
        return replace(without_cache(part, path, warnings), citations=tuple(said))
    if isinstance(part, ToolCall):
        if part.signature is not None:
            warnings.append(CallWarning("signature_left_out", f"{path}.signature", "signatures have no place here"))
        return replace(without_cache(part, path, warnings), signature=None)
    return part


def _with_their_fields(
    kept: Sequence[tuple[int, Part]], path: str, receiver: Receiver, warnings: list[CallWarning]
) -> list[Part]:
    """The parts without opaque ones that are no items and no fields of the item after them."""
    parts: list[Part] = []
    following: Part | None = None
    for index, part in reversed(kept):
        if isinstance(part, OpaquePart) and opaque_item(part) is None and fields_for(part, following) is None:
            warnings.append(_left_out(part, f"{path}[{index}]"))
        else:
            following = part
            parts.insert(0, part)
    return parts
