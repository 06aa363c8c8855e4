"""Reorders parts into the order that a format prescribes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from abstractcore.schema import CallWarning, Part

P = TypeVar("P", bound=Part)


def in_order(
    kept: Sequence[tuple[int, P]], order: Mapping[type[Part], int], path: str, warnings: list[CallWarning]
) -> list[tuple[int, P]]:
    """Returns the parts (each with its index in `path`) sorted by the rank of their type, with a warning for each that
    moves.
    """
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
            message = f"{part.type} is moved forward, since the format has a fixed order of parts"
            warnings.append(CallWarning("reordered", f"{path}[{index}]", message, index, position))
    return ordered
