"""Puts in place what elements of OpenDocument files refer to: styles of words, form controls, tracked deletions."""

from __future__ import annotations

from collections.abc import Iterator, Set
from xml.etree.ElementTree import Element

from ..blocks import Block, LostContent, MarkdownText
from ..marks import NO_PROPERTIES, Marks, RunProperties, marked
from ..vocabularies import HIDDEN_TEXTS, LossCounter
from .styles import TextStyles

RISE, STRUCK, HIDDEN = " rise", " struck", " hidden"
"""Attributes with the marks of the words in a span or paragraph; no file has such names."""
_STRUCK_THROUGH = Marks(is_struck=True)
_IN_PARAGRAPHS = frozenset({"p", "h"})
SHAPES = frozenset(
    ("caption", "circle", "connector", "custom-shape", "ellipse", "frame", "g", "line", "measure", "path", "polygon",
     "polyline", "rect", "regular-polygon")
)  # fmt: skip
"""What is drawn: elements that stand in a paragraph, a cell or a page, with texts, pictures and tables of their own."""
_APART = SHAPES | {"annotation", "change-info"}
_BUTTONS = frozenset({"button", "fixed-text", "frame", "image", "image-frame"})
_FIELDS = frozenset(
    ("checkbox", "combobox", "date", "file", "formatted-text", "generic-control", "grid", "listbox", "number",
     "password", "radio", "text", "textarea", "time", "value-range")
)  # fmt: skip


class References:
    """The form controls and tracked deletions of one file, as far as it is read, and its styles."""

    def __init__(self, styles: TextStyles, losses: LossCounter) -> None:
        self._styles = styles
        self._losses = losses
        self._controls: dict[str, str] = {}
        self._unplaced: set[str] = set()
        self._deleted: dict[str, str] = {}
        self._shown_deletions: set[str] = set()

    def add(self, element: Element) -> None:
        """Remembers the controls of forms, and the words of tracked deletions, that are in an element."""
        for form in element.iter("form"):
            self._add_form(form)
        for region in element.iter("changed-region"):
            for deletion in region.iterfind("deletion"):
                texts = ("".join(each.itertext()).strip() for each in outermost(deletion, _IN_PARAGRAPHS))
                if text := "\n".join(filter(None, texts)):
                    self._deleted[region.get("id", "")] = text

    def _add_form(self, form: Element) -> None:
        for control in form:
            if control.tag in _FIELDS or control.tag in _BUTTONS:
                key = control.get("id") or f" {len(self._controls)}"
                self._controls[key] = _shown(control)
                if control.tag in _FIELDS:
                    self._unplaced.add(key)

    def resolve(self, element: Element) -> None:
        """Marks the words of an element, and puts controls and deletions in it where they are shown."""
        if self._controls or self._deleted:
            self._place(element, element.tag in _IN_PARAGRAPHS)
        if self._styles.has_marks:
            self._mark(element, NO_PROPERTIES)

    def account(self) -> Iterator[Block]:
        """Yields the number of tracked deletions, and the fields and deletions that have no place in a text."""
        if self._shown_deletions:
            yield MarkdownText(f"[tracked deletions, shown as ~~struck through~~: {len(self._shown_deletions)}]")
        if lost := len(self._deleted) - len(self._shown_deletions):
            yield LostContent("tracked deletions", lost)
        if self._unplaced:
            yield LostContent("form fields", len(self._unplaced))

    def _place(self, element: Element, is_in_paragraph: bool) -> None:
        for child in element:
            if child.tag == "control" and (key := child.get("control", "")) in self._controls:
                self._unplaced.discard(key)
                _become(child, self._controls[key], is_in_paragraph=is_in_paragraph)
            elif child.tag == "change" and (text := self._deleted.get(child.get("change-id", ""))):
                self._shown_deletions.add(child.get("change-id", ""))
                _become(child, "\n".join(marked(line, _STRUCK_THROUGH) for line in text.split("\n")))
            elif len(child):
                self._place(child, is_in_paragraph or child.tag in _IN_PARAGRAPHS)

    def _mark(self, element: Element, inherited: RunProperties) -> None:
        own = self._styles.of(element)
        if own is not NO_PROPERTIES and (found := own.over(inherited)) != inherited:
            inherited = found
            element.set(RISE, inherited.rise or "")
            element.set(STRUCK, "struck" if inherited.is_struck else "")
            element.set(HIDDEN, "hidden" if inherited.is_hidden else "")
            if own.is_hidden and "".join(element.itertext()).strip():
                self._losses.count(HIDDEN_TEXTS)
        for child in element:
            if len(child) or child.tag == "span":
                self._mark(child, inherited)


def outermost(element: Element, tags: Set[str]) -> Iterator[Element]:
    """Yields the elements inside that are called so, but not what is in them, in shapes or in comments."""
    for child in element:
        if child.tag in tags:
            yield child
        elif len(child) and child.tag not in _APART:
            yield from outermost(child, tags)


def _become(element: Element, text: str, *, is_in_paragraph: bool = True) -> None:
    """Makes an element a span with a text; a shape with it where no paragraph is around."""
    tail = element.tail
    element.clear()
    element.tail = tail
    if is_in_paragraph:
        element.tag, element.text = "span", text
        return
    element.tag = "custom-shape"
    paragraph = Element("p")
    paragraph.text = text
    element.append(paragraph)


def _shown(control: Element) -> str:
    """Returns a control as people see it: [x] and its label, what was chosen, or what was filled in."""
    tag, label = control.tag, " ".join(control.get("label", "").split())
    if tag == "checkbox":
        state = control.get("current-state") or control.get("state")
        return f"[{'x' if state == 'checked' else '-' if state == 'unknown' else ' '}] {label}".rstrip()
    if tag == "radio":
        state = control.get("current-selected") or control.get("selected")
        return f"({'x' if state == 'true' else ' '}) {label}".rstrip()
    if tag in _BUTTONS:
        return label
    if tag == "listbox":
        options = control.findall("option")
        chosen = [each for each in options if each.get("current-selected") == "true"]
        chosen = chosen or [each for each in options if each.get("selected") == "true"]
        value = ", ".join(each.get("label") or each.get("value", "") for each in chosen)
    elif tag == "password":
        value = ""
    else:
        texts = "\n".join("".join(each.itertext()) for each in control.iter("p"))
        value = control.get("current-value") or texts or control.get("value") or ""
    return value or f"[not filled in: {label or control.get('name', '')}]".replace(": ]", "]")
