"""Describes an image by what can be measured without a vision model: size, kind, colors, and text with its places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from abstractcore.schema import MediaAnchor

from .colors import opaque
from .encoding import is_graphic
from .lines import rows
from .ocr import RecognisedText
from .opening import ImageFacts

if TYPE_CHECKING:
    from PIL.Image import Image


_COLORS = {
    "black": (20, 20, 20),
    "dark gray": (85, 85, 85),
    "gray": (140, 140, 140),
    "light gray": (205, 205, 205),
    "white": (248, 248, 248),
    "red": (200, 40, 40),
    "dark red": (100, 20, 25),
    "orange": (235, 135, 40),
    "brown": (125, 80, 45),
    "beige": (220, 195, 160),
    "yellow": (240, 220, 60),
    "green": (60, 160, 70),
    "dark green": (30, 75, 40),
    "olive": (125, 125, 60),
    "turquoise": (60, 185, 180),
    "blue": (50, 100, 200),
    "light blue": (150, 195, 235),
    "dark blue": (25, 40, 95),
    "purple": (125, 60, 160),
    "pink": (235, 150, 185),
}
WHOLE = (0.0, 0.0, 1.0, 1.0)
"""The place of facts about the whole image."""
_SAMPLE = 96
_SMALLEST_SHARE = 0.05
_PAGE_INK = 0.35
"""The share of dark pixels up to which an image with many lines of text is a page."""
_PAGE_LINES = 5
_FLAT_SCREEN = 0.6
"""The share of neighbours with the same color from which an image without noise is a screenshot."""


def observed(
    image: Image, page: RecognisedText, facts: ImageFacts, format_name: str
) -> tuple[str, tuple[MediaAnchor, ...]]:
    """Returns sentences about an image, whose first frame is `image`, with anchors for them and each text in it."""
    shape = f"{facts.width} x {facts.height} pixels"
    if facts.frames > 1:
        shape += f", the first of {facts.frames} frames or pages"
    text = (
        "Measured, not seen by a vision model. What the image shows is unknown.\n"
        f"Size: {shape}. Format: {format_name}.\n"
        f"Kind, by its colors and lines of text: {kind_of(image, page)}.\n"
        f"Colors, by share of the area: {_colors(image)}."
    )
    if not page.lines:
        text += "\nText: none was read."
        return text, (MediaAnchor(0, len(text), box=WHOLE),)
    text += "\nText that was read in it, with its place and the confidence of the reader:"
    anchors = [MediaAnchor(0, len(text), box=WHOLE)]
    for line in (line for row in rows(page.lines) for line in row):
        start = len(text) + len('\n- "')
        text += f'\n- "{line.text}" ({_place(page.box(line))}, {line.confidence:.2f})'
        anchors.append(MediaAnchor(start, start + len(line.text), box=page.box(line)))
    return text, tuple(anchors)


def kind_of(image: Image, page: RecognisedText) -> str:
    """Returns "page of text", "screenshot", "drawing or graphic", or "photo"."""
    import numpy

    gray: Any = numpy.asarray(opaque(image).convert("L"))
    if len(page.lines) >= _PAGE_LINES and _is_page(gray):
        return "page of text"
    if not is_graphic(image):
        return "photo"
    flat = float((gray[:, 1:] == gray[:, :-1]).mean()) if gray.shape[1] > 1 else 1.0
    return "screenshot" if page.lines and flat >= _FLAT_SCREEN and min(image.size) >= 300 else "drawing or graphic"


def _is_page(gray: Any) -> bool:
    import numpy

    paper = float(numpy.percentile(gray, 75))
    return paper > 110 and float((gray < paper * 0.6).mean()) <= _PAGE_INK


def _colors(image: Image) -> str:
    """Returns the names of the most frequent colors; pixels weigh as much as they are opaque."""
    pixels = image.convert("RGBA").resize((_SAMPLE, _SAMPLE), 4).tobytes()
    counts: Counter[str] = Counter()
    colors = Counter(zip(pixels[::4], pixels[1::4], pixels[2::4], pixels[3::4], strict=True))
    for (*color, alpha), count in colors.items():
        counts[_name_of(color)] += count * alpha
        counts["transparent"] += count * (255 - alpha)
    total = _SAMPLE * _SAMPLE * 255
    shares = [(name, count / total) for name, count in counts.most_common(5)]
    named = [f"{name} {share:.0%}" for name, share in shares if share >= _SMALLEST_SHARE]
    return ", ".join(named) or "no color covers 5%"


def _name_of(color: Sequence[int]) -> str:
    def distance(name: str) -> float:
        red, green, blue = (one - other for one, other in zip(color, _COLORS[name], strict=True))
        return 2 * red * red + 4 * green * green + 3 * blue * blue

    return min(_COLORS, key=distance)


def _place(box: tuple[float, ...]) -> str:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    across = "left" if x < 1 / 3 else "right" if x > 2 / 3 else "center"
    down = "top" if y < 1 / 3 else "bottom" if y > 2 / 3 else "middle"
    return f"{down} {across}"
