"""What an assistant said, as the format can carry it, with a warning for everything it cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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

from .citations import sayable
from .hosted import write_hosted
from .input_parts import left_out, without_cache
from .items import fields_for, opaque_item
from .reasoning import run_length


@dataclass(frozen=True, slots=True)
class Receiver:
    """To whom a conversation goes. With `stored`, the provider keeps its own replies and needs no encrypted copy."""

    provider: str
    origin: str
    stored: bool


def said_parts(parts: Sequence[Part], path: str, receiver: Receiver, warnings: list[CallWarning]) -> Sequence[Part]:
    """What is left of an assistant's parts."""
    if all(map(_goes_as_it_is, parts)):
        return parts
    kept: list[tuple[int, Part]] = []
    index = 0
    while index < len(parts):
        length = _carried(parts, index, receiver)
        if length == 0:
            warnings.append(left_out(parts[index], f"{path}[{index}]"))
        kept += [(i, _as_said(parts[i], f"{path}[{i}]", warnings)) for i in range(index, index + length)]
        index += max(1, length)
    return _with_their_fields(kept, path, warnings)


def _goes_as_it_is(part: Part) -> bool:
    """Whether it is a text or a call with nothing to warn of, as most parts are."""
    if isinstance(part, TextPart):
        return part.cache is None and not part.citations
    return isinstance(part, ToolCall) and part.signature is None and part.cache is None


def _carried(parts: Sequence[Part], index: int, receiver: Receiver) -> int:
    """How many parts, from `index` on, become items together; 0 if the first of them cannot be carried."""
    part = parts[index]
    if isinstance(part, ReasoningPart):
        length = run_length(parts, index)
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
        if not part.citations:
            return without_cache(part, path, warnings)
        said = (
            sayable(citation, len(part.text), f"{path}.citations[{i}]", warnings)
            for i, citation in enumerate(part.citations)
        )
        return replace(without_cache(part, path, warnings), citations=tuple(said))
    if isinstance(part, ToolCall):
        if part.signature is not None:
            warnings.append(CallWarning("signature_left_out", f"{path}.signature", "signatures have no place here"))
            part = replace(part, signature=None)
        return without_cache(part, path, warnings)
    return part


def _with_their_fields(kept: Sequence[tuple[int, Part]], path: str, warnings: list[CallWarning]) -> list[Part]:
    """The parts without opaque ones that are no items and no fields of the item after them."""
    backwards: list[Part] = []
    following: Part | None = None
    for index, part in reversed(kept):
        if isinstance(part, OpaquePart) and opaque_item(part) is None and fields_for(part, following) is None:
            warnings.append(left_out(part, f"{path}[{index}]"))
        else:
            following = part
            backwards.append(part)
    return backwards[::-1]
