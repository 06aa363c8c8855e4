"""PPT: the slides of PowerPoint 97 to 2003 (MS-PPT), written as the reader of PPTX writes them.

Files that are damaged, or of older programs, are read by anydoc, which gives neither slides nor tables nor notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .. import rtf
from ..blocks import AttachedFile, Block, BlockPlace, MarkdownText, PageStart, heading, list_item, table
from ..format_handler import DocumentFile
from ..office.decryption import OLE, decrypted
from ..sheets import comment_text
from .ppt_objects import PresentationObjects
from .ppt_records import DAMAGES, PresentationRecords, Record, opened, parts_of
from .ppt_running import OF_NOTES, OF_SLIDES, RunningTexts
from .ppt_shapes import (
    DESCRIPTION,
    FILL,
    FILL_TYPE,
    IS_TABLE,
    PICTURE,
    TABLE_PROPERTIES,
    WORD_ART,
    PptShape,
    drawings_of,
    tagged,
)  # fmt: skip
from .ppt_styles import CENTER_TITLE, TITLE, MasterBullets, automatic_numbers
from .ppt_text import Links, SlideText, texts_of
from .ppt_vocabulary import PPT

VOCABULARY = PPT

_SLIDES, _MASTERS, _NOTES = 0, 1, 2
"""The lists of slides in a presentation."""
_SHOWS_BACKGROUND = 0x1
_HIDDEN_SLIDE = 0x4
_FILLED_BY_PICTURE = 3
_LINE = 20
"""The shape of the borders of tables."""


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a presentation, slide by slide."""
    encrypted = b""
    if file.password is not None and file.data.startswith(OLE):
        encrypted = file.data
        file = replace(file, data=decrypted(file), password=None)
    try:
        slides = presentation_blocks(opened(file, encrypted))
    except DAMAGES:
        file.losses.meet("damaged")
        slides = rtf.read(file)
    yield from slides


def presentation_blocks(records: PresentationRecords) -> Iterator[Block]:
    """Returns the blocks of a presentation; raises one of `DAMAGES` at once if its list of slides cannot be read."""
    return _Presentation(records).blocks()


@dataclass(frozen=True, slots=True)
class _ListedSlide:
    reference: int
    number: int
    """The number that others refer to it by."""
    texts: Sequence[SlideText]


class _Presentation:
    def __init__(self, records: PresentationRecords) -> None:
        self.records = records
        document = records.document
        self.losses = records.file.losses
        lists = {each.instance: list(_listed(each)) for each in document.all("SlideListWithText")}
        self._slides = lists.get(_SLIDES, [])
        self.notes = {each.number: each.reference for each in lists.get(_NOTES, [])}
        self._masters = {each.number: each.reference for each in lists.get(_MASTERS, [])}
        environment = document.first("Environment")
        self._styles = list(environment.all("TextMasterStyleAtom")) if environment is not None else []
        self._bullets: dict[int, MasterBullets] = {}
        self.links = Links.of(document.first("ExternalObjectList"))
        self.objects = PresentationObjects(records)
        self.running = RunningTexts(records, self._masters, self.links)
        size = document.first("DocumentAtom")
        self.size: tuple[int, int] = size.unpacked("<ii") if size is not None else (0, 0)

    def blocks(self) -> Iterator[Block]:
        for each in _macros(self.records.document):
            if each.unpacked("<II")[1]:
                self.losses.meet("macros")
        for number, listed in enumerate(self._slides, 1):
            self.losses.place = f"slide {number}"
            self.records.file.work.check()
            record = self.records.object(listed.reference)
            blocks: list[Block] = []
            try:
                if record is None or record.kind != "Slide":
                    raise ValueError("it is no slide")
                blocks.extend(_SlideReader(self, record, listed, number).blocks())
            except (*DAMAGES, RecursionError):
                self.losses.meet("damaged_slide")
            yield from blocks or [PageStart(number, f"[slide {number}]")]
        yield from self.running.blocks()

    def bullets(self, master: int) -> MasterBullets:
        """Returns which paragraphs have bullets by a master, read once."""
        if master not in self._bullets:
            record = self.records.object(self._masters.get(master, -1))
            own = list(record.all("TextMasterStyleAtom")) if record is not None else []
            self._bullets[master] = MasterBullets([*self._styles, *own])
        return self._bullets[master]


def _listed(slides: Record) -> Iterator[_ListedSlide]:
    for persist, *rest in parts_of(slides.children, "SlidePersistAtom"):
        reference, _, _, number = persist.unpacked("<IIiI")
        yield _ListedSlide(reference, number, texts_of(rest))


def _macros(document: Record) -> Iterator[Record]:
    for properties in document.all("List"):
        for macros in properties.all("VbaInfo"):
            yield from macros.all("VbaInfoAtom")


class _SlideReader:
    def __init__(self, presentation: _Presentation, record: Record, listed: _ListedSlide, number: int) -> None:
        self._presentation = presentation
        self._record = record
        self._texts = listed.texts
        self._number = number
        atom = record.first("SlideAtom")
        self._master, self._notes_number, self._flags = atom.unpacked("<IIH", 12) if atom is not None else (0, 0, 0)
        self._bullets = presentation.bullets(self._master)
        self._tables = 0

    def blocks(self) -> Iterator[Block]:
        show = self._record.first("SlideShowSlideInfoAtom")
        is_hidden = show is not None and show.unpacked("<H", 10)[0] & _HIDDEN_SLIDE
        yield PageStart(self._number, f"[slide {self._number}{', hidden' if is_hidden else ''}]")
        for drawing in drawings_of(self._record):
            for background in drawing.all("SpContainer"):
                yield from self._filling(PptShape(background), BlockPlace(page=self._number))
            for shapes in drawing.all("SpgrContainer"):
                yield from self._shapes(shapes)
        self._presentation.running.add(self._record, OF_SLIDES)
        if self._flags & _SHOWS_BACKGROUND:
            self._presentation.running.add_background(self._master)
        yield from self._notes()
        yield from self._comments()

    def _shapes(self, group: Record) -> Iterator[Block]:
        members = [each for each in group.children if each.kind in ("SpContainer", "SpgrContainer")]
        for each in members[1:]:  # the first one is the group itself
            own = each if each.kind == "SpContainer" else each.first("SpContainer")
            if own is None:
                continue
            shape = PptShape(own)
            if shape.is_hidden:
                self._presentation.losses.meet("hidden")
            elif each.kind == "SpContainer":
                yield from self._shape(shape)
            elif shape.number(TABLE_PROPERTIES) & IS_TABLE:
                yield from self._table(each, self._place(shape))
            else:
                yield from self._shapes(each)

    def _shape(self, shape: PptShape) -> Iterator[Block]:
        place = self._place(shape)
        yield from self._filling(shape, place)
        if index := shape.number(PICTURE):
            objects = [] if shape.data is None else list(shape.data.all("ExternalObjectRefAtom"))
            if not objects:
                yield self._presentation.objects.picture(index, place, shape.words(DESCRIPTION))
        yield from self._object(shape, place)
        if (repeated := shape.repeated) is not None:
            self._presentation.running.add_text(self._words(shape), repeated)
            return
        if words := shape.words(WORD_ART):
            yield MarkdownText(words, place)
        target = self._target(shape)
        for kind, text, marker, level in self._lines(shape):
            line = f"[{text}]({target})" if target else text
            if kind in (TITLE, CENTER_TITLE):
                yield heading(line, 2, place)
            elif marker:
                yield list_item(line, marker, level, place)
            else:
                yield MarkdownText(line, place)

    def _filling(self, shape: PptShape, place: BlockPlace) -> Iterator[Block]:
        if shape.number(FILL_TYPE) == _FILLED_BY_PICTURE and (index := shape.number(FILL)):
            yield self._presentation.objects.picture(index, place, shape.words(DESCRIPTION))

    def _object(self, shape: PptShape, place: BlockPlace) -> Iterator[Block]:
        for each in shape.data.all("ExternalObjectRefAtom") if shape.data is not None else ():
            blocks = list(self._presentation.objects.object(each.unpacked("<I")[0], self._number, place))
            has_file = any(isinstance(block, AttachedFile) for block in blocks)
            if not has_file and (index := shape.number(PICTURE)):
                yield self._presentation.objects.picture(index, place, shape.words(DESCRIPTION))
            yield from blocks

    def _target(self, shape: PptShape) -> str:
        for click in shape.data.all("InteractiveInfo") if shape.data is not None else ():
            if target := self._presentation.links.target(click):
                return target
        return ""

    def _words(self, shape: PptShape) -> str:
        return " ".join(text for _, text, _, _ in self._lines(shape))

    def _lines(self, shape: PptShape) -> Iterator[tuple[int, str, str, int]]:
        """Yields the type, the text, the marker and the level of each paragraph of a shape."""
        records = shape.text.children if shape.text is not None else []
        outline = next((each.unpacked("<I")[0] for each in records if each.kind == "OutlineTextRefAtom"), None)
        texts = texts_of(records) if outline is None else self._texts[outline : outline + 1]
        numbers = automatic_numbers(next(tagged(shape.data, "StyleTextProp9Atom"), None))
        for text in texts:
            for each in text.paragraphs(self._presentation.links, self._bullets, numbers, self._number):
                yield text.kind, each.text, each.marker, each.level

    def _table(self, group: Record, place: BlockPlace) -> Iterator[Block]:
        """Yields the rows of a table: a group whose cells say where they are; empty ones stay."""
        cells = [PptShape(each) for each in group.all("SpContainer")][1:]
        placed = [(shape.frame, shape) for shape in cells if shape.kind != _LINE and shape.frame is not None]
        columns = {left: index for index, left in enumerate(sorted({frame[0] for frame, _ in placed}))}
        tops = sorted({frame[1] for frame, _ in placed})
        rows: dict[int, dict[int, str]] = {top: {} for top in tops}
        for frame, shape in placed:
            lines = [f"{marker} {text}" if marker else text for _, text, marker, _ in self._lines(shape)]
            rows[frame[1]][columns[frame[0]]] = "\n".join(lines)
        self._tables += 1
        self._presentation.records.file.work.unpacked(10 * len(rows) * len(columns))
        texts = ([rows[top].get(column, "") for column in range(len(columns))] for top in tops)
        yield from table(((cells, place) for cells in texts), f"slide {self._number} table {self._tables}")

    def _notes(self) -> Iterator[Block]:
        reference = self._presentation.notes.get(self._notes_number)
        record = self._presentation.records.object(reference) if reference is not None else None
        if record is None or record.kind != "Notes":
            return
        self._presentation.running.add(record, OF_NOTES)
        lines = [
            text
            for drawing in drawings_of(record)
            for shapes in drawing.all("SpgrContainer")
            for each in shapes.all("SpContainer")
            if (shape := PptShape(each)).repeated is None
            for _, text, _, _ in self._lines(shape)
        ]
        if text := "\n".join(lines):
            yield MarkdownText(f"[notes]\n{text}", BlockPlace(page=self._number))

    def _comments(self) -> Iterator[Block]:
        for comment in tagged(self._record, "Comment10"):
            texts = {each.instance: each.text for each in comment.all("CString")}
            if texts.get(1, "").strip():
                yield MarkdownText(comment_text(texts[1], texts.get(0, "")), BlockPlace(page=self._number))

    def _place(self, shape: PptShape) -> BlockPlace:
        """Returns the place of a shape on its slide; without a box in a group."""
        anchor = shape.record.first("ClientAnchor")
        width, height = self._presentation.size
        if anchor is None or width <= 0 or height <= 0:
            return BlockPlace(page=self._number)
        top, left, right, bottom = anchor.unpacked("<4i" if len(anchor.content) >= 16 else "<4h")
        shares = left / width, top / height, right / width, bottom / height
        return BlockPlace(page=self._number, box=tuple(round(min(max(each, 0.0), 1.0), 4) for each in shares))
