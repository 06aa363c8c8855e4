"""Texts that many slides of a PPT file show: headers, footers, dates, and what stands on masters (MS-PPT 2.4.15)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..blocks import BlockPlace, MarkdownText
from .ppt_records import PresentationRecords, Record
from .ppt_shapes import WORD_ART, PptShape, drawings_of, shapes_in
from .ppt_styles import MasterBullets
from .ppt_text import Links, texts_of

OF_SLIDES, OF_NOTES = 3, 4
"""The headers and footers of all slides, and of all notes, that have no own ones."""
_DATE, _OWN_DATE = 0, 2
_TEXTS = ((_DATE, 0, "footer"), (4, 1, "header"), (5, 2, "footer"))
"""The bit that says if a date, a header and a footer are shown, and the number of its text."""


class RunningTexts:
    """Collects these texts, each once."""

    def __init__(self, records: PresentationRecords, masters: Mapping[int, int], links: Links) -> None:
        self._records = records
        self._masters = masters
        self._links = links
        self._read: set[int] = set()
        self._texts: dict[str, str] = {}

    def add(self, slide: Record, instance: int) -> None:
        """Adds the header and the footer of a slide or of notes: its own, or those of all of them."""
        of_all = (each for each in self._records.document.all("HeadersFooters") if each.instance == instance)
        found = slide.first("HeadersFooters") or next(of_all, None)
        atom = found.first("HeadersFootersAtom") if found is not None else None
        if found is None or atom is None:
            return
        flags = atom.unpacked("<H", 2)[0]
        texts = {each.instance: " ".join(each.text.split()) for each in found.all("CString")}
        for bit, number, kind in _TEXTS:
            is_shown = flags >> bit & 1 and (bit != _DATE or flags >> _OWN_DATE & 1)
            if is_shown and texts.get(number):
                self._texts.setdefault(texts[number], kind)

    def add_text(self, text: str, kind: str) -> None:
        """Adds a text of a placeholder; `kind` is "header", "footer", or "" for what says nothing."""
        if kind and text.strip():
            self._texts.setdefault(" ".join(text.split()), kind)

    def add_background(self, master: int) -> None:
        """Adds the texts of a master that stand behind its slides."""
        if master in self._read:
            return
        self._read.add(master)
        record = self._records.object(self._masters.get(master, -1))
        for drawing in drawings_of(record) if record is not None and record.kind == "MainMaster" else ():
            for each in shapes_in(drawing):
                if words := self._words(PptShape(each)):
                    self._texts.setdefault(words, "background")

    def _words(self, shape: PptShape) -> str:
        if shape.is_hidden or shape.is_placeholder:
            return ""
        lines = [shape.words(WORD_ART)]
        for text in texts_of(shape.text.children if shape.text is not None else []):
            lines += (each.text for each in text.paragraphs(self._links, MasterBullets(()), (), 0))
        return " ".join(" ".join(lines).split())

    def blocks(self) -> Iterator[MarkdownText]:
        """Yields the texts, which follow the slides."""
        for text, kind in self._texts.items():
            yield MarkdownText(f"[{kind}: {text}]", BlockPlace(member=kind), kind)
