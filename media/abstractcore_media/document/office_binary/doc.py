"""DOC (Word 97 to 2003): headings, lists, tables, notes, comments, headers and footers, text boxes and pictures.

What it says of them is what the reader of DOCX says. Paragraphs are counted from 1, also in table cells and text boxes.
Documents of versions before Word 97, whose files are of another kind, are refused.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..blocks import Block, BlockPlace, MarkdownText, heading, list_item
from ..counting import BULLET
from ..format_handler import DocumentFile
from ..office.decryption import OLE, decrypted
from ..office.docx_runs import DELETIONS
from .doc_drawings import DocDrawings
from .doc_file import WordFile, opened, positions_of
from .doc_lists import DocLists
from .doc_properties import DocStyles, ParagraphProperties, paragraph_properties
from .doc_runs import DocRuns, Drawn
from .doc_tables import OpenTables
from .doc_vocabulary import WORD

VOCABULARY = WORD

_ENDS = re.compile("[\r\x07\x0c]")
_MAX_BYTES = 100_000_000
_EDGES = ("header", "header", "footer", "footer", "header", "footer")
"""What the headers and footers of a section are: of even and odd pages, and of the first one."""


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a document."""
    if len(file.data) > _MAX_BYTES:
        raise file.work.too_large(f"it has {len(file.data):,} bytes")
    if file.password is not None and file.data.startswith(OLE):
        file = replace(file, data=decrypted(file), password=None)
    yield from _DocReader(opened(file), file).all()


@dataclass(frozen=True, slots=True)
class _Paragraph:
    begin: int
    end: int
    properties: ParagraphProperties
    is_cell_end: bool


class _DocReader:
    def __init__(self, word: WordFile, file: DocumentFile) -> None:
        self._word = word
        self._file = file
        self._styles = DocStyles(word.table("stshf"))
        self._lists = DocLists(word.table_and_more("plfLst"), word.table("plfLfo"))
        self._drawings = DocDrawings(word, file.work)
        self._counts: Counter[str] = Counter()
        self._runs = DocRuns(
            word.text,
            word.character_runs(),
            self._styles,
            file.losses,
            self._counts,
            self._drawings.form_state,
            _fonts(word.table("sttbfFfn")),
        )
        runs = word.paragraph_runs()
        self._paragraph_begins = [run.begin for run in runs]
        self._paragraph_runs = runs
        self._properties: dict[bytes, ParagraphProperties] = {}
        self._sections = {position - 1 for position in positions_of(word.table("plcfSed"), 12)[0]}
        self._boxes = self._text_boxes()
        self._paragraphs = 0
        self._tables = 0
        if self._lists.is_damaged:
            file.losses.count("damaged tables of the document", "lists")

    def all(self) -> Iterator[Block]:
        """Yields the blocks of all texts."""
        notes = [*self._notes("footnotes", "ccpFtn", "plcffnd"), *self._notes("endnotes", "ccpEdn", "plcfend")]
        self._runs.comments, drawn = self._comments()
        edges = list(self._edges())
        yield from (block for kind, block in edges if kind == "header")
        yield from self._body(*self._word.spans["ccpText"])
        for number in list(self._boxes):  # of shapes whose place is not known
            yield from self._box(number)
        yield from notes
        yield from drawn
        yield from (block for kind, block in edges if kind == "footer")
        if deletions := self._counts[DELETIONS]:
            yield MarkdownText(f"[{DELETIONS}, shown as ~~struck through~~: {deletions}]")

    def _body(self, begin: int, end: int) -> Iterator[Block]:
        """Yields the paragraphs and tables between two positions."""
        self._runs.begin()
        tables = OpenTables(self._new_table_name, self._file.work)
        for paragraph in self._split(begin, end):
            properties = paragraph.properties
            yield from tables.at_depth(properties.depth)
            if properties.depth and properties.is_row_end:
                tables.end_row(properties.row)
                continue
            place = self._next_place()
            blocks = self._paragraph(paragraph, place)
            if not properties.depth:
                yield from blocks
                continue
            tables.add(blocks, place)
            if paragraph.is_cell_end:
                tables.end_cell()
        yield from tables.at_depth(0)

    def _paragraph(self, paragraph: _Paragraph, place: BlockPlace) -> Iterator[Block]:
        properties = paragraph.properties
        found = self._runs.of(paragraph.begin, paragraph.end, properties.style)
        level = self._styles.heading_level(properties)
        number, list_level = self._styles.list_of(properties)
        marker = ""
        if number:
            list_level = self._list_level(number, list_level, properties.style)
            marker = self._lists.marker(number, list_level)  # items without text are counted too
        is_first = True
        for each in found:
            if isinstance(each, Drawn):
                yield from self._drawn(each, place)
            elif each.strip():
                if level is not None:
                    start = f"{marker} " if is_first and marker not in ("", BULLET) else ""
                    yield heading(start + each, level, place)
                elif marker:
                    yield list_item(each, marker if is_first else BULLET, list_level or 0, place)
                else:
                    yield MarkdownText(each.strip(), place)
                is_first = False

    def _list_level(self, number: int, level: int | None, style: int) -> int:
        if level is not None:
            return level
        levels = (self._lists.level_of_style(number, each) for each in self._styles.numbers(style))
        return next((each for each in levels if each is not None), 0)

    def _drawn(self, drawn: Drawn, place: BlockPlace) -> Iterator[Block]:
        if drawn.object is not None:
            yield from self._drawings.object_of(drawn.object, place)
        elif drawn.place is not None:
            yield from self._drawings.pictures_of(drawn.place, place)
        else:
            for number in self._drawings.shapes_at(drawn.position):
                yield from self._box(number)
            yield from self._drawings.shown_at(drawn.position, place)

    def _box(self, number: int) -> Iterator[Block]:
        """Yields the text of a text box, once."""
        span = self._boxes.pop(number, None)
        if span is not None:
            yield from self._body(*span)

    def _split(self, begin: int, end: int) -> Iterator[_Paragraph]:
        """Yields the paragraphs between two positions."""
        text, sections = self._word.text, self._sections
        end = min(end, len(text))
        for mark in _ENDS.finditer(text, begin, end):
            at = mark.start()
            if text[at] == "\x0c" and at not in sections:  # the end of a page
                continue
            properties = self._properties_at(at)
            yield _Paragraph(begin, at, properties, text[at] == "\x07" or properties.is_cell_end)
            begin = at + 1
        if begin < end:
            yield _Paragraph(begin, end, self._properties_at(end - 1), False)

    def _properties_at(self, position: int) -> ParagraphProperties:
        index = bisect_right(self._paragraph_begins, position) - 1
        run = self._paragraph_runs[index] if index >= 0 else None
        data = run.properties if run is not None and position < run.end else b""
        found = self._properties.get(data)
        if found is None:
            found = self._properties[data] = paragraph_properties(data, self._word.data)
        return found

    def _next_place(self) -> BlockPlace:
        self._paragraphs += 1
        if not self._paragraphs & 0xFF:
            self._file.work.check()
        self._file.losses.place = f"paragraph {self._paragraphs}"
        return BlockPlace(paragraph=self._paragraphs)

    def _new_table_name(self) -> str:
        self._tables += 1
        return f"table {self._tables}"

    def _notes(self, kind: str, story: str, table: str) -> list[Block]:
        """Returns footnotes or endnotes, as the Markdown that their references belong to."""
        prefix = "e" if kind == "endnotes" else ""
        references = positions_of(self._word.table(f"{table}Ref"), 2)[0][:-1]
        names = {position: f"[^{prefix}{number}]" for number, position in enumerate(references, 1)}
        self._runs.notes = {**self._runs.notes, **names}
        place = BlockPlace(member=kind)
        found: list[Block] = []
        for number, span in enumerate(self._spans(story, f"{table}Txt", 0), 1):
            text, drawn = self._joined(*span, place)
            if text:
                found.append(MarkdownText(f"[^{prefix}{number}]: {text}", place, kind))
            found += drawn
        return found

    def _comments(self) -> tuple[dict[int, str], list[Block]]:
        """Returns the comments by position, and the pictures in them."""
        positions, descriptions = positions_of(self._word.table("plcfandRef"), 30)
        authors = _authors(self._word.table("grpXstAtnOwners"))
        found: dict[int, str] = {}
        drawn: list[Block] = []
        spans = self._spans("ccpAtn", "plcfandTxt", 0)
        for position, description, span in zip(positions, descriptions, spans, strict=False):
            text, inside = self._joined(*span, BlockPlace(member="comments"))
            index = int.from_bytes(description[20:22], "little")
            author = authors[index] if index < len(authors) else ""
            found[position] = f"[comment by {author or 'unknown'}: {text}]"
            drawn += inside
        return found, drawn

    def _edges(self) -> Iterator[tuple[str, Block]]:
        """Yields the texts and pictures of headers and footers, each once."""
        seen: dict[tuple[str, str], None] = {}
        stories = list(self._spans("ccpHdd", "plcfHdd", 0))[6:]  # those before separate notes
        for index, (begin, end) in enumerate(stories):
            kind = _EDGES[index % len(_EDGES)]
            self._file.losses.place = kind
            place = BlockPlace(member=kind)
            self._runs.begin()
            for paragraph in self._split(begin, end):
                texts, drawn = self._texts_of(paragraph, place)
                key = kind, " ".join(" ".join(texts).split())
                if key[1] and key not in seen:
                    seen[key] = None
                    yield kind, MarkdownText(f"[{kind}: {key[1]}]", place, kind)
                for block in drawn:
                    yield kind, block

    def _joined(self, begin: int, end: int, place: BlockPlace) -> tuple[str, list[Block]]:
        """Returns the text of paragraphs that are a part of another block, and what is drawn in them."""
        self._runs.begin()
        texts: list[str] = []
        drawn: list[Block] = []
        for paragraph in self._split(begin, end):
            found, inside = self._texts_of(paragraph, place)
            texts += found
            drawn += inside
        return " ".join(filter(None, texts)), drawn

    def _texts_of(self, paragraph: _Paragraph, place: BlockPlace) -> tuple[list[str], list[Block]]:
        texts: list[str] = []
        drawn: list[Block] = []
        for each in self._runs.of(paragraph.begin, paragraph.end, paragraph.properties.style):
            if isinstance(each, str):
                texts.append(each.strip())
                continue
            for block in self._drawn(each, place):
                if isinstance(block, MarkdownText) and not block.group:
                    texts.append(block.text)
                else:
                    drawn.append(block)
        return texts, drawn

    def _spans(self, story: str, table: str, size: int) -> Iterator[tuple[int, int]]:
        """Yields the begin and end of each text of a story, such as a note; the last position is of no text."""
        begin, end = self._word.spans[story]
        positions = positions_of(self._word.table(table), size)[0]
        yield from _between(positions[:-1], begin, end)

    def _text_boxes(self) -> dict[int, tuple[int, int]]:
        """Returns where the text of each text box is, by the number of its shape."""
        found: dict[int, tuple[int, int]] = {}
        for table, story in (("plcftxbxTxt", "ccpTxbx"), ("plcfHdrtxbxTxt", "ccpHdrTxbx")):
            begin, end = self._word.spans[story]
            positions, boxes = positions_of(self._word.table(table), 22)
            for box, span in zip(boxes, _between(positions, begin, end), strict=False):
                is_unused = int.from_bytes(box[8:10], "little")
                if not is_unused:
                    found[int.from_bytes(box[14:18], "little")] = span
        return found


def _between(positions: Iterable[int], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the spans between positions of a story; damaged ones are empty."""
    before: int | None = None
    for position in positions:
        at = min(begin + position, end)
        if before is not None:
            yield before, max(before, at)
        before = at if before is None else max(before, at)


def _authors(table: bytes) -> list[str]:
    """Returns the names of the authors of comments."""
    found: list[str] = []
    place = 0
    while place + 2 <= len(table):
        size = 2 * int.from_bytes(table[place : place + 2], "little")
        found.append(table[place + 2 : place + 2 + size].decode("utf-16-le", "replace"))
        place += 2 + size
    return found


def _fonts(table: bytes) -> list[str]:
    """Returns the names of the fonts."""
    found: list[str] = []
    place = 4
    while place < len(table):
        size = table[place] + 1
        name = table[place + 40 : place + size].decode("utf-16-le", "replace")
        found.append(name.partition("\0")[0])
        place += size
    return found
