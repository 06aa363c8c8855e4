"""Blocks as plain values, as they are sent between processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from .blocks import (
    NOWHERE,
    AttachedFile,
    Block,
    BlockPlace,
    GuessedEncoding,
    LostContent,
    MarkdownText,
    PageScan,
    PageStart,
    Picture,
)

_KINDS: tuple[Any, ...] = (MarkdownText, PageStart, Picture, PageScan, AttachedFile, LostContent, GuessedEncoding)
_NAMES = {kind: tuple(field.name for field in fields(kind)) for kind in _KINDS}
_PLACE = tuple(field.name for field in fields(BlockPlace))


def values_of(block: Block) -> list[Any]:
    """Returns the kind of a block, and its fields."""
    kind = type(block)
    values: list[Any] = [_KINDS.index(kind)]
    for name in _NAMES[kind]:
        value: Any = getattr(block, name)
        if name == "place":
            value = _place_values(value)
        elif name == "inner":
            value = [(begin, end, _place_values(place)) for begin, end, place in value]
        values.append(value)
    return values


def block_of(values: Sequence[Any]) -> Block:
    """Returns the block of such values."""
    kind = _KINDS[values[0]]
    found = dict(zip(_NAMES[kind], values[1:], strict=True))
    if "place" in found:
        found["place"] = _place_of(found["place"])
    if "inner" in found:
        found["inner"] = [(begin, end, _place_of(place)) for begin, end, place in found["inner"]]
    return kind(**found)


def _place_values(place: BlockPlace) -> list[Any] | None:
    return None if place == NOWHERE else [getattr(place, name) for name in _PLACE]


def _place_of(values: Sequence[Any] | None) -> BlockPlace:
    if values is None:
        return NOWHERE
    place = BlockPlace(*values)
    return place if place.box is None else BlockPlace(place.page, tuple(place.box), *values[2:])
