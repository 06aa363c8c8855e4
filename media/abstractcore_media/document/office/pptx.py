"""PPTX: the texts, tables, charts, pictures and notes of slides, in the order of the slides (ECMA-376, part 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText, PageStart, heading, list_item, table
from ..format_handler import DocumentFile
from ..sheets import comment_text
from ..vocabularies import HIDDEN_TEXTS
from .charts import chart_blocks
from .drawing_text import body_lines, link_target, own_text, paragraph_text
from .embedded import embedded_file
from .package import Package, Relationship
from .pictures import picture_of
from .slide_layouts import SlideLayouts
from .vocabulary import OFFICE

VOCABULARY = OFFICE

_TITLES = ("title", "ctrTitle")
_TRUE = ("1", "true")
_RUNNING = {"dt": "footer", "ftr": "footer", "hdr": "header"}
"""Placeholders for dates, footers and headers, which many slides repeat."""
_NOT_CONTENT = ("sldNum", "sldImg", *_RUNNING)


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a presentation, slide by slide."""
    package = Package(file, "PowerPoint presentation")
    main = package.whole(package.main, "presentation")
    relations = package.relationships(package.main)
    size = main.find("sldSz")
    width, height = (_number(size, "cx"), _number(size, "cy")) if size is not None else (0, 0)
    number = 0
    shared = _Shared(package, SlideLayouts(package), _comment_authors(package), {}, (width, height))
    for each in main.iter("sldId"):
        relation = relations.get(each.get("r:id", ""))
        if relation is not None and package.has(relation.target):
            number += 1
            yield from _Slide(shared, relation.target, number).blocks()
    for text, kind in {**shared.running, **dict.fromkeys(shared.layouts.texts, "background")}.items():
        yield MarkdownText(f"[{kind}: {text}]", BlockPlace(member=kind), kind)


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the slides of a presentation have in common. `running` are the headers and footers that they repeat."""

    package: Package
    layouts: SlideLayouts
    authors: Mapping[str, str]
    running: dict[str, str]
    size: tuple[int, int]


class _Slide:
    def __init__(self, shared: _Shared, path: str, number: int) -> None:
        self._shared = shared
        self._package = shared.package
        self._path = path
        self._number = number
        self._relations = shared.package.relationships(path)
        self._layout = _target(self._relations, "slideLayout")
        self._tables = 0

    def blocks(self) -> Iterator[Block]:
        self._package.losses.place = f"slide {self._number}"
        slide = self._package.whole(self._path, "sld")
        hidden = ", hidden" if slide.get("show") in ("0", "false") else ""
        self._shared.layouts.show_behind(slide, self._layout)
        yield PageStart(self._number, f"[slide {self._number}{hidden}]")
        for background in slide.findall("cSld/bg"):
            yield from picture_of(background, self._package, self._relations, BlockPlace(page=self._number))
        for tree in slide.findall("cSld/spTree"):
            yield from self._shapes(tree)
        yield from self._notes()
        yield from self._comments()

    def _shapes(self, tree: Element) -> Iterator[Block]:
        for shape in tree:
            properties = next((each.find("cNvPr") for each in shape if each.tag.startswith("nv")), None)
            if properties is not None and properties.get("hidden") in _TRUE:
                self._package.losses.count("hidden shapes")
            elif shape.tag == "sp":
                if (filling := shape.find("spPr")) is not None and filling.find("blipFill") is not None:
                    place = self._place(filling.find("xfrm"))
                    yield from picture_of(filling, self._package, self._relations, place)
                yield from self._texts(shape)
            elif shape.tag == "graphicFrame":
                yield from self._frame(shape)
            elif shape.tag == "pic":
                yield from self._picture(shape)
            elif shape.tag in ("grpSp", "AlternateContent", "Choice"):
                yield from self._shapes(shape)

    def _texts(self, shape: Element) -> Iterator[Block]:
        kind = _placeholder(shape)
        if kind in _NOT_CONTENT:
            self._add_running(shape, kind, self._relations)
            return
        place = self._place(shape.find("spPr/xfrm"))
        body = shape.find("txBody")
        target = link_target(shape.find("nvSpPr/cNvPr"), self._relations)
        default = "-" if kind in ("body", "obj", "") else ""
        inherited = self._inherited(shape)
        for text, own_marker, level in body_lines(body, self._relations, inherited) if body is not None else ():
            marker = default if own_marker is None else own_marker
            line = f"[{text}]({target})" if target else text
            if kind in _TITLES:
                yield heading(line, 2, place)
            elif marker:
                yield list_item(line, marker, level, place)
            else:
                yield MarkdownText(line, place)

    def _add_running(self, shape: Element, kind: str, relations: Mapping[str, Relationship]) -> None:
        body = shape.find("txBody")
        text = own_text(body, relations) if body is not None and kind in _RUNNING else ""
        if text:
            self._shared.running.setdefault(text, _RUNNING[kind])

    def _inherited(self, shape: Element) -> Sequence[Element]:
        found = shape.find("nvSpPr/nvPr/ph")
        if found is None:
            return ()
        return self._shared.layouts.list_styles(self._layout, found.get("type", ""), found.get("idx", ""))

    def _frame(self, frame: Element) -> Iterator[Block]:
        place = self._place(frame.find("xfrm"))
        self._tables += 1
        name = f"slide {self._number} table {self._tables}"
        for found in frame.iter("tbl"):
            yield from table(((self._cells(row), place) for row in found.iterfind("tr")), name)
        for found in frame.iter("chart"):
            relation = self._relations.get(found.get("r:id", ""))
            if relation is not None:
                yield from chart_blocks(self._package, relation.target, place, name)
        for found in frame.iter("relIds"):  # SmartArt
            relation = self._relations.get(found.get("r:dm", ""))
            if relation is not None:
                for point in self._package.elements(relation.target, "pt"):
                    yield list_item(" ".join(each.text or "" for each in point.iter("t")), "-", 0, place)
        for found in frame.iter("oleObj"):
            file = embedded_file(self._package, self._relations.get(found.get("r:id", "")), place)
            if file is not None:
                yield file
                continue
            yield from picture_of(found, self._package, self._relations, place)
            yield LostContent("embedded objects", 1, where=f"slide {self._number}: {found.get('progId', 'object')}")

    def _cells(self, row: Element) -> list[str]:
        """Returns the texts of cells; those that another one covers are empty, and what they hide is counted."""
        cells: list[str] = []
        for cell in row.iterfind("tc"):
            text = "\n".join(paragraph_text(paragraph, self._relations) for paragraph in cell.iter("p"))
            if cell.get("hMerge") in _TRUE or cell.get("vMerge") in _TRUE:
                if text.strip():
                    self._package.losses.count(HIDDEN_TEXTS)
                text = ""
            cells.append(text)
        return cells

    def _picture(self, shape: Element) -> Iterator[Block]:
        for found in shape.iter():
            if found.tag in ("videoFile", "audioFile", "wavAudioFile"):
                yield LostContent("recordings", 1, where=f"slide {self._number}")
        yield from picture_of(shape, self._package, self._relations, self._place(shape.find("spPr/xfrm")))

    def _notes(self) -> Iterator[Block]:
        path = _target(self._relations, "notesSlide")
        if not path:
            return
        notes = self._package.whole(path, "notes")
        links = self._package.relationships(path)
        shapes: list[Element] = []
        for shape in notes.iter("sp"):
            kind = _placeholder(shape)
            if kind in _NOT_CONTENT:
                self._add_running(shape, kind, links)
            else:
                shapes.append(shape)
        texts = [paragraph_text(paragraph, links) for shape in shapes for paragraph in shape.iterfind("txBody/p")]
        if text := "\n".join(filter(str.strip, texts)):
            yield MarkdownText(f"[notes]\n{text}", BlockPlace(page=self._number))

    def _comments(self) -> Iterator[Block]:
        for relation in self._relations.values():
            if relation.kind == "comments" and not relation.is_external:
                for each in self._package.elements(relation.target, "cm"):
                    comments = (self._comment(part) for part in (each, *each.iterfind("replyLst/reply")))
                    yield MarkdownText("\n".join(filter(None, comments)), BlockPlace(page=self._number))

    def _comment(self, element: Element) -> str:
        """Returns a comment with its author; newer programs keep it as paragraphs, with answers after it."""
        text = element.findtext("text") or "\n".join(
            paragraph_text(each, self._relations) for each in element.iterfind("txBody/p")
        )
        return comment_text(text, self._shared.authors.get(element.get("authorId", ""), "")) if text.strip() else ""

    def _place(self, frame: Element | None) -> BlockPlace:
        """Returns the place of a shape; without a box where it inherits its position, or is in a group."""
        offset, extent = (frame.find("off"), frame.find("ext")) if frame is not None else (None, None)
        width, height = self._shared.size
        if offset is None or extent is None or width <= 0 or height <= 0:
            return BlockPlace(page=self._number)
        left, top = _number(offset, "x") / width, _number(offset, "y") / height
        right, bottom = left + _number(extent, "cx") / width, top + _number(extent, "cy") / height
        box = tuple(round(min(max(value, 0.0), 1.0), 4) for value in (left, top, right, bottom))
        return BlockPlace(page=self._number, box=box)


def _comment_authors(package: Package) -> dict[str, str]:
    """Returns the names of those who wrote comments, by the ids that comments of older and newer programs have."""
    parts = (package.related(package.main, kind) for kind in ("commentAuthors", "authors"))
    found = (each for path in parts if path for each in package.elements(path, "cmAuthor", "author"))
    return {each.get("id", ""): each.get("name", "") for each in found}


def _placeholder(shape: Element) -> str | None:
    """Returns the type of a placeholder, "" for one without a type; None for other shapes."""
    found = shape.find("nvSpPr/nvPr/ph")
    return found.get("type", "") if found is not None else None


def _target(relations: Mapping[str, Relationship], kind: str) -> str:
    return next((each.target for each in relations.values() if each.kind == kind and not each.is_external), "")


def _number(element: Element, name: str) -> int:
    value = element.get(name, "")
    return int(value) if value.lstrip("-").isdecimal() and len(value) < 16 else 0
