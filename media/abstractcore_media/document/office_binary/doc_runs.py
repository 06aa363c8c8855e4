"""The words of a DOC with their marks, fields, notes and comments, and what is drawn between them, in order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..marks import NO_PROPERTIES, PLAIN, MarkedText, Marks, RunProperties, with_reading
from ..office.docx_runs import DELETIONS, address_of_link
from ..office.symbol_fonts import SYMBOL_FONTS, symbol
from ..vocabularies import LossCounter
from .doc_file import PropertyRun
from .doc_properties import (
    DELETED,
    FONT,
    IS_DATA,
    IS_OLE,
    PLACE,
    STYLE,
    SYMBOL,
    DocStyles,
    character_properties,
    run_properties,
)

_SPECIAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SYMBOLS = re.compile("[\uf020-\uf0ff]")
_CHARACTERS = {"\x0b": "\n", "\x0c": "\n", "\x0e": "\n", "\x1e": "\u2011"}
_READING = re.compile(
    r"\s*EQ\b.{0,200}?\\o\\a[a-z]{1,9}\(\\s\\up\s?\d{1,3}\(([^()]{1,100})\)[,;]([^()]{1,100})\)", re.DOTALL
)
_BUTTON = re.compile(r"\s*(?:MACROBUTTON|GOTOBUTTON)\s+\S{1,200}\s+(.{1,2000})", re.IGNORECASE | re.DOTALL)
_NO_MARKS = frozenset({STYLE, IS_DATA, PLACE, SYMBOL, IS_OLE, DELETED, FONT})
_MAX_CODE, _MAX_FIELDS = 4_000, 100
"""The characters of the code of a field, and the fields in one another."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Something that is drawn at a position: an object, a picture at a place of the data, or a shape."""

    position: int
    place: int | None
    object: int | None


@dataclass(slots=True)
class _Field:
    code: list[str] = field(default_factory=list[str])
    is_code: bool = True
    address: str = ""
    form: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class _RunKind:
    properties: dict[int, int]
    is_deleted: bool
    has_marks: bool


class DocRuns:
    """The words of all texts. `notes` and `comments` are what stands for them, by position."""

    def __init__(
        self,
        text: str,
        runs: list[PropertyRun],
        styles: DocStyles,
        losses: LossCounter,
        counts: Counter[str],
        form_state: Callable[[int], str],
        fonts: Sequence[str],
    ) -> None:
        self._text = text
        self._styles = styles
        self._losses = losses
        self._counts = counts
        self._form_state = form_state
        self._fonts = fonts
        self._kinds: dict[bytes, _RunKind | None] = {}
        found = [(run.begin, run.end, kind) for run in runs if (kind := self._kind(run.properties)) is not None]
        self._ends = [end for _, end, _ in found]
        self._runs = found
        self._fields: list[_Field] = []
        self._codes = 0
        """How many of the open fields have not come to their result."""
        self._found: list[str | Drawn] = []
        self._words = MarkedText()
        self._marks = PLAIN
        self._is_hidden = False
        self._is_deleted = False
        self.notes: Mapping[int, str] = {}
        self.comments: Mapping[int, str] = {}

    def begin(self) -> None:
        """Closes the fields of the text before."""
        self._fields.clear()
        self._codes = 0

    def of(self, begin: int, end: int, style: int) -> list[str | Drawn]:
        """Returns the words between two positions of a paragraph, and what is drawn there."""
        base = self._styles.run_properties(style)
        index = bisect_right(self._ends, begin)
        has_runs = index < len(self._runs) and self._runs[index][0] < end
        if not has_runs and base is NO_PROPERTIES and not self._codes and not _SPECIAL.search(self._text, begin, end):
            return [self._text[begin:end]] if end > begin else []
        self._is_deleted = False
        while begin < end:
            at, until, kind = self._runs[index] if index < len(self._runs) else (end, end, None)
            if begin < at:
                self._run(begin, min(at, end), None, base)
                begin = min(at, end)
            if begin < end:
                self._run(begin, min(until, end), kind, base)
                begin = min(until, end)
                index += 1
        for each in self._fields:  # a link ends with its paragraph
            if each.address:
                self._words.add(f"]({each.address})")
                each.address = ""
        self._end_words()
        found, self._found = self._found, []
        return found

    def _font(self, number: int) -> str:
        return self._fonts[number] if number < len(self._fonts) else ""

    def _kind(self, properties: bytes) -> _RunKind | None:
        """Returns what matters of a run; None if nothing does."""
        if properties in self._kinds:
            return self._kinds[properties]
        found = character_properties(properties)
        if FONT in found and self._font(found[FONT]).lower() not in SYMBOL_FONTS:
            del found[FONT]
        style = self._styles.run_properties(found.get(STYLE, 0)) if STYLE in found else NO_PROPERTIES
        has_marks = style is not NO_PROPERTIES or not found.keys() <= _NO_MARKS
        found_kind = _RunKind(found, found.get(DELETED, 0) & 1 == 1, has_marks)
        kind = found_kind if has_marks or found.keys() - {STYLE} else None
        self._kinds[properties] = kind
        return kind

    def _run(self, begin: int, end: int, kind: _RunKind | None, base: RunProperties) -> None:
        properties: dict[int, int] = {}
        own, is_deleted = base, False
        if kind is not None:
            properties, is_deleted = kind.properties, kind.is_deleted
            if kind.has_marks:
                style = self._styles.run_properties(properties[STYLE]) if STYLE in properties else NO_PROPERTIES
                own = run_properties(properties, style.over(base) if style is not NO_PROPERTIES else base)
        text = self._text[begin:end]
        self._marks = Marks(own.rise or "", bool(own.is_struck) or is_deleted)
        self._is_hidden = bool(own.is_hidden)
        has_words = not self._codes and bool(_SPECIAL.sub("", text).strip())
        if self._is_hidden and has_words:
            self._losses.count("hidden texts")
        if is_deleted and has_words and not self._is_deleted and not self._is_hidden:
            self._counts[DELETIONS] += 1
        self._is_deleted = is_deleted
        if SYMBOL in properties:
            value = properties[SYMBOL]
            text = text.replace("(", symbol(self._font(value & 0xFFFF), f"{value >> 16:x}"))
        if FONT in properties:
            font = self._font(properties[FONT])
            text = _SYMBOLS.sub(lambda found: symbol(font, f"{ord(found[0]):x}"), text)
        at = 0
        for special in _SPECIAL.finditer(text):
            self._add(text[at : special.start()])
            self._special(special[0], begin + special.start(), properties)
            at = special.end()
        self._add(text[at:])

    def _special(self, character: str, position: int, properties: Mapping[int, int]) -> None:
        if character == "\x13" and len(self._fields) < _MAX_FIELDS:
            self._fields.append(_Field())
            self._codes += 1
        elif character == "\x14":
            self._end_code()
            if IS_OLE in properties:
                self._draw(character, position, properties)
        elif character == "\x15":
            self._end_field()
        elif character in _CHARACTERS:
            self._add(_CHARACTERS[character])
        elif character == "\x02":
            self._mark(self.notes.get(position, ""))
        elif character == "\x05":
            comment = self.comments.get(position)
            self._mark(f" {comment} " if comment else "")
        elif character in "\x01\x08":  # a picture or an object, a shape
            self._draw(character, position, properties)

    def _add(self, text: str) -> None:
        if self._codes:
            field = self._fields[-1]
            if field.is_code and text and field.size < _MAX_CODE:
                field.code.append(text)
                field.size += len(text)
        elif not self._is_hidden:
            self._words.add(text, self._marks)

    def _mark(self, text: str) -> None:
        if not self._codes:
            self._words.add(text)

    def _draw(self, character: str, position: int, properties: Mapping[int, int]) -> None:
        place = properties.get(PLACE)
        if character == "\x01" and properties.get(IS_DATA):
            if self._fields and place is not None:
                self._fields[-1].form = self._form_state(place)
            return
        is_object = character != "\x08" and bool(properties.get(IS_OLE))
        if self._is_hidden or self._is_deleted or self._codes:
            return
        self._end_words()
        if character == "\x08":
            self._found.append(Drawn(position, None, None))
        elif place is not None:
            self._found.append(Drawn(position, None, place) if is_object else Drawn(position, place, None))

    def _end_code(self) -> None:
        """Begins the result of a field."""
        field = self._fields[-1] if self._fields else None
        if field is None or not field.is_code:
            return
        field.is_code = False
        self._codes -= 1
        field.address = "" if self._codes or self._is_hidden else address_of_link("".join(field.code))
        self._mark("[" if field.address else "")
        self._add(field.form)

    def _end_field(self) -> None:
        if not self._fields:
            return
        if self._fields[-1].is_code:
            self._end_code()
            field = self._fields.pop()
            self._add(self._instead_of_result("".join(field.code)))
        else:
            field = self._fields.pop()
        self._mark(f"]({field.address})" if field.address else "")

    def _instead_of_result(self, code: str) -> str:
        """Returns what Word shows of a field that has no result: the reading of a word, or the text of a button."""
        if self._codes:
            return ""
        if found := _READING.match(code):
            return with_reading(found[2].strip(), found[1])
        if found := _BUTTON.match(code):
            return found[1].strip()
        if code.split(maxsplit=1)[:1] == ["EQ"]:
            self._losses.count("equations of old programs")
        return ""

    def _end_words(self) -> None:
        if text := self._words.taken():
            self._found.append(text)
