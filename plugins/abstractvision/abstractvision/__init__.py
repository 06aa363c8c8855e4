"""Pictures for AbstractCore. `Scene` is a picture as data, `render_scene` draws it, `compose_scene` makes one by rules.

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .drawing.rendering import render_scene
    from .drawing.repairs import Repaired, repaired
    from .drawing.rules import ComposedScene, compose_scene
    from .drawing.scene import (
        Circle,
        Ellipse,
        Gradient,
        Group,
        Line,
        Motif,
        Path,
        Polygon,
        Rect,
        Scene,
        Text,
    )
    from .drawing.stored_scenes import scene_of

_MODULES = {
    "scene_of": "drawing.stored_scenes",
    "render_scene": "drawing.rendering",
    "Repaired": "drawing.repairs",
    "repaired": "drawing.repairs",
    "ComposedScene": "drawing.rules",
    "compose_scene": "drawing.rules",
}
__all__ = [
    "Circle",
    "ComposedScene",
    "Ellipse",
    "Gradient",
    "Group",
    "Line",
    "Motif",
    "Path",
    "Polygon",
    "Rect",
    "Repaired",
    "Scene",
    "Text",
    "compose_scene",
    "render_scene",
    "repaired",
    "scene_of",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'drawing.scene')}"), name)
    globals()[name] = value
    return value
