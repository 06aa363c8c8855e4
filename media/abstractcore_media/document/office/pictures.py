"""The pictures of Office Open XML drawings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, Picture
from .package import Package, Relationship


def picture_of(
    element: Element, package: Package, relations: Mapping[str, Relationship], place: BlockPlace
) -> Iterator[Block]:
    """Yields the pictures in a drawing; one outside of the file is lost."""
    for each in element.iter():
        if each.tag == "blip":
            key = each.get("r:embed") or each.get("r:link", "")
        elif each.tag == "imagedata":
            key = each.get("r:id", "")
        else:
            continue
        if not key:
            continue
        relation = relations.get(key)
        data = package.read(relation.target) if relation is not None and not relation.is_external else b""
        name = relation.target if relation is not None else key
        yield Picture(data, name, place, _description(element)) if data else LostContent("pictures", 1, where=name)


def _description(element: Element) -> str:
    for each in element.iter():
        if each.tag in ("docPr", "cNvPr", "shape"):
            text = each.get("descr") or each.get("alt") or ""
            if text:
                return " ".join(text.split())
    return ""
