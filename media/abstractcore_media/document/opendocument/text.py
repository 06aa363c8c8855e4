"""ODT: headings, lists, tables, notes, comments and pictures; paragraphs are counted from 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, MarkdownText, heading, list_item
from ..format_handler import DocumentFile
from .frames import background, edges, frame_blocks, inner_shapes, table_blocks
from .package import OpenDocument
from .paragraphs import pieces_of
from .references import SHAPES
from .vocabulary import OPEN_DOCUMENT

VOCABULARY = replace(OPEN_DOCUMENT, places={"text:p": "paragraph", "text:h": "paragraph"})

_STYLES = frozenset({"list-style", "style"})
_WANTED = _STYLES | SHAPES | {"p", "h", "list", "table"}


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of an OpenDocument text."""
    package = OpenDocument(file, "OpenDocument text")
    yield from edges(package, "header")
    reader = _OpenDocumentReader(package)
    for part in ("styles.xml", "content.xml"):
        for element in package.elements(part, _STYLES if part == "styles.xml" else _WANTED):
            yield from reader.blocks(element)
    yield from edges(package, "footer")
    yield from background(package)
    yield from package.account()


@dataclass(slots=True)
class _OpenDocumentReader:
    package: OpenDocument
    paragraphs: int = 0
    tables: int = 0
    numbered: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    """Names of list styles with the levels, from 0, whose items are numbered."""
    parents: dict[str, str] = field(default_factory=dict[str, str])

    def blocks(self, element: Element, depth: int = -1, style: str = "", marker: str = "") -> Iterator[Block]:
        """Yields the blocks of a paragraph, list or table; styles are remembered."""
        match element.tag:
            case "p" | "h":
                yield from self._paragraph(element, depth, marker)
            case "list":
                yield from self._list(element, depth + 1, style)
            case "table":
                self.tables += 1
                place = BlockPlace(paragraph=self.paragraphs + 1)
                self.paragraphs += sum(1 for _ in element.iter("p"))
                yield from table_blocks(element, place, f"table {self.tables}")
                yield from inner_shapes(element, self.package, place, f"frame {self.paragraphs}")
            case _ if element.tag in SHAPES:
                yield from frame_blocks(element, self.package, BlockPlace(paragraph=self.paragraphs + 1), "frame")
            case "list-style":
                for level in element.iter("list-level-style-number"):
                    number = level.get("level", "")
                    if number.isdecimal():
                        self.numbered.add((element.get("name", ""), int(number) - 1))
            case "style":
                self.parents[element.get("name", "")] = element.get("parent-style-name", "")
            case _:
                pass

    def _paragraph(self, element: Element, depth: int, marker: str) -> Iterator[Block]:
        self.paragraphs += 1
        place = BlockPlace(paragraph=self.paragraphs)
        for piece in pieces_of(element):
            if isinstance(piece, Element):
                yield from frame_blocks(piece, self.package, place, f"frame {self.paragraphs}")
            elif element.tag == "h":
                level = element.get("outline-level", "1")
                yield heading(piece, int(level) if level.isdecimal() else 1, place)
            elif self._is_title(element.get("style-name", "")):
                yield heading(piece, 1, place)
            elif depth >= 0:
                yield list_item(piece, marker, depth, place)
            else:
                yield MarkdownText(piece.strip(), place)

    def _list(self, element: Element, depth: int, style: str) -> Iterator[Block]:
        style = element.get("style-name") or style
        is_numbered = (style, depth) in self.numbered
        number = 0
        for item in element:
            if item.tag == "list-item":
                number += 1
            marker = item.findtext("number") or (f"{number}." if is_numbered else "-")
            for child in item:
                yield from self.blocks(child, depth, style, marker)

    def _is_title(self, style: str) -> bool:
        return "Title" in (style, self.parents.get(style))
