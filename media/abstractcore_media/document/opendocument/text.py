"""ODT: headings, lists, tables, notes, comments and pictures; paragraphs are counted from 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, MarkdownText, heading, list_item
from ..format_handler import DocumentFile
from .frames import MasterPages, frame_blocks, inner_shapes, table_blocks
from .numbering import BULLET
from .package import OpenDocument
from .paragraphs import pieces_of
from .references import SHAPES
from .vocabulary import OPEN_DOCUMENT

VOCABULARY = replace(OPEN_DOCUMENT, places={"text:p": "paragraph", "text:h": "paragraph"})

_WANTED = SHAPES | {"p", "h", "list", "table"}
_UNNUMBERED = " "
"""The marker of a paragraph that is not the first one of its item."""


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of an OpenDocument text."""
    package = OpenDocument(file, "OpenDocument text")
    masters = MasterPages(package)
    yield from masters.blocks("header")
    reader = _OpenDocumentReader(package)
    for element in package.elements("content.xml", _WANTED):
        yield from reader.blocks(element)
    yield from masters.blocks("footer")
    yield from masters.blocks("background")
    yield from package.account()


@dataclass(slots=True)
class _OpenDocumentReader:
    package: OpenDocument
    paragraphs: int = 0
    tables: int = 0

    def blocks(self, element: Element, depth: int = -1, marker: str = "") -> Iterator[Block]:
        """Yields the blocks of a paragraph, list or table."""
        match element.tag:
            case "p" | "h":
                yield from self._paragraph(element, depth, marker)
            case "list":
                style = element.get("style-name") or self._style_of_items(element)
                yield from self._list(element, 0, style, self.package.numbers.begin(element, style))
            case "table":
                self.tables += 1
                place = BlockPlace(paragraph=self.paragraphs + 1)
                self.paragraphs += sum(1 for _ in element.iter("p"))
                yield from table_blocks(element, place, f"table {self.tables}")
                yield from inner_shapes(element, self.package, place, f"frame {self.paragraphs}")
            case _ if element.tag in SHAPES:
                yield from frame_blocks(element, self.package, BlockPlace(paragraph=self.paragraphs + 1), "frame")
            case _:
                pass

    def _paragraph(self, element: Element, depth: int, marker: str) -> Iterator[Block]:
        self.paragraphs += 1
        place = BlockPlace(paragraph=self.paragraphs)
        number = self._heading_number(element, marker) if element.tag == "h" else ""
        for piece in pieces_of(element):
            if isinstance(piece, Element):
                yield from frame_blocks(piece, self.package, place, f"frame {self.paragraphs}")
            elif element.tag == "h":
                yield heading(f"{number} {piece}", _outline_level(element), place)
                number = ""
            elif self.package.styles.is_title(element):
                yield heading(piece, 1, place)
            elif depth >= 0 and marker:
                yield list_item(piece, marker, depth, place)
                marker = _UNNUMBERED
            else:
                yield MarkdownText(piece.strip(), place)

    def _heading_number(self, element: Element, marker: str) -> str:
        """Returns the number of a heading by the outline, or by the list that it stands in."""
        if self.package.styles.list_of(element) != "":
            marker = self.package.numbers.heading(element, _outline_level(element) - 1) or marker
        return "" if marker == BULLET else marker.strip()

    def _list(self, element: Element, depth: int, style: str, key: str) -> Iterator[Block]:
        for item in element:
            marker = ""
            if item.tag == "list-item" and any(child.tag in ("p", "h") for child in item):
                counted = self.package.numbers.item(key, style, depth, item)
                marker = item.findtext("number") or counted
            for child in item:
                if child.tag == "list":
                    yield from self._list(child, depth + 1, child.get("style-name") or style, key)
                    continue
                yield from self.blocks(child, depth, marker)
                if marker and child.tag in ("p", "h"):
                    marker = _UNNUMBERED

    def _style_of_items(self, element: Element) -> str:
        first = element.find("list-item/p")
        return (self.package.styles.list_of(first) if first is not None else None) or ""


def _outline_level(element: Element) -> int:
    level = element.get("outline-level", "1")
    return int(level) if level.isdecimal() and len(level) < 3 else 1
