"""Scenes as SVG documents."""

from __future__ import annotations

import json
from typing import Any, cast
from xml.sax.saxutils import escape, quoteattr

from .boxes import LINE_HEIGHT, lines_of, points_of, turn_of
from .colors import NONE, exact_color
from .font_metrics import FAMILY
from .motifs import expanded
from .numbers import written
from .scene import Circle, Ellipse, Gradient, Group, Item, Line, Motif, Paint, Path, Polygon, Rect, Scene, Text
from .transforms import SAME, Transform

SCENE_KEY = "abstractvision-scene"
"""The name under which files keep their scene: the id of SVG metadata, the keyword of a text in PNG."""
_NAMESPACE = "http://www.w3.org/2000/svg"


def scene_to_json(scene: Scene) -> str:
    """Returns a scene as JSON, without values that are the default; as short as a model should write it."""
    return json.dumps(_short(scene.model_dump(exclude_defaults=True)), ensure_ascii=False, separators=(",", ":"))


def _short(value: Any) -> Any:
    """Returns JSON with whole numbers where they are, and the kind of an item first."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: _short(each) for name, each in sorted(items, key=lambda item: item[0] != "kind")}
    if isinstance(value, list):
        return [_short(each) for each in cast("list[Any]", value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def scene_to_svg(scene: Scene, width: int, height: int) -> str:
    """Returns a repaired scene as an SVG document of `width` x `height` pixels.

    The canvas is scaled to fit, in the middle; the background fills the whole document. The scene itself is in its
    metadata as JSON, so that the file can be edited as a scene again.
    """
    document = _SvgDocument()
    body = "".join(document.item(item) for item in scene.items)
    canvas = f"0 0 {written(scene.width)} {written(scene.height)}"
    background = document.paint(scene.background, "fill")
    title = f"<title>{escape(scene.description)}</title>" if scene.description else ""
    kept = escape(scene_to_json(scene))
    return (
        f'<svg xmlns="{_NAMESPACE}" width="{width}" height="{height}">{title}'
        f'<metadata id="{SCENE_KEY}">{kept}</metadata>'
        f"<defs>{''.join(document.definitions)}</defs>"
        f'<rect width="100%" height="100%"{background}/>'
        f'<svg width="100%" height="100%" viewBox="{canvas}">{body}</svg></svg>'
    )


class _SvgDocument:
    def __init__(self) -> None:
        self.definitions: list[str] = []
        self._ids: dict[str, str] = {}

    def item(self, item: Item) -> str:
        match item:
            case Motif():
                turn = turn_of(item)
                inner = self.item(expanded(item))
                return inner if turn == SAME else f"<g{_transform(turn)}>{inner}</g>"
            case Group():
                body = "".join(self.item(each) for each in item.items)
                return f"<g{_transform(turn_of(item))}{_opacity(item)}>{body}</g>"
            case Text():
                return self._text(item)
            case Line():
                return self._line(item)
            case _:
                return f"<{_outline(item)}{self._style(item)}/>"

    def _style(self, item: Rect | Circle | Ellipse | Polygon | Path) -> str:
        width = f' stroke-width="{written(item.stroke_width)}"' if exact_color(item.stroke) != NONE else ""
        joins = ' stroke-linejoin="round" stroke-linecap="round"' if width else ""
        paints = self.paint(item.fill, "fill") + (self.paint(item.stroke, "stroke") if width else "")
        return f"{paints}{width}{joins}{_opacity(item)}{_transform(turn_of(item))}"

    def _line(self, line: Line) -> str:
        ends = "".join(f' {name}="{written(getattr(line, name))}"' for name in ("x1", "y1", "x2", "y2"))
        width = max(line.stroke_width, 0.1)
        dashes = f' stroke-dasharray="{written(4 * width)} {written(3 * width)}"' if line.dashed else ""
        heads = ""
        if line.arrow != "none":
            color = exact_color(line.stroke) or NONE
            shape = (
                '<marker id="{}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="5" markerHeight="5" '
                f'orient="auto-start-reverse"><path d="M0 0L10 5L0 10Z" fill="{color[:7]}"/></marker>'
            )
            name = self._define(shape)
            heads = f' marker-end="url(#{name})"' + (f' marker-start="url(#{name})"' if line.arrow == "both" else "")
        style = f'{self.paint(line.stroke, "stroke")} stroke-width="{written(width)}" stroke-linecap="round"'
        return f"<line{ends}{style}{dashes}{heads}{_opacity(line)}{_transform(turn_of(line))}/>"

    def _text(self, text: Text) -> str:
        lines = lines_of(text)
        baselines = [text.y + index * LINE_HEIGHT * text.size for index in range(len(lines))]
        spans = [
            f'<tspan x="{written(text.x)}" y="{written(y)}">{escape(line)}</tspan>'
            for line, y in zip(lines, baselines, strict=True)
        ]
        weight = ' font-weight="bold"' if text.bold else ""
        font = f' font-family="{FAMILY}, sans-serif" font-size="{written(text.size)}"{weight}'
        place = f' text-anchor="{text.anchor}"{self.paint(text.fill, "fill")}'
        return f"<text{font}{place}{_opacity(text)}{_transform(turn_of(text))}>{''.join(spans)}</text>"

    def paint(self, paint: Paint, attribute: str) -> str:
        if isinstance(paint, Gradient):
            return f' {attribute}="url(#{self._gradient(paint)})"'
        color = exact_color(paint) or NONE
        alpha = f' {attribute}-opacity="{int(color[7:], 16) / 255:.3g}"' if len(color) == 9 else ""
        return f' {attribute}="{color[:7]}"{alpha}'

    def _gradient(self, gradient: Gradient) -> str:
        last = len(gradient.colors) - 1
        positions = gradient.positions or [index / last for index in range(last + 1)]
        stops = "".join(
            f'<stop offset="{min(max(position, 0), 1):.4g}"{self.paint(color, "stop-color")}/>'.replace(
                "stop-color-opacity", "stop-opacity"
            )
            for position, color in zip(positions, gradient.colors, strict=True)
        )
        if gradient.kind == "radial":
            return self._define(f'<radialGradient id="{{}}">{stops}</radialGradient>')
        turn = Transform.rotated(gradient.angle, 0.5, 0.5)
        (x1, y1), (x2, y2) = turn.point(0, 0.5), turn.point(1, 0.5)
        ends = f'x1="{x1:.4g}" y1="{y1:.4g}" x2="{x2:.4g}" y2="{y2:.4g}"'
        return self._define(f'<linearGradient id="{{}}" {ends}>{stops}</linearGradient>')

    def _define(self, definition: str) -> str:
        """Returns the id of a definition, in which `{}` stands for it."""
        if definition not in self._ids:
            self._ids[definition] = f"d{len(self._ids)}"
            self.definitions.append(definition.format(self._ids[definition]))
        return self._ids[definition]


def _outline(item: Rect | Circle | Ellipse | Polygon | Path) -> str:
    match item:
        case Rect():
            names, radius = ("x", "y", "width", "height"), f' rx="{written(item.radius)}"' if item.radius else ""
            return f"rect{_numbers(item, names)}{radius}"
        case Circle():
            return f"circle{_numbers(item, ('cx', 'cy', 'r'))}"
        case Ellipse():
            return f"ellipse{_numbers(item, ('cx', 'cy', 'rx', 'ry'))}"
        case Polygon():
            points = " ".join(f"{written(x)},{written(y)}" for x, y in points_of(item.points))
            return f'{"polygon" if item.closed else "polyline"} points="{points}"'
        case Path():
            return f"path d={quoteattr(item.d)}"


def _numbers(item: Item, names: tuple[str, ...]) -> str:
    return "".join(f' {name}="{written(getattr(item, name))}"' for name in names)


def _opacity(item: Item) -> str:
    return "" if item.opacity == 1 else f' opacity="{written(item.opacity)}"'


def _transform(transform: Transform) -> str:
    return "" if transform == SAME else f' transform="{transform}"'
