"""What a model is asked for a scene: the instructions, and the request for a change of one."""

from __future__ import annotations

from pydantic import Field

from .motif_names import MotifName
from .motifs import motif_rows
from .repairs import repaired
from .scene import Gradient, Motif, Rect, Scene
from .svg import scene_to_json

LONG_SIDE = 1000.0
"""Units of the longer side of the canvas."""

_INSTRUCTIONS = """You draw pictures as data: a scene of shapes on a canvas {width:g} wide and {height:g} high.
x grows to the right, y downwards; 0,0 is the top left corner. Items are drawn in their order: background things first.
Set "width" to {width:g}, "height" to {height:g}, and "background" to a colour or a gradient, and keep all items on
the canvas, large enough to be seen. Begin with large shapes (ground, water), then add things. The horizon is at
y {horizon:g}: sky above it, ground or water from there down to {height:g}. A thing that stands on the ground at y has
its middle at y - size / 2.
Kinds of items:
- "motif": a finished picture with its middle at x, y, as large as "size". Use one wherever its name fits.
  Names: {motifs}.
- "rect" (x, y: top left corner), "circle", "ellipse", "line", "polygon" ("points": "0,0 50,80"), "path" ("d" as in
  SVG), "text" (y: the baseline), "group" (items moved to x, y and scaled).
Colours are CSS names or "#rrggbb". A gradient is {{"colors": ["skyblue", "white"], "angle": 90}}, from top to bottom.
"description" says what the picture shows, in one sentence."""


class WrittenScene(Scene):
    """A scene of a model, which says first what it is going to draw."""

    description: str = Field(default=...)


def example(across: float, down: float) -> str:
    """Returns a scene as a model should write it, on a canvas of this size."""
    horizon = round(down * 0.6)
    base = min(across, down)
    house, tree, sun, boat = (round(base * share) for share in (0.38, 0.42, 0.22, 0.16))
    sky = Gradient(colors=["deepskyblue", "lightcyan"])
    sea = Rect(kind="rect", x=0, y=horizon, width=across, height=down - horizon, fill="steelblue")
    shore = Rect(kind="rect", x=0, y=horizon + 120, width=across, height=down - horizon - 120, fill="yellowgreen")
    ground = horizon + 180

    def motif(name: MotifName, x: float, y: float, size: float, color: str | None = None) -> Motif:
        return Motif(kind="motif", name=name, x=round(x), y=round(y), size=size, color=color)

    return scene_to_json(
        WrittenScene(
            description="A red house beside a tree, by the sea with a boat, under the sun.",
            width=across,
            height=down,
            background=sky,
            items=[
                sea,
                shore,
                motif("sun", across * 0.15, down * 0.18, sun),
                motif("boat", across * 0.8, horizon + 20, boat),
                motif("house", across * 0.4, ground - house / 2, house, "tomato"),
                motif("tree", across * 0.65, ground - tree / 2, tree),
            ],
        )
    )


def canvas_of(width: int, height: int) -> tuple[float, float]:
    """Returns width and height of the canvas, in units, for a picture of that many pixels."""
    scale = LONG_SIDE / max(width, height)
    return round(width * scale), round(height * scale)


def instructions(width: int, height: int) -> str:
    """Returns the system prompt for a picture of that many pixels."""
    across, down = canvas_of(width, height)
    motifs = ", ".join(motif_rows())
    text = _INSTRUCTIONS.format(width=across, height=down, horizon=round(down * 0.6), motifs=motifs)
    return f"{text}\nExample: {example(across, down)}"


def change_prompt(scene: Scene, change: str) -> str:
    """Returns the prompt that asks for a changed scene."""
    return (
        f"This is the scene of a picture:\n{scene_to_json(scene)}\n\nChange it as follows, keep everything else as it "
        f"is, and answer with the whole scene:\n{change}"
    )


def on_canvas(scene: Scene, width: int, height: int) -> Scene:
    """Returns a scene of a model with the canvas that it was told, unless it set one itself."""
    if {"width", "height"} & scene.model_fields_set:
        return scene
    across, down = canvas_of(width, height)
    return scene.model_copy(update={"width": across, "height": down})


def check_scene(scene: Scene) -> str | None:
    """Returns the fault of a scene that a model has to write again; None if it can be drawn."""
    if not scene.items:
        return "the scene has no items: draw what was asked for"
    if not repaired(scene).scene.items:
        return f"no item is on the canvas: use x from 0 to {scene.width:g} and y from 0 to {scene.height:g}"
    return None
