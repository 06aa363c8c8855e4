"""Parts put into the order in which a format takes them, whatever order they came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from abstractcore.schema import CallWarning, Part

P = TypeVar("P", bound=Part)


def in_order(
    kept: Sequence[tuple[int, P]], order: Mapping[type[Part], int], path: str, warnings: list[CallWarning]
) -> list[tuple[int, P]]:
    """The parts (each with its index in `path`) by the rank of their type, with a warning for each that moves."""
    if len(kept) < 2:
        return list(kept)
    ordered = sorted(kept, key=lambda item: order[type(item[1])])
    if ordered == list(kept):
        return ordered
    highest, moved = 0, set[int]()
    for index, part in kept:
        rank = order[type(part)]
        if rank < highest:
            moved.add(index)
        highest = max(highest, rank)
    for position, (index, part) in enumerate(ordered):
        if index in moved:
            message = f"{part.type} stands before what it followed, since the format keeps no order"
            warnings.append(CallWarning("reordered", f"{path}[{index}]", message, index, position))
    return ordered
