"""`Scene`: a picture as data, which a model writes, people edit, and `rendering` draws.

Lengths are in units of the canvas. x grows to the right, y downwards; angles are in degrees, clockwise.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from .motif_names import MotifName
from .numbers import Number


class _SceneData(BaseModel):
    model_config = ConfigDict(frozen=True)


class Gradient(_SceneData):
    """Colours that change along a line, or from the centre outwards. `angle` 0 is to the right, 90 downwards."""

    kind: Literal["linear", "radial"] = "linear"
    colors: list[str]
    positions: list[Number] = Field(default_factory=list)
    """Where each colour stands, 0 to 1; evenly spread if empty."""
    angle: Number = 90


Paint: TypeAlias = str | Gradient
"""A CSS colour (`skyblue`, `#0a84ff`, `rgb(1,2,3)`), `none`, or a gradient."""


class _PlacedItem(_SceneData):
    opacity: Number = 1
    rotation: Number = 0
    """Degrees around the middle of the item."""


class _StyledItem(_PlacedItem):
    fill: Paint = "black"
    stroke: str = "none"
    stroke_width: Number = 1


class Rect(_StyledItem):
    """A rectangle with its top left corner at x, y; `radius` rounds the corners."""

    kind: Literal["rect"]
    x: Number
    y: Number
    width: Number
    height: Number
    radius: Number = 0


class Circle(_StyledItem):
    """A circle around cx, cy."""

    kind: Literal["circle"]
    cx: Number
    cy: Number
    r: Number


class Ellipse(_StyledItem):
    """An ellipse around cx, cy."""

    kind: Literal["ellipse"]
    cx: Number
    cy: Number
    rx: Number
    ry: Number


class Line(_PlacedItem):
    """A straight line, with arrow heads where asked."""

    kind: Literal["line"]
    x1: Number
    y1: Number
    x2: Number
    y2: Number
    stroke: str = "black"
    stroke_width: Number = 3
    dashed: bool = False
    arrow: Literal["none", "end", "both"] = "none"


class Polygon(_StyledItem):
    """Corners joined by straight lines: `"0,0 50,80 100,0"`; an outline that is not closed with `closed: false`."""

    kind: Literal["polygon"]
    points: str
    closed: bool = True


class Path(_StyledItem):
    """An outline in the path syntax of SVG: `"M 0 0 Q 50 80 100 0 Z"`."""

    kind: Literal["path"]
    d: str


class Text(_PlacedItem):
    """Text whose first baseline is at y; `width` wraps it into lines."""

    kind: Literal["text"]
    x: Number
    y: Number
    text: str
    size: Number = 40
    fill: str = "black"
    bold: bool = False
    anchor: Literal["start", "middle", "end"] = "start"
    width: Number | None = None


class Motif(_PlacedItem):
    """A picture that is drawn already, in a square of `size` with its middle at x, y. `color` is its main colour."""

    kind: Literal["motif"]
    name: MotifName
    x: Number
    y: Number
    size: Number = 200
    color: str | None = None
    flip: bool = False


class Group(_PlacedItem):
    """Items drawn together: scaled, rotated around their origin, and moved to x, y."""

    kind: Literal["group"]
    items: list[Item]
    x: Number = 0
    y: Number = 0
    scale: Number = 1
    flip: bool = False


Item: TypeAlias = Annotated[
    Rect | Circle | Ellipse | Line | Polygon | Path | Text | Motif | Group, Field(discriminator="kind")
]
"""One thing in a picture. Later items cover earlier ones."""


class Scene(_SceneData):
    """A picture as data: its canvas, and items from back to front."""

    description: str = ""
    """What the picture shows, in a sentence, for people who do not see it."""
    width: Number = 1000
    height: Number = 1000
    background: Paint
    items: list[Item]
