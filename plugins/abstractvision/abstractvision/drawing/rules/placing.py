"""Where the motifs of a composed scene stand."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ..motifs import Layer, motif_rows
from ..scene import Item, Motif
from .words import Mention, ReadPrompt

_ORDER: dict[Layer, int] = {"far": 0, "sky": 1, "water": 2, "ground": 3, "thing": 4}
_SIDES = {"left": 0.2, "middle": 0.5, "right": 0.8}
_TOPS = {"hill": 0.56, "mountain": 0.26, "island": 0.66}
"""How far down, as a share of its size, the top of a motif is on which others stand."""
_LARGE: set[str] = {"moon", "rainbow", "sun"}


@dataclass
class _Spot:
    """A motif of a mention, before it has its place."""

    mention: int
    motif: Motif
    layer: Layer
    is_fixed: bool = False


def placed(
    mentions: list[Mention], width: float, height: float, horizon: float, chance: random.Random, *, is_landscape: bool
) -> list[Item]:
    """Returns the motifs of all mentions at their places, from far to near."""
    spots = [spot for index, mention in enumerate(mentions) for spot in _spots(index, mention, width, height)]
    if is_landscape:
        for layer in _ORDER:
            row = [spot for spot in spots if spot.layer == layer]
            _in_row(row, mentions, layer, width, height, horizon, chance)
    else:
        _side_by_side(spots, width, height)
    for index, mention in enumerate(mentions):
        if mention.relation:
            _relate(spots, index, mention)
    spots.sort(key=lambda spot: (_ORDER[spot.layer], spot.is_fixed, spot.motif.y + spot.motif.size / 2))
    return [spot.motif for spot in spots]


def leave_out_places(read: ReadPrompt, mentions: list[Mention], *, is_landscape: bool) -> None:
    """Notes the words that say where motifs are, and that did not place them."""
    for mention in mentions:
        if not is_landscape or mention.count > 1:
            read.leave_out_of(mention, "side")
        if not mention.is_related:
            read.leave_out_of(mention, "relation")


def _spots(index: int, mention: Mention, width: float, height: float) -> list[_Spot]:
    row = motif_rows()[mention.name]
    base = min(width, height * 1.2)
    size = row.size * base / max(1.0, mention.count**0.3 if row.layer != "sky" else 1.0)
    motif = Motif(kind="motif", name=mention.name, x=0, y=0, size=size, color=mention.color)
    return [_Spot(index, motif, row.layer) for _ in range(mention.count)]


def _move(spot: _Spot, **changes: float | bool) -> None:
    spot.motif = spot.motif.model_copy(update=changes)


def _in_row(
    row: list[_Spot],
    mentions: list[Mention],
    layer: Layer,
    width: float,
    height: float,
    horizon: float,
    chance: random.Random,
) -> None:
    """Spreads the motifs of a layer over the width, the largest first, nearer ones lower and larger."""
    row.sort(key=lambda spot: -spot.motif.size)
    slots = [(index + 0.5) / len(row) for index in range(len(row))]
    chance.shuffle(slots)
    for index, spot in enumerate(row):
        side = mentions[spot.mention].side
        slot = slots[index] if side is None or mentions[spot.mention].count > 1 else _SIDES[side]
        across = 0.1 + 0.8 * slot + chance.uniform(-0.25, 0.25) * 0.8 / max(len(row), 2)
        near = (index + 1) / (len(row) + 1)
        half = spot.motif.size / 2
        if layer == "sky":
            y = height * chance.uniform(0.14, 0.3) if spot.motif.name not in _LARGE else height * 0.2
            y = max(y, half + 0.03 * height) if half < height * 0.2 else horizon - half
        elif layer == "far":
            y = horizon + 0.02 * height - half
        elif layer == "water":
            y = horizon + (0.03 + 0.14 * near) * height - half * 0.5
        else:
            y = horizon + (0.08 + 0.24 * near) * height - half
        x = min(max(across * width, half * 0.8), width - half * 0.8)
        _move(spot, x=x, y=y, flip=chance.random() < 0.5 if layer in ("sky", "water") else False)


def _side_by_side(spots: list[_Spot], width: float, height: float) -> None:
    """Puts things in rows, as large as there is room, in their order."""
    columns = max(1, round((len(spots) * width / height) ** 0.5))
    rows = -(-len(spots) // columns)
    room = min(width / columns, height / rows)
    for index, spot in enumerate(spots):
        row, column = divmod(index, columns)
        in_row = min(columns, len(spots) - row * columns)
        x = width / 2 + (column - (in_row - 1) / 2) * room
        y = height / 2 + (row - (rows - 1) / 2) * room
        _move(spot, x=x, y=y, size=room * 0.72)


def _relate(spots: list[_Spot], index: int, mention: Mention) -> None:
    assert mention.relation is not None
    relation, other = mention.relation
    anchor = next((spot for spot in spots if spot.mention == other), None)
    own = [spot for spot in spots if spot.mention == index]
    if anchor is None or not own:
        return
    top = _TOPS.get(anchor.motif.name)
    if anchor.layer in ("water", "far", "sky") and relation != "over" and not (top and relation == "on"):
        return
    mention.is_related = True
    place, half = anchor.motif, anchor.motif.size / 2
    for step, spot in enumerate(own):
        size = spot.motif.size
        shift = (step - (len(own) - 1) / 2) * size * 0.8
        ground = place.y + half
        match relation:
            case "on" if top is not None:
                size *= 0.75
                _move(spot, x=place.x + shift, y=place.y - half + 2 * half * top - size * 0.43, size=size)
            case "on":
                y = ground - half * 1.5 - size * 0.4 if anchor.layer == "ground" else place.y - half - size * 0.4
                _move(spot, x=place.x + shift, y=y)
            case "under":
                _move(spot, x=place.x + half * 0.55 + shift, y=ground - size * 0.42)
            case "over":
                _move(spot, x=place.x + shift, y=max(place.y - half - size * 0.7, size * 0.55))
            case "beside":
                side = -1 if place.x > 500 else 1
                _move(spot, x=place.x + side * (half + size * 0.5) + shift, y=ground - size * 0.45)
            case "behind":
                _move(spot, x=place.x + half * 0.6 + shift, y=ground - half * 0.5 - size * 0.5)
        spot.is_fixed = relation != "behind"
        if relation != "over":
            spot.layer = "far" if relation == "behind" else anchor.layer
