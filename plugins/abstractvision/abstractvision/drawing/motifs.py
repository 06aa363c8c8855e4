"""Motifs: pictures of common things, which scenes place by name. `motifs.json` has them as items in a square of 100."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, TypeAdapter

from .colors import mixed, nearest_color
from .motif_names import MotifName
from .scene import Group, Item, Motif

Layer: TypeAlias = Literal["sky", "far", "ground", "water", "thing"]
_HERE = "abstractvision.drawing"
SQUARE = 100.0
"""The side of the square in which motifs are drawn."""


class MotifRow(BaseModel):
    """One motif: its usual colour, where it stands in a landscape, its size as a share of the canvas, and its words."""

    color: str
    layer: Layer
    size: float
    words: list[str]
    items: list[dict[str, Any]]


@cache
def motif_rows() -> dict[MotifName, MotifRow]:
    """Returns all motifs by name."""
    text = resources.files(_HERE).joinpath("motifs.json").read_text(encoding="utf-8")
    return TypeAdapter(dict[MotifName, MotifRow]).validate_python(json.loads(text))


@cache
def takes_color(name: MotifName) -> bool:
    """Returns whether a motif can have another colour than its own; a rainbow has its own colours only."""
    return _items(name, "#010203") != _items(name, "#fdfcfb")


def expanded(motif: Motif) -> Group:
    """Returns the items of a motif, in its colour and at its place."""
    scale = motif.size / SQUARE
    half = motif.size / 2
    return Group(
        kind="group",
        items=_items(motif.name, motif.color or motif_rows()[motif.name].color),
        x=motif.x + (half if motif.flip else -half),
        y=motif.y - half,
        scale=scale,
        flip=motif.flip,
        opacity=motif.opacity,
    )


_ITEMS: TypeAdapter[list[Item]] = TypeAdapter(list[Item])


@cache
def _items(name: MotifName, color: str) -> list[Item]:
    main = nearest_color(color) if not color.startswith("#") else color[:7]
    roles = {"main": main, "dark": mixed(main, "#000000", 0.25), "light": mixed(main, "#ffffff", 0.4)}
    return _ITEMS.validate_python([_painted(item, roles) for item in motif_rows()[name].items])


def _painted(item: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
    painted: dict[str, Any] = {}
    for key, value in item.items():
        if key == "items":
            painted[key] = [_painted(each, roles) for each in value]
        else:
            painted[key] = roles.get(value, value) if isinstance(value, str) else value
    return painted
