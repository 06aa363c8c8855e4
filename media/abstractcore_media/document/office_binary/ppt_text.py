"""The texts of a PPT file: paragraphs with their levels, numbers, links and marks (MS-PPT 2.9)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..marks import PLAIN, MarkedText, Marks
from ..office.drawing_text import paragraph_number
from .ppt_records import Record, parts_of
from .ppt_styles import SCHEMES, MasterBullets, TextRuns, text_runs

_MAX_LEVEL = 8
_FIELDS = {
    "SlideNumberMetaCharAtom",
    "DateTimeMetaCharAtom",
    "GenericDateMetaCharAtom",
    "HeaderMetaCharAtom",
    "FooterMetaCharAtom",
    "RtfDateTimeMetaCharAtom",
}
_SPLIT = re.compile("(\r)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph. `marker` is "2.", "-" for a bullet, or "" for neither."""

    text: str
    marker: str
    level: int


@dataclass(slots=True)
class Links:
    """The addresses outside of the file, by the number that texts and shapes have for them."""

    targets: dict[int, str] = field(default_factory=dict[int, str])

    @classmethod
    def of(cls, objects: Record | None) -> Links:
        """Returns the links in the list of objects of a presentation."""
        links = cls()
        for each in objects.all("ExternalHyperlink") if objects is not None else ():
            number = each.first("ExternalHyperlinkAtom")
            texts = {found.instance: found.text for found in each.all("CString")}
            target, location = texts.get(1, ""), texts.get(3, "")
            if number is not None and target:
                links.targets[number.unpacked("<I")[0]] = f"{target}#{location}" if location else target
        return links

    def target(self, click: Record | None) -> str:
        """Returns the address that a click opens, "" if it has none outside of the file."""
        found = click.first("InteractiveInfoAtom") if click is not None and click.instance == 0 else None
        if found is None:
            return ""
        _, number, action = found.unpacked("<IIB")
        return self.targets.get(number, "") if action == 4 else ""


@dataclass(frozen=True, slots=True)
class SlideText:
    """One text of a slide or of notes: its records, from its header on."""

    kind: int
    records: Sequence[Record]

    def paragraphs(
        self, links: Links, masters: MasterBullets, numbers: Sequence[tuple[int, int] | None], slide: int
    ) -> Iterator[Paragraph]:
        """Yields the paragraphs. `slide` is the number of the slide, which the text may name."""
        characters = self._characters()
        if all(place in self._fields(slide) for place, each in enumerate(characters) if not each.isspace()):
            return  # a running number or date
        style = next((each for each in self.records if each.kind == "StyleTextPropAtom"), None)
        of_paragraphs, of_characters = text_runs(style, len(characters))
        counters: dict[int, tuple[tuple[int, int], int]] = {}
        for place, text in self._texts(characters, of_characters, links, slide):
            if not text.strip():
                continue
            level, bullet = of_paragraphs.at(place) or (0, -1)
            level = min(level, _MAX_LEVEL)
            has_bullet = masters.has_bullet(self.kind, level) if bullet < 0 else bool(bullet)
            _, group = of_characters.at(place) or (0, 0)
            number = numbers[group] if group < len(numbers) and has_bullet else None
            for deeper in [each for each in counters if each > level]:
                del counters[deeper]
            if number is None:
                counters.pop(level, None)
                yield Paragraph(text, "-" if has_bullet else "", level)
                continue
            before = counters.get(level)
            count = before[1] + 1 if before is not None and before[0] == number else number[1]
            counters[level] = number, count
            scheme = SCHEMES[number[0]] if number[0] < len(SCHEMES) else "arabicPeriod"
            yield Paragraph(text, paragraph_number(count, scheme), level)

    def _characters(self) -> str:
        """Returns the text, with a character for each unit of UTF-16, as its runs count them."""
        for each in self.records:
            if each.kind == "TextBytesAtom":
                return each.content.decode("latin-1")
            if each.kind == "TextCharsAtom":
                units = each.content
                text = units.decode("utf-16-le", "replace")
                if 2 * len(text) == len(units):
                    return text
                return "".join(map(chr, struct.unpack(f"<{len(units) // 2}H", units[: len(units) // 2 * 2])))
        return ""

    def _texts(self, text: str, runs: TextRuns, links: Links, slide: int) -> Iterator[tuple[int, str]]:
        """Yields each paragraph with its place, with marks and links."""
        fields, linked = self._fields(slide), self._linked(links)
        cuts = {0, len(text), *runs.ends, *(place for at in fields for place in (at, at + 1))}
        cuts.update(place for begin, end, _ in linked for place in (begin, end))
        ordered = sorted(place for place in cuts if 0 <= place <= len(text))
        found, begin, target = MarkedText(), 0, ""
        waiting = iter(sorted(linked))
        link = next(waiting, None)
        for first, last in pairwise(ordered):
            rise, _ = runs.at(first) or (0, 0)
            marks = Marks("sup" if rise > 0 else "sub") if rise else PLAIN
            while link is not None and first >= link[1]:
                link = next(waiting, None)
            now = link[2] if link is not None and first >= link[0] else ""
            at = first
            for piece in _SPLIT.split(fields.get(first, text[first:last])):
                if target and (now != target or piece == "\r"):
                    found.add(f"]({target})")
                    target = ""
                if piece == "\r":
                    yield begin, found.taken().replace("\v", "\n")
                    begin = at + 1
                elif now and not target and piece.strip():
                    found.add("[")
                    target = now
                if piece != "\r":
                    found.add(piece, marks)
                at += len(piece)
        found.add(f"]({target})" if target else "")
        yield begin, found.taken().replace("\v", "\n")

    def _fields(self, slide: int) -> dict[int, str]:
        """Returns what stands in place of characters: numbers of slides; what is filled in on showing is left out."""
        return {
            each.unpacked("<I")[0]: str(slide) if each.kind == "SlideNumberMetaCharAtom" else ""
            for each in self.records
            if each.kind in _FIELDS and len(each.content) >= 4
        }

    def _linked(self, links: Links) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        target = ""
        for each in self.records:
            if each.kind == "InteractiveInfo":
                target = links.target(each)
            elif each.kind == "TextInteractiveInfoAtom" and target:
                begin, end = each.unpacked("<II")
                found.append((begin, end, target))
                target = ""
        return found


def texts_of(records: Sequence[Record]) -> list[SlideText]:
    """Returns the texts in a list of records, each of which begins with a header."""
    return [
        SlideText(int.from_bytes(header.content[:4], "little"), rest)
        for header, *rest in parts_of(records, "TextHeaderAtom")
    ]
