"""The layouts and masters of slides: bullets and numbers that placeholders inherit, and texts behind all slides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from ..xml_elements import elements
from .drawing_text import own_text
from .package import Package

_STYLES = {"title": "titleStyle", "ctrTitle": "titleStyle"} | dict.fromkeys(
    ("body", "subTitle", "obj", ""), "bodyStyle"
)
_MASTERS = {"ctrTitle": "title", "subTitle": "body", "obj": "body", "": "body"}
"""The placeholders of masters that stand for others."""
_WANTED = frozenset({"sp", "txStyles"})
_HIDES_MASTER = ("0", "false")


@dataclass(slots=True)
class _LayoutPart:
    """A layout or master: type, index and list style of its placeholders, styles of texts, texts of other shapes."""

    placeholders: list[tuple[str, str, Element]] = field(default_factory=list[tuple[str, str, Element]])
    styles: Element = field(default_factory=lambda: Element("txStyles"))
    texts: list[str] = field(default_factory=list[str])
    shows_master: bool = True


class SlideLayouts:
    """The layouts and masters of a presentation, each read once."""

    def __init__(self, package: Package) -> None:
        self.texts: dict[str, None] = {}
        """The texts that layouts and masters show behind the slides, each once."""
        self._package = package
        self._masters: dict[str, str] = {}
        self._parts: dict[str, _LayoutPart] = {}
        self._styles: dict[tuple[str, str, str], Sequence[Element]] = {}

    def show_behind(self, slide: Element, layout: str) -> None:
        """Adds the texts that a slide shows of its layout and master."""
        if layout and slide.get("showMasterSp") not in _HIDES_MASTER:
            part = self._part(layout)
            self.texts |= dict.fromkeys(part.texts)
            if part.shows_master:
                self.texts |= dict.fromkeys(self._part(self._master(layout)).texts)

    def list_styles(self, layout: str, kind: str, index: str) -> Sequence[Element]:
        """Returns the list styles of a placeholder, the nearest first."""
        if not layout:
            return ()
        key = layout, kind, index
        if key not in self._styles:
            self._styles[key] = self._list_styles(layout, kind, index)
        return self._styles[key]

    def _list_styles(self, layout: str, kind: str, index: str) -> Sequence[Element]:
        shapes = self._part(layout).placeholders
        own = [style for _, number, style in shapes if number == index and index] or [
            style for each, _, style in shapes if each == kind
        ]
        master = self._part(self._master(layout))
        above = [style for each, _, style in master.placeholders if each == _MASTERS.get(kind, kind)]
        named = master.styles.find(_STYLES.get(kind, "otherStyle"))
        return [*own[:1], *above[:1], *([named] if named is not None else [])]

    def _master(self, layout: str) -> str:
        if layout not in self._masters:
            self._masters[layout] = self._package.related(layout, "slideMaster")
        return self._masters[layout]

    def _part(self, path: str) -> _LayoutPart:
        if path not in self._parts:
            self._parts[path] = part = _LayoutPart()
            for each in elements(self._package.chunks(path), _WANTED, frozenset({"sldLayout"})):
                placeholder, body = each.find("nvSpPr/nvPr/ph"), each.find("txBody")
                if each.tag == "txStyles":
                    part.styles = each
                elif each.tag == "sldLayout":
                    part.shows_master = each.get("showMasterSp") not in _HIDES_MASTER
                elif placeholder is None and body is not None:
                    part.texts += filter(None, [own_text(body, {})])
                elif placeholder is not None and body is not None and (style := body.find("lstStyle")) is not None:
                    part.placeholders.append((placeholder.get("type", ""), placeholder.get("idx", ""), style))
        return self._parts[path]
