"""The annotations of a page: links, comments, words struck through, fields of its form with their values, and files."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..vocabularies import Treatment
from .drawings import Box
from .pdfium import functions, string_of
from .vocabulary import PDF

_NAMES = """
Unknown Text Link FreeText Line Square Circle Polygon PolyLine Highlight Underline Squiggly StrikeOut Stamp Caret Ink
Popup FileAttachment Sound Movie Widget Screen PrinterMark TrapNet Watermark 3D RichMedia XFAWidget Redact
"""
_TYPES = tuple(_NAMES.split())
"""The types of annotations as ISO 32000 spells them, by their numbers in PDFium."""
_FIELDS = ["Unknown", "PushButton", "CheckBox", "RadioButton", "ComboBox", "ListBox", "TextField", "Signature"]
"""The types of fields by their numbers in PDFium."""
_COVERING = frozenset(
    ("FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight", "StrikeOut", "Stamp", "Ink", "Redact")
)
"""What may be drawn over words, opaque."""
_HIDDEN = 2 | 32
"""The flags Hidden and NoView."""
_PASSWORD = 1 << 13
_MAX_ANNOTATIONS, _MAX_OPTIONS, _MAX_BYTES = 10_000, 1_000, 100_000_000
EMPTY = "____"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: its name for people, and its value as text."""

    name: str
    value: str
    box: Box


@dataclass(slots=True)
class Annotations:
    """What the annotations of a page add to it. Boxes are left, bottom, right and top."""

    links: list[tuple[Box, str]] = field(default_factory=list[tuple[Box, str]])
    struck: list[Box] = field(default_factory=list[Box])
    covers: list[Box] = field(default_factory=list[Box])
    """Where annotations may cover words."""
    fields: list[Field] = field(default_factory=list[Field])
    comments: list[str] = field(default_factory=list[str])
    files: list[tuple[str, bytes | None]] = field(default_factory=list[tuple[str, bytes | None]])
    lost: dict[str, int] = field(default_factory=dict[str, int])


def annotations_of(document: int, form: int, page: int, files: AttachedFiles) -> Annotations:
    """Returns the contents of the annotations of a page. `form` is the environment of the document's form, or 0."""
    call = functions()
    reader = _AnnotationReader(document, form, files)
    count = call.FPDFPage_GetAnnotCount(page)
    for index in range(min(count, _MAX_ANNOTATIONS)):
        annotation = call.FPDFPage_GetAnnot(page, index)
        if annotation:
            try:
                reader.read(annotation)
            finally:
                call.FPDFPage_CloseAnnot(annotation)
    if count > _MAX_ANNOTATIONS:
        reader.lose("annotations", count - _MAX_ANNOTATIONS)
    return reader.found


class _AnnotationReader:
    def __init__(self, document: int, form: int, files: AttachedFiles) -> None:
        self._call = functions()
        self._document = document
        self._form = form
        self._files = files
        self._floats = (ctypes.c_float * 8)()
        self.found = Annotations()

    def lose(self, what: str, count: int = 1) -> None:
        self.found.lost[what] = self.found.lost.get(what, 0) + count

    def read(self, annotation: int) -> None:
        call = self._call
        number: int = call.FPDFAnnot_GetSubtype(annotation)
        kind = _TYPES[number] if 0 <= number < len(_TYPES) else "Unknown"
        treatment, what = PDF.treatment(f"annotation:{kind}")
        if treatment is Treatment.LEFT_OUT:
            return
        if kind in _COVERING:
            self.found.covers += self._boxes(annotation)
        if treatment is not Treatment.READ:
            self.lose(what)
        elif call.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
            self.lose("hidden form fields" if kind == "Widget" else "hidden annotations")
        elif kind == "Widget":
            self._read_field(annotation)
        elif kind == "Link":
            self._read_link(annotation)
        elif kind == "FileAttachment":
            self.found.files.append(self._files.file(call.FPDFAnnot_GetFileAttachment(annotation)))
        else:
            self._read_comment(annotation, kind)

    def _read_link(self, annotation: int) -> None:
        call = self._call
        action = call.FPDFLink_GetAction(call.FPDFAnnot_GetLink(annotation))
        size = call.FPDFAction_GetURIPath(self._document, action, None, 0) if action else 0
        if size <= 1:
            return
        buffer = ctypes.create_string_buffer(size)
        call.FPDFAction_GetURIPath(self._document, action, ctypes.addressof(buffer), size)
        address = buffer.raw[: size - 1].decode("utf-8", "replace").strip()
        self.found.links += [(box, address) for box in self._boxes(annotation)]

    def _read_comment(self, annotation: int, kind: str) -> None:
        text = self._string(annotation, b"Contents")
        if kind == "StrikeOut":
            self.found.struck += self._boxes(annotation)
        if not text:
            self._read_drawn(annotation, kind)
            return
        author = self._string(annotation, b"T")
        by = f" by {author}" if author else ""
        self.found.comments.append(f"[text: {text}]" if kind == "FreeText" else f"[comment{by}: {text}]")

    def _read_drawn(self, annotation: int, kind: str) -> None:
        """Reads what says something without words: a stamp, by its name, such as NotApproved; ink is counted."""
        name = self._string(annotation, b"Name") if kind == "Stamp" else ""
        if name.isalpha():
            self.found.comments.append(f"[stamp: {name}]")
        elif kind in ("Stamp", "Ink"):
            self.lose("drawings")

    def _read_field(self, annotation: int) -> None:
        call, form = self._call, self._form
        number: int = call.FPDFAnnot_GetFormFieldType(form, annotation) if form else 0
        kind = _FIELDS[number] if 0 <= number < len(_FIELDS) else "Unknown"
        treatment, what = PDF.treatment(f"field:{kind}")
        boxes = self._boxes(annotation)
        if treatment is Treatment.LOST or not boxes:
            self.lose(what if treatment is Treatment.LOST else "form fields")
        if treatment is not Treatment.READ or not boxes:
            return
        name = string_of(call.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
        name = name or string_of(call.FPDFAnnot_GetFormFieldName, form, annotation).rpartition(".")[2]
        self.found.fields.append(Field(" ".join(name.split()), self._value(annotation, kind), boxes[0]))

    def _value(self, annotation: int, kind: str) -> str:
        call, form = self._call, self._form
        if kind in ("CheckBox", "RadioButton"):
            mark = "x" if self._is_checked(annotation) else " "
            return f"[{mark}]" if kind == "CheckBox" else f"({mark})"
        if kind == "TextField" and call.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
            self.lose("passwords")
            return EMPTY
        value = string_of(call.FPDFAnnot_GetFormFieldValue, form, annotation)
        if kind in ("ComboBox", "ListBox"):
            chosen = list(self._chosen(annotation))
            value = ", ".join(chosen) or value
        return " ".join(value.split()) or EMPTY

    def _is_checked(self, annotation: int) -> bool:
        state = self._string(annotation, b"AS")
        if state:
            return state != "Off"
        call, form = self._call, self._form
        value = string_of(call.FPDFAnnot_GetFormFieldValue, form, annotation)
        return bool(value) and value == string_of(call.FPDFAnnot_GetFormFieldExportValue, form, annotation)

    def _chosen(self, annotation: int) -> Iterator[str]:
        call, form = self._call, self._form
        for index in range(min(call.FPDFAnnot_GetOptionCount(form, annotation), _MAX_OPTIONS)):
            if call.FPDFAnnot_IsOptionSelected(form, annotation, index):
                yield string_of(call.FPDFAnnot_GetOptionLabel, form, annotation, index)

    def _string(self, annotation: int, key: bytes) -> str:
        return " ".join(string_of(self._call.FPDFAnnot_GetStringValue, annotation, key).split())

    def _boxes(self, annotation: int) -> list[Box]:
        """Returns the parts of the page that an annotation is on: one for each line."""
        call, floats = self._call, self._floats
        at = ctypes.addressof(floats)
        count = min(call.FPDFAnnot_CountAttachmentPoints(annotation), _MAX_OPTIONS)
        found = [
            (min(floats[0::2]), min(floats[1::2]), max(floats[0::2]), max(floats[1::2]))
            for index in range(count)
            if call.FPDFAnnot_GetAttachmentPoints(annotation, index, at)
        ]
        if not found and call.FPDFAnnot_GetRect(annotation, at):
            left, top, right, bottom = floats[:4]
            found.append((min(left, right), min(bottom, top), max(left, right), max(bottom, top)))
        return found


class AttachedFiles:
    """Reads the files that a document holds, up to a size of all of them."""

    def __init__(self, document: int) -> None:
        self._call = functions()
        self._document = document
        self._left = _MAX_BYTES

    def all(self) -> tuple[list[tuple[str, bytes | None]], int]:
        """Returns the names and contents of files that are on no page, and how many more there are."""
        call = self._call
        count = call.FPDFDoc_GetAttachmentCount(self._document)
        found = range(min(count, _MAX_ANNOTATIONS))
        files = [self.file(call.FPDFDoc_GetAttachment(self._document, index)) for index in found]
        return files, max(0, count - _MAX_ANNOTATIONS)

    def file(self, attachment: int | None) -> tuple[str, bytes | None]:
        """Returns the name and content of an attachment; None for what is too large, together with those before."""
        call = self._call
        if not attachment:
            return "file", None
        name = string_of(call.FPDFAttachment_GetName, attachment) or "file"
        size = ctypes.c_ulong()
        at = ctypes.addressof(size)
        if self._left <= 0 or not call.FPDFAttachment_GetFile(attachment, None, 0, at):
            return name, None
        self._left -= size.value
        if self._left < 0 or not size.value:
            return name, None
        buffer = ctypes.create_string_buffer(size.value)
        call.FPDFAttachment_GetFile(attachment, ctypes.addressof(buffer), size.value, at)
        return name, buffer.raw
