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
    ordered = sorted(kept, key=lambda item: _rank(item[1], order))
    if ordered == list(kept):
        return ordered
    highest, moved = 0, set[int]()
    for index, part in kept:
        rank = _rank(part, order)
        if rank < highest:
            moved.add(index)
        highest = max(highest, rank)
    for position, (index, part) in enumerate(ordered):
        if index in moved:
            message = f"{part.type} is moved forward, since the format has a fixed order of parts"
            warnings.append(CallWarning("reordered", f"{path}[{index}]", message, index, position))
    return ordered


def _rank(part: Part, order: Mapping[type[Part], int]) -> int:
    """Returns the rank of the part's class, or of the class that it extends."""
    return next(order[cls] for cls in type(part).__mro__ if cls in order)
