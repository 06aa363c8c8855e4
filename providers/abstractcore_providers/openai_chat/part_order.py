"""The order in which the format takes the parts of an assistant's message, whatever order they came in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from abstractcore.schema import AudioPart, CallWarning, Part, ReasoningPart, TextPart

P = TypeVar("P", bound=Part)


def rank(part: Part) -> int:
    """Reasoning, text, audio, tool calls: each kind has a field of its own, and nothing says what stood first."""
    if isinstance(part, ReasoningPart):
        return 0
    if isinstance(part, TextPart):
        return 1
    return 2 if isinstance(part, AudioPart) else 3


def in_order(kept: Sequence[tuple[int, P]], path: str, warnings: list[CallWarning]) -> list[tuple[int, P]]:
    """The parts (each with its index in `path`) as the format has them, with a warning for each that moves."""
    ordered = sorted(kept, key=lambda item: rank(item[1]))
    if ordered == list(kept):
        return ordered
    highest, moved = 0, set[int]()
    for index, part in kept:
        if rank(part) < highest:
            moved.add(index)
        highest = max(highest, rank(part))
    for position, (index, part) in enumerate(ordered):
        if index in moved:
            message = f"{part.type} stands before what it followed, since the format keeps no order"
            warnings.append(CallWarning("reordered", f"{path}[{index}]", message, index, position))
    return ordered
