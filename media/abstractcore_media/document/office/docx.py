"""DOCX: headings, lists, tables, notes, comments, headers and footers, text boxes and pictures (ECMA-376, part 1).

Deletions of tracked changes are struck through. Paragraphs are counted from 1, also in table cells and text boxes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from xml.etree.ElementTree import Element

from ..blocks import AttachedFile, Block, BlockPlace, LostContent, MarkdownText, heading, inner_row, list_item, table
from ..counting import BULLET
from ..format_handler import DocumentFile
from ..marks import Marks, marked
from .charts import chart_blocks
from .docx_numbering import Numbering
from .docx_runs import DELETIONS, Runs
from .docx_styles import Styles
from .embedded import embedded_file
from .package import Package
from .pictures import picture_of
from .vocabulary import OFFICE

VOCABULARY = replace(OFFICE, places={"w:p": "paragraph"})

_TITLE = "Word document"
_STRUCK = Marks(is_struck=True)
_INLINE = frozenset({"del", "oMath", "oMathPara", "r"})
_BLOCKS = ("p", "tbl", "sdtPr", "altChunk", *_INLINE)
"""What stands in a document or header; inline content that no paragraph is around, such as equations, too."""


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a Word document."""
    package = Package(file, _TITLE)
    reader = _DocxReader(package, package.main)
    yield from reader.edges("header")
    yield from reader.body(package.elements(package.main, *_BLOCKS))
    yield from reader.notes("footnotes", "footnote")
    yield from reader.notes("endnotes", "endnote")
    yield from reader.comments()
    yield from reader.edges("footer")
    yield from reader.account()


class _DocxReader:
    def __init__(self, package: Package, path: str) -> None:
        self._package = package
        self._relations = package.relationships(path)
        self._styles = Styles(package, self._path("styles"))
        self._numbering = Numbering(package, self._path("numbering"), self._styles.lists)
        self._counts: Counter[str] = Counter()
        self._drawn_in_comments: list[Block] = []
        self._comments = self._read_comments()
        self._paragraphs = 0
        self._tables = 0

    def body(self, elements: Iterator[Element]) -> Iterator[Block]:
        """Yields the paragraphs and tables among the elements."""
        for element in _paragraphs(elements):
            if element.tag == "p":
                yield from self._paragraph(element)
            elif element.tag == "tbl":
                yield from self._table(element)
            elif element.tag == "altChunk":
                yield from self._inserted(element)

    def notes(self, kind: str, tag: str) -> Iterator[Block]:
        """Yields footnotes or endnotes, as the Markdown that their references belong to."""
        path = self._path(kind)
        with self._within(path):
            for note in self._package.elements(path, tag):
                if note.get("type") in ("separator", "continuationSeparator", "continuationNotice"):
                    continue
                place = BlockPlace(member=kind)
                text, drawn = self._joined(note.iter("p"), place)
                if text:
                    yield MarkdownText(f"[^{_note_prefix(kind)}{note.get('id')}]: {text}", place, kind)
                yield from drawn

    def edges(self, kind: str) -> Iterator[Block]:
        """Yields the texts and pictures of headers or footers, each once."""
        seen: dict[str, None] = {}
        pictures: dict[str, Block] = {}
        place = BlockPlace(member=kind)
        for relation in tuple(self._relations.values()):
            if relation.kind != kind:
                continue
            self._package.losses.place = kind
            with self._within(relation.target):
                for block in _paragraphs(self._package.elements(relation.target, *_BLOCKS)):
                    for each in block.iter("p") if block.tag == "tbl" else (block,):
                        text, drawn = self._joined((each,), place)
                        seen[" ".join(text.split())] = None
                        pictures |= {getattr(each, "name", repr(each)): each for each in drawn}
        for text in filter(None, seen):
            yield MarkdownText(f"[{kind}: {text}]", place, kind)
        yield from pictures.values()

    def comments(self) -> Iterator[Block]:
        """Yields the pictures of comments, whose texts stand where they belong."""
        yield from self._drawn_in_comments

    def account(self) -> Iterator[Block]:
        """Yields the number of tracked deletions, whose words are struck through."""
        if deletions := self._counts[DELETIONS]:
            yield MarkdownText(f"[{DELETIONS}, shown as ~~struck through~~: {deletions}]")

    def _paragraph(self, element: Element) -> Iterator[Block]:
        self._paragraphs += 1
        place = BlockPlace(paragraph=self._paragraphs)
        self._package.losses.place = f"paragraph {self._paragraphs}"
        runs = self._runs(self._comments).of(element)
        level = self._styles.heading_level(element)
        item = self._styles.list_of(element, self._numbering.level_of_style)
        marker = self._numbering.marker(*item) if item is not None else ""  # items without text are counted too
        is_first = True
        for run in runs:
            if isinstance(run, Element):
                yield from self._drawn(run, place)
            elif run.strip():
                if level is not None:
                    number = f"{marker} " if is_first and marker not in ("", BULLET) else ""
                    yield heading(number + run, level, place)
                elif item is not None and marker:
                    yield list_item(run, marker if is_first else BULLET, item[1], place)
                else:
                    yield MarkdownText(run.strip(), place)
                is_first = False

    def _drawn(self, element: Element, place: BlockPlace) -> Iterator[Block]:
        """Yields the contents of a drawing: text boxes, a chart, a picture."""
        for each in _inside(element):
            if each.tag == "txbxContent":
                yield from self.body(inner for inner in each if inner.tag in ("p", "tbl"))
        yield from self._shown(_without_boxes(element), place)

    def _shown(self, element: Element, place: BlockPlace) -> Iterator[Block]:
        """Yields what a drawing has beside text boxes: words as shapes, charts, diagrams, objects, pictures."""
        for each in element.iter("textpath"):
            yield MarkdownText(each.get("string", ""), place)
        for each in element.iter("chart"):
            relation = self._relations.get(each.get("r:id", ""))
            if relation is not None:
                self._tables += 1
                yield from chart_blocks(self._package, relation.target, place, f"chart {self._tables}")
        for each in element.iter("relIds"):  # SmartArt
            relation = self._relations.get(each.get("r:dm", ""))
            if relation is not None:
                texts = (each.text or "" for each in self._package.elements(relation.target, "t"))
                yield MarkdownText("\n".join(filter(str.strip, texts)), place)
        for each in element.iter("OLEObject"):
            file = embedded_file(self._package, self._relations.get(each.get("r:id", "")), place)
            if file is not None:  # its picture shows the same
                yield file
                return
            yield LostContent("embedded objects", 1, where=each.get("ProgID", "object"))
        yield from picture_of(element, self._package, self._relations, place)

    def _inserted(self, element: Element) -> Iterator[Block]:
        """Yields a file that Word inserts when it opens the document."""
        relation = self._relations.get(element.get("r:id", ""))
        if relation is None or relation.is_external:
            yield LostContent("files that a program inserts", 1, where=relation.target if relation else "")
            return
        yield AttachedFile(
            self._package.read(relation.target), relation.target, BlockPlace(paragraph=self._paragraphs + 1)
        )

    def _table(self, element: Element) -> Iterator[Block]:
        if (frame := _only_cell(element)) is not None and frame.find("tbl") is not None:
            yield from self.body(_inside(frame, into=("sdt", "sdtContent", "customXml")))
            return
        self._tables += 1
        name = f"table {self._tables}"
        inside: list[Block] = []
        rows = ((self._row(row, inside), BlockPlace(paragraph=first)) for row, first in self._rows(element))
        yield from table(rows, name)
        yield from inside

    def _rows(self, element: Element) -> Iterator[tuple[Element, int]]:
        for row in _inside(element, into=("sdt", "sdtContent", "ins", "customXml")):
            if row.tag == "tr":
                yield row, self._paragraphs + 1

    def _row(self, row: Element, inside: list[Block]) -> list[str]:
        """Returns the texts of the cells, with those of tables in them; other blocks are added to `inside`."""
        cells: list[str] = []
        is_deleted = row.find("trPr/del") is not None
        for cell in _inside(row, into=("sdt", "sdtContent", "customXml")):
            if cell.tag != "tc":
                continue
            merge = cell.find("tcPr/vMerge")
            is_covered = merge is not None and merge.get("val") != "restart"
            texts: list[str] = []
            for each in _paragraphs(_inside(cell, into=("sdt", "sdtContent", "customXml"))):
                if each.tag == "p":
                    blocks = list(self._paragraph(each))
                    texts += [block.text for block in blocks if isinstance(block, MarkdownText)]
                    inside += [block for block in blocks if not isinstance(block, MarkdownText)]
                elif each.tag == "tbl":
                    rows = (inner_row(self._row(row, inside)) for row, _ in self._rows(each))
                    texts += filter(None, rows)
            if is_deleted and not any("~~" in text for text in texts):
                self._counts[DELETIONS] += any(texts)
                texts = [marked(text, _STRUCK) for text in texts]
            cells.append("" if is_covered else "\n".join(texts))
            span = cell.find("tcPr/gridSpan")
            width = span.get("val", "") if span is not None else ""
            cells += [""] * (min(int(width), 64) - 1 if width.isdecimal() else 0)
        return cells

    def _joined(self, paragraphs: Iterable[Element], place: BlockPlace) -> tuple[str, list[Block]]:
        """Returns the text of paragraphs that are a part of another block, and what is drawn in them."""
        texts: list[str] = []
        drawn: list[Block] = []
        for element in paragraphs:
            for run in self._runs({}).of(element):
                if isinstance(run, str):
                    texts.append(run.strip())
                    continue
                boxes = (each for each in _inside(run) if each.tag == "txbxContent")
                text, inside = self._joined((each for box in boxes for each in box.iter("p")), place)
                texts.append(text)
                drawn += inside
                for block in self._shown(_without_boxes(run), place):
                    if isinstance(block, MarkdownText) and not block.group:
                        texts.append(block.text)
                    else:
                        drawn.append(block)
        return " ".join(filter(None, texts)), drawn

    @contextmanager
    def _within(self, path: str) -> Generator[None]:
        """Looks up relationships as those of another part, while it is read."""
        before, self._relations = self._relations, self._package.relationships(path) if path else {}
        try:
            yield
        finally:
            self._relations = before

    def _runs(self, comments: dict[str, str]) -> Runs:
        return Runs(self._relations, comments, self._styles, self._counts, self._package.losses)

    def _read_comments(self) -> dict[str, str]:
        comments: dict[str, str] = {}
        path = self._path("comments")
        with self._within(path):
            for each in self._package.elements(path, "comment"):
                text, drawn = self._joined(each.iter("p"), BlockPlace(member="comments"))
                self._drawn_in_comments += drawn
                comments[each.get("id", "")] = f"[comment by {each.get('author') or 'unknown'}: {text}]"
        return comments

    def _path(self, kind: str) -> str:
        return next((each.target for each in self._relations.values() if each.kind == kind), "")


def _note_prefix(kind: str) -> str:
    return "e" if kind == "endnotes" else ""


def _paragraphs(elements: Iterable[Element]) -> Iterator[Element]:
    """Yields paragraphs and tables; a paragraph that a content control is around has the control in itself."""
    control: Element | None = None
    for element in elements:
        if element.tag == "sdtPr":
            control = element
        elif element.tag in _INLINE:
            around = Element("p")
            around.append(element)
            yield around
        elif control is not None and element.tag == "p":
            wrapped, inside = Element("p", element.attrib), Element("sdt")
            inside.append(control)
            for child in element:
                (wrapped if child.tag == "pPr" else inside).append(child)
            wrapped.append(inside)
            control = None
            yield wrapped
        else:
            yield element


def _only_cell(table: Element) -> Element | None:
    """Returns the cell of a table that has no other one: it is a frame around what stands in it."""
    rows = table.findall("tr")
    cells = rows[0].findall("tc") if len(rows) == 1 else ()
    return cells[0] if len(cells) == 1 and table.find("sdt") is None else None


def _inside(element: Element, into: tuple[str, ...] | None = None) -> Iterator[Element]:
    """Yields the elements inside; with `into`, goes only into those that are called so."""
    for child in element:
        yield child
        if into is None or child.tag in into:
            yield from _inside(child, into)


def _without_boxes(element: Element) -> Element:
    """Returns a drawing without its text boxes."""
    found = Element(element.tag, element.attrib)
    found.text = element.text
    for child in element:
        if child.tag != "txbxContent":
            found.append(_without_boxes(child))
    return found
