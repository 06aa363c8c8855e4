"""Parts put into the order in which a format takes them, whatever order they came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from abstractcore.schema import CallWarning, Part

P = TypeVar("P", bound=Part)


def in_order(
    kept: Sequence[tuple[int, P]], rank: Callable[[Part], int], path: str, warnings: list[CallWarning]
) -> list[tuple[int, P]]:
    """The parts (each with its index in `path`) by `rank`, with a warning for each that moves."""
    if len(kept) < 2:
        return list(kept)
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
