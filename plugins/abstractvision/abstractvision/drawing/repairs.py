"""Repairs of scenes: what cannot be drawn as written is changed or left out, and every change is reported."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

from ..problems import shortened
from .boxes import own_box, points_of, turn_of
from .colors import NONE, exact_color, nearest_color
from .font_metrics import unknown_characters
from .motifs import motif_rows
from .path_data import read_path
from .scene import Circle, Ellipse, Group, Item, Line, Motif, Paint, Path, Polygon, Rect, Scene, Text
from .transforms import SAME, Box, Transform

MOST_ITEMS = 3000
"""Items of a scene, with those of its motifs."""
MOST_LEVELS = 12
"""Groups in groups."""
MOST_TEXT = 2000
"""Characters of a text."""
LONGEST_OUTLINE = 20_000
"""Characters of a path, or of the points of a polygon."""
LEAST_CANVAS, MOST_CANVAS = 1.0, 10_000.0

T = TypeVar("T", bound=Item)


class Repaired(NamedTuple):
    """A scene that can be drawn, and a line for each change, which begins with the path of the value."""

    scene: Scene
    repairs: tuple[str, ...]


def repaired(scene: Scene) -> Repaired:
    """Returns the scene as it can be drawn. A scene that needs no change is equal to the given one."""
    work = _RepairWork()
    width, height = (work.canvas(getattr(scene, name), name) for name in ("width", "height"))
    background = work.paint(scene.background, "background")
    items = work.items(scene.items, "items", SAME, Box(0, 0, width, height), 1)
    if work.is_cut:
        work.note("items", f"there are more than {MOST_ITEMS:,}: the rest is left out")
    changes = {"width": width, "height": height, "background": background, "items": items}
    return Repaired(scene.model_copy(update=changes), tuple(work.notes))


class _RepairWork:
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.count = 0
        self.is_cut = False

    def note(self, path: str, change: str) -> None:
        self.notes.append(f"{path}: {change}")

    def canvas(self, value: float, path: str) -> float:
        kept = min(max(abs(value), LEAST_CANVAS), MOST_CANVAS)
        if kept != value:
            self.note(path, f"{value:g} became {kept:g}")
        return kept

    def items(self, items: list[Item], path: str, outer: Transform, canvas: Box, level: int) -> list[Item]:
        kept: list[Item] = []
        for index, item in enumerate(items):
            here = f"{path}[{index}]"
            self.count += len(motif_rows()[item.name].items) if isinstance(item, Motif) else 1
            if self.count > MOST_ITEMS:
                self.is_cut = True
                break
            item = self._shared(item, here)
            fitted = self._fitted(item, here, outer, canvas, level)
            if fitted is not None:
                kept.append(fitted)
        return kept

    def _shared(self, item: T, path: str) -> T:
        """Returns the item with an opacity from 0 to 1, and colours that exist."""
        changes: dict[str, object] = {}
        if not 0 <= item.opacity <= 1:
            changes["opacity"] = min(max(item.opacity / 100 if 1 < item.opacity <= 100 else item.opacity, 0), 1)
            self.note(f"{path}.opacity", f"{item.opacity:g} became {changes['opacity']:g}")
        for name in ("fill", "stroke", "color"):
            value = getattr(item, name, None)
            if value is not None:
                color = self.paint(value, f"{path}.{name}")
                if color != value:
                    changes[name] = color
        for name in ("stroke_width", "width", "height", "r", "rx", "ry", "radius", "size"):
            value = getattr(item, name, None)
            if value is not None and value < 0:
                changes[name] = -value
                self.note(f"{path}.{name}", f"{value:g} became {-value:g}")
        return item.model_copy(update=changes) if changes else item

    def paint(self, paint: Paint, path: str) -> Paint:
        """Returns a colour or gradient that can be drawn, as it was written if that is one."""
        if isinstance(paint, str):
            if exact_color(paint) is not None:
                return paint
            self.note(path, f"{shortened(paint)!r} is not a colour: {nearest_color(paint)} is used")
            return nearest_color(paint)
        colors = [str(self.paint(color, f"{path}.colors[{i}]")) for i, color in enumerate(paint.colors)]
        if len(colors) < 2:
            self.note(path, "a gradient has at least two colours")
            return colors[0] if colors else NONE
        positions = paint.positions
        if positions and (len(positions) != len(colors) or sorted(positions) != positions):
            self.note(f"{path}.positions", "expected one for each colour, in order: spread evenly")
            positions = []
        if colors == paint.colors and positions == paint.positions:
            return paint
        return paint.model_copy(update={"colors": colors, "positions": positions})

    def _fitted(self, item: Item, path: str, outer: Transform, canvas: Box, level: int) -> Item | None:
        if isinstance(item, Group):
            return self._group(item, path, outer, canvas, level)
        if isinstance(item, Text):
            item = self._text(item, path)
        elif isinstance(item, Path):
            item = self._path(item, path)
        elif isinstance(item, Polygon) and len(item.points) > LONGEST_OUTLINE:
            self.note(f"{path}.points", "too long: cut")
            item = item.model_copy(update={"points": item.points[:LONGEST_OUTLINE].rpartition(" ")[0]})
        box = own_box(item)
        if box is None or not _shows(item):
            self.note(path, f"a {item.kind} without size is left out")
            return None
        if not outer.then(turn_of(item)).box(box).meets(canvas):
            self.note(path, f"a {item.kind} outside the canvas is left out")
            return None
        return item

    def _group(self, group: Group, path: str, outer: Transform, canvas: Box, level: int) -> Group | None:
        if level > MOST_LEVELS:
            self.note(path, f"a group in more than {MOST_LEVELS} groups is left out")
            return None
        items = self.items(group.items, f"{path}.items", outer.then(turn_of(group)), canvas, level + 1)
        if not items or not group.scale:
            self.note(path, "an empty group is left out")
            return None
        return group if items == group.items else group.model_copy(update={"items": items})

    def _text(self, text: Text, path: str) -> Text:
        shown = "".join(each for each in text.text if each.isprintable() or each in "\n\t")[:MOST_TEXT]
        if shown != text.text:
            self.note(f"{path}.text", "characters that cannot be drawn are left out")
            text = text.model_copy(update={"text": shown})
        if missing := unknown_characters(shown, text.bold):
            listed = " ".join(missing[:10])
            self.note(f"{path}.text", f"not in the fonts of this package, drawn with those of the machine: {listed}")
        return text

    def _path(self, item: Path, path: str) -> Path:
        read = read_path(item.d[:LONGEST_OUTLINE])
        if read.complete and len(item.d) <= LONGEST_OUTLINE:
            return item
        self.note(f"{path}.d", "drawn up to the first error")
        return item.model_copy(update={"d": str(read)})


def _shows(item: Item) -> bool:
    match item:
        case Rect():
            return item.width > 0 and item.height > 0
        case Circle():
            return item.r > 0
        case Ellipse():
            return item.rx > 0 and item.ry > 0
        case Polygon():
            return len(points_of(item.points)) > 1
        case Line():
            return (item.x1, item.y1) != (item.x2, item.y2) and item.stroke_width > 0
        case Text():
            return bool(item.text.strip()) and item.size > 0
        case Motif():
            return item.size > 0
        case Path() | Group():
            return True
