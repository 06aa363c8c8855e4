"""RTF, and PPT that is damaged or before PowerPoint 97, read by anydoc. Blocks are counted as paragraphs from 1.

The library gives no slides of a PPT. Of RTF it gets a source in which headers, comments and marks stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from abstractcore.errors import MediaError

from ..common.extras import missing_extra
from .blocks import Block, BlockPlace, LostContent, MarkdownText, Picture, fenced, heading, list_item, table
from .counting import numbered
from .format_handler import DocumentFile
from .marks import PLAIN, MarkedText, Marks
from .rtf_source import DELETION, EDGES, END, HEADINGS, MARKED, with_marks
from .rtf_vocabulary import RTF

if TYPE_CHECKING:
    import anydoc

VOCABULARY = RTF
_LOST = re.compile(rb"\\(objdata|dptxbxtext|formfield(?=[\s{]{0,9}\\fftype[12]))(?![a-z])")
"""The destinations that are counted; the text of a form field for texts is read."""
_SPECIAL = re.compile(f"([{END}-{DELETION}])")
_HEADING = re.compile(f"[{''.join(HEADINGS)}]")
_HEADING_LINE = re.compile("(#{1,6}) ")
_NUMBER_FORMATS = {
    "lower_alpha": "lowerLetter",
    "upper_alpha": "upperLetter",
    "lower_roman": "lowerRoman",
    "upper_roman": "upperRoman",
}
_MAX_BYTES = 100_000_000
_FORMATS = {
    "application/vnd.ms-powerpoint": "ppt",
    "text/rtf": "rtf",
    "application/rtf": "rtf",
}


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of a document."""
    try:
        import anydoc
    except ImportError as error:
        raise missing_extra("Reading RTF and PPT files", "firecrawl-anydoc", "documents") from error
    if len(file.data) > _MAX_BYTES:
        raise file.work.too_large(f"it has {len(file.data):,} bytes")
    data = file.data
    if _FORMATS[file.media_type] == "rtf":
        for name in _LOST.findall(data):
            file.losses.meet(name.decode("ascii"))
        data = with_marks(data, file.losses)
    yield from _RtfReader(_document(anydoc, data, file)).all()


def _document(anydoc: Any, data: bytes, file: DocumentFile) -> anydoc.Document:
    from .office.decryption import needs_password

    kind = _FORMATS[file.media_type]
    try:
        return anydoc.to_document(data, kind)
    except anydoc.EncryptedError as error:
        raise needs_password(file.name) from error
    except anydoc.ResourceLimitError as error:
        raise file.work.too_large("its content exceeds the limits of the reader") from error
    except anydoc.ConvertError as error:
        raise MediaError(
            f"{file.name} is a corrupt {kind.upper()} file.",
            source=file.name,
            hint="Open it in its application, and save it again.",
        ) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust code; it is not an Exception
            raise
        raise file.work.corrupt(f"{kind.upper()} file") from None


class _RtfReader:
    def __init__(self, document: anydoc.Document) -> None:
        self._document = document
        self._assets = document.assets
        self._shown: set[int] = set()
        self._paragraphs = 0
        self._tables = 0
        self._deletions = 0
        self._marks = PLAIN

    def all(self) -> Iterator[Block]:
        yield from self._body()
        for note in self._document.notes:
            texts = (block.text for block in self._blocks(note.blocks) if isinstance(block, MarkdownText))
            yield MarkdownText(f"[^{note.id}]: {' '.join(texts)}", BlockPlace(member=f"{note.kind}s"), "notes")
        for index, asset in enumerate(self._assets):
            if index not in self._shown and asset.media_type.startswith("image/"):
                yield Picture(asset.data, asset.origin_part or f"picture {index + 1}")
        if self._deletions:
            yield MarkdownText(f"[tracked deletions, shown as ~~struck through~~: {self._deletions}]")

    def _body(self) -> Iterator[Block]:
        """Yields the blocks, and then the texts of headers and footers, each once."""
        edge = ""
        texts: dict[tuple[str, str], None] = {}
        for block in self._blocks(self._document.blocks):
            text = block.text.strip() if isinstance(block, MarkdownText) else ""
            if text in EDGES:
                edge = EDGES[text]
            elif edge and isinstance(block, MarkdownText):
                texts[edge, " ".join(text.split())] = None
            else:
                yield block
        for edge, text in texts:
            yield MarkdownText(f"[{edge}: {text}]" if text else "", BlockPlace(member=edge), edge)

    def _blocks(self, blocks: Sequence[anydoc.Block], depth: int = 0) -> Iterator[Block]:
        for block in blocks:
            if block.kind in ("list", "block_quote", "table"):
                yield from self._nested(block, depth)
                continue
            self._paragraphs += 1
            place = BlockPlace(paragraph=self._paragraphs)
            text, pictures = self._inline(block.content or (), place)
            level = HEADINGS.get(text[:1], block.level or 1 if block.kind == "heading" else 0)
            if level:
                yield heading(_HEADING.sub("", text), level, place)
            elif block.kind in ("code_block", "math"):
                yield fenced(block.text or "", block.lang or "", place)
            else:
                yield MarkdownText(text.strip(), place)
            yield from pictures

    def _nested(self, block: anydoc.Block, depth: int) -> Iterator[Block]:
        if block.list is not None:
            for count, item in enumerate(block.list.items, block.list.start):
                kind = block.list.marker
                marker = item.marker_label or (
                    "-" if kind == "bullet" else f"{numbered(count, _NUMBER_FORMATS.get(kind, 'decimal'))}."
                )
                for inner in self._blocks(item.blocks, depth + 1):
                    if isinstance(inner, MarkdownText) and (found := _HEADING_LINE.match(inner.text)):
                        number = f"{marker} " if marker.strip(" -") else ""
                        yield heading(number + inner.text[found.end() :], len(found[1]), inner.place)
                        marker = " "
                    elif isinstance(inner, MarkdownText) and not inner.group:
                        yield list_item(inner.text, marker, depth, inner.place)
                        marker = " "
                    else:
                        yield inner
        elif block.table is not None:
            yield from self._table(block.table)
        else:
            yield from self._blocks(block.blocks or (), depth)

    def _table(self, found: anydoc.Table) -> Iterator[Block]:
        self._tables += 1
        inside: list[Block] = []
        rows: list[tuple[list[str], BlockPlace]] = []
        for slots in found.grid:
            place = BlockPlace(paragraph=self._paragraphs + 1)
            cells: list[str] = []
            for slot in slots:
                blocks = list(self._blocks(slot.cell.blocks)) if slot.cell is not None else []
                cells.append("\n".join(block.text for block in blocks if isinstance(block, MarkdownText)))
                inside += [block for block in blocks if not isinstance(block, MarkdownText)]
            rows.append((cells, place))
        yield from table(rows, f"table {self._tables}")
        yield from inside

    def _inline(self, content: Sequence[anydoc.Inline], place: BlockPlace) -> tuple[str, list[Block]]:
        """Returns a text, and the pictures in it."""
        found = MarkedText()
        pictures: list[Block] = []
        for each in content:
            if each.kind == "image":
                pictures.append(self._picture(each, place))
            elif each.kind == "link":
                text, inner = self._inline(each.content or (), place)
                pictures += inner
                target = each.target
                found.add(f"[{text}]({target.value})" if target and target.kind == "external" else text)
            elif each.kind == "line_break":
                found.add("\n")
            elif each.kind == "note_ref":
                found.add(f"[^{each.note_id}]")
            elif each.kind == "checkbox":
                found.add("[x] " if each.checked else "[ ] ")
            else:
                self._add(each, found)
        return found.taken(), pictures

    def _add(self, each: anydoc.Inline, found: MarkedText) -> None:
        """Adds a run with the marks that stand around its words, or else with those that the library knows."""
        marks = Marks(is_struck=True) if each.style is not None and each.style.strike else PLAIN
        for piece in _SPECIAL.split(each.text or ""):
            if piece in MARKED:
                self._marks = MARKED[piece]
            elif piece == END:
                self._marks = PLAIN
            elif piece == DELETION:
                self._deletions += 1
            else:
                found.add(piece, marks if self._marks is PLAIN else self._marks)

    def _picture(self, each: anydoc.Inline, place: BlockPlace) -> Block:
        index = each.source.asset_id if each.source is not None else None
        if index is None or index >= len(self._assets):
            return LostContent("pictures", 1, where=each.alt or "a picture")
        self._shown.add(index)
        asset = self._assets[index]
        return Picture(asset.data, asset.origin_part or f"picture {index + 1}", place, each.alt or "")
