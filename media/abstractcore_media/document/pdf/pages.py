"""The text of a PDF page by pypdf: its lines with their places, junk recognised; and the outline of the PDF."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..blocks import BlockPlace, MarkdownText, clean

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_MEANINGLESS = re.compile("[\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
_MAX_HEADINGS = 1_000
_JUNK = 0.3
"""The share of characters without a meaning from which on a text layer is unreadable."""
_LINES_TOGETHER = 4
"""Lines that share one anchor."""
_OPERATORS_BETWEEN_CHECKS = 32
_Line: TypeAlias = tuple[float, float, float]
"""Left edge, top and bottom of a line, as shares of the page."""


@dataclass(frozen=True, slots=True)
class PDFPageText:
    """The text of a page, the places of its lines as far as they were drawn in one piece, by their text, and how many
    images it may draw.
    """

    number: int
    text: str
    lines: Mapping[str, _Line] = field(default_factory=dict[str, _Line])
    pictures: int = 0

    @property
    def is_readable(self) -> bool:
        """Whether there is a text that is not junk: fonts without a map to characters give random ones."""
        letters = len(self.text) - self.text.count(" ") - self.text.count("\n")
        return letters > 0 and len(_MEANINGLESS.findall(self.text)) < _JUNK * letters

    def block(self, group: str) -> MarkdownText:
        """Returns the text, as it is, so that quotes of it can be found, with the places of its lines."""
        places: list[tuple[int, int, BlockPlace]] = []
        together: list[_Line] = []
        start = size = 0
        for text in self.text.split("\n"):
            line = self.lines.get(text)
            if together and (line is None or len(together) == _LINES_TOGETHER):
                places.append((start, size - 1, BlockPlace(page=self.number, box=_box(together))))
                together.clear()
            if line is not None:
                start = size if not together else start
                together.append(line)
            size += len(text) + 1
        if together:
            places.append((start, size - 1, BlockPlace(page=self.number, box=_box(together))))
        return MarkdownText(self.text, BlockPlace(page=self.number), group, places)


def page_text(page: PageObject, number: int, check: Callable[..., None]) -> PDFPageText:
    """Returns the text of a page; `check` is called every few drawing operators, and raises to stop."""
    lines: dict[str, _Line] = {}
    box = page.mediabox
    left, bottom = float(box.left), float(box.bottom)
    width, height = float(box.width) or 1.0, float(box.height) or 1.0
    operators = 0

    def note(text: str, matrix: Any, at: Any, font: Any, size: float) -> None:
        shown = text.rstrip()
        if not shown:
            return
        a, b, c, d, e, f = matrix
        x, y = at[4], at[5]
        base = 1 - (x * b + y * d + f - bottom) / height
        letters = abs(size * (at[3] or at[1]) * (d or b)) / height
        lines.setdefault(shown, ((x * a + y * c + e - left) / width, base - letters, base + letters / 4))

    def count(*_: object) -> None:
        nonlocal operators
        operators += 1
        if operators % _OPERATORS_BETWEEN_CHECKS == 0:
            check()

    raw = page.extract_text(visitor_operand_before=count, visitor_text=note)
    check()  # pypdf swallows what is raised inside a form on the page
    text = "\n".join([line.rstrip() for line in clean(raw).splitlines()]).strip()
    return PDFPageText(number, text, lines, _pictures(page))


def outline(reader: PdfReader) -> list[tuple[int, str, int]]:
    """Returns the headings that the PDF lists: their level from 0, their text, and the number of their page."""
    found: list[tuple[int, str, int]] = []
    waiting: list[tuple[int, Any]] = [(0, each) for each in reversed(reader.outline)]
    while waiting and len(found) < _MAX_HEADINGS:
        level, entry = waiting.pop()
        if isinstance(entry, list):
            waiting += [(level + 1, each) for each in reversed(cast(list[Any], entry))]
            continue
        page = reader.get_destination_page_number(entry)
        title = " ".join(clean(str(entry.title)).split())
        if title and page is not None:
            found.append((level, title, page + 1))
    return found


def _box(lines: Sequence[_Line]) -> tuple[float, ...]:
    """Returns the part of the page that lines are in: pypdf does not give their width, so to the right edge."""
    edges = (min(line[0] for line in lines), min(line[1] for line in lines), 1.0, max(line[2] for line in lines))
    return tuple([round(min(max(edge, 0.0), 1.0), 4) for edge in edges])


def _pictures(page: PageObject) -> int:
    """Returns how many images the page may draw."""
    resources: Any = page.get("/Resources")
    objects: Any = resources.get_object().get("/XObject") if resources is not None else None
    if objects is None:
        return 0
    drawn = (each.get_object() for each in objects.get_object().values())
    return sum(1 for each in drawn if each is not None and each.get("/Subtype") == "/Image")
