"""The bullets and numbers that placeholders of slides inherit from their layout and its master."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from ..xml_elements import elements
from .package import Package

_STYLES = {"title": "titleStyle", "ctrTitle": "titleStyle"} | dict.fromkeys(
    ("body", "subTitle", "obj", ""), "bodyStyle"
)
_MASTERS = {"ctrTitle": "title", "subTitle": "body", "obj": "body", "": "body"}
"""The placeholders of masters that stand for others."""
_WANTED = frozenset({"sp", "txStyles"})


class SlideLayouts:
    """The layouts and masters of a presentation, each read once."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._masters: dict[str, str] = {}
        self._parts: dict[str, tuple[list[tuple[str, str, Element]], Element]] = {}

    def list_styles(self, layout: str, kind: str, index: str) -> Sequence[Element]:
        """Returns the list styles of a placeholder, the nearest first."""
        if not layout:
            return ()
        if layout not in self._masters:
            self._masters[layout] = self._package.related(layout, "slideMaster")
        master = self._masters[layout]
        shapes, _ = self._part(layout)
        own = [style for _, number, style in shapes if number == index and index] or [
            style for each, _, style in shapes if each == kind
        ]
        shapes, texts = self._part(master)
        above = [style for each, _, style in shapes if each == _MASTERS.get(kind, kind)]
        named = texts.find(_STYLES.get(kind, "otherStyle"))
        return [*own[:1], *above[:1], *([named] if named is not None else [])]

    def _part(self, path: str) -> tuple[list[tuple[str, str, Element]], Element]:
        """Returns type, index and list style of each placeholder in a part, and the styles of its texts."""
        if path not in self._parts:
            shapes: list[tuple[str, str, Element]] = []
            texts = Element("txStyles")
            for each in elements(self._package.chunks(path), _WANTED):
                placeholder, style = each.find("nvSpPr/nvPr/ph"), each.find("txBody/lstStyle")
                if each.tag == "txStyles":
                    texts = each
                elif placeholder is not None and style is not None:
                    shapes.append((placeholder.get("type", ""), placeholder.get("idx", ""), style))
            self._parts[path] = shapes, texts
        return self._parts[path]
