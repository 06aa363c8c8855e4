"""Where items are: their boxes, and the transforms that place them."""

from __future__ import annotations

from .font_metrics import text_width
from .numbers import numbers_in
from .path_data import path_points, read_path
from .scene import Circle, Ellipse, Group, Item, Line, Motif, Path, Polygon, Rect, Text
from .transforms import SAME, Box, Transform

LINE_HEIGHT = 1.25
"""The distance of the baselines of a text, in sizes of the font."""


def own_box(item: Item) -> Box | None:
    """Returns the box of an item before its rotation; None if it shows nothing, and for groups."""
    match item:
        case Rect():
            return Box(item.x, item.y, item.x + item.width, item.y + item.height)
        case Circle():
            return Box.around([(item.cx, item.cy)], abs(item.r))
        case Ellipse():
            return Box(item.cx - item.rx, item.cy - item.ry, item.cx + item.rx, item.cy + item.ry)
        case Line():
            return Box.around([(item.x1, item.y1), (item.x2, item.y2)], item.stroke_width / 2)
        case Polygon():
            return Box.around(points_of(item.points))
        case Path():
            return Box.around(path_points(read_path(item.d).segments))
        case Motif():
            return Box.around([(item.x, item.y)], abs(item.size) / 2)
        case Text():
            return _text_box(item)
        case Group():
            return None


def points_of(text: str) -> list[tuple[float, float]]:
    """Returns the points of a polygon; a number without a partner is left out."""
    numbers = numbers_in(text)
    return list(zip(numbers[::2], numbers[1::2], strict=False))


def turn_of(item: Item) -> Transform:
    """Returns the transform of an item: its rotation around its middle; of a group, all that places its items."""
    if isinstance(item, Group):
        size = Transform.scaled(-item.scale if item.flip else item.scale, item.scale)
        return Transform.moved(item.x, item.y).then(Transform.rotated(item.rotation)).then(size)
    box = own_box(item) if item.rotation else None
    return SAME if box is None else Transform.rotated(item.rotation, *box.middle)


def lines_of(text: Text) -> list[str]:
    """Returns the lines of a text, wrapped between words to its width."""
    lines: list[str] = []
    for given in text.text.splitlines() or [""]:
        line = ""
        for word in given.split():
            longer = f"{line} {word}" if line else word
            if line and text.width is not None and text_width(longer, text.size, text.bold) > text.width:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


def _text_box(text: Text) -> Box:
    lines = lines_of(text)
    width = max(text_width(line, text.size, text.bold) for line in lines)
    left = text.x - {"start": 0, "middle": width / 2, "end": width}[text.anchor]
    depth = (len(lines) - 1) * LINE_HEIGHT + 0.24
    return Box(left, text.y - 0.8 * text.size, left + width, text.y + depth * text.size)
