"""The text of a paragraph of a DOCX with its marks, fields and form controls, and the drawings in it, in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from xml.etree.ElementTree import Element

from ..equations import in_markdown, latex_of_office
from ..marks import NO_PROPERTIES, PLAIN, MarkedText, Marks, with_reading
from ..vocabularies import HIDDEN_TEXTS, LossCounter
from .docx_styles import Styles, child_value, is_on, number_of, run_properties
from .package import Relationship, address_with_place
from .symbol_fonts import symbol

DELETIONS = "tracked deletions"

_SKIPPED = frozenset({"pPr", "rPr", "sdtPr", "rubyPr"})
_DRAWINGS = frozenset({"drawing", "pict", "object"})
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": ""}
_LINK = re.compile(r'\s*HYPERLINK\s+(?:"([^"]{1,2000})"|([^"\s\\]\S{0,2000}))', re.IGNORECASE)
_PLACE_OF_LINK = re.compile(r'\\l\s+"([^"]{1,2000})"')
_IS_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}:")


class Runs:
    """Collects the runs of one paragraph. `comments` are texts by id; `counts` is of what is set apart in them."""

    def __init__(
        self,
        relations: Mapping[str, Relationship],
        comments: Mapping[str, str],
        styles: Styles,
        counts: Counter[str],
        losses: LossCounter,
    ) -> None:
        self._relations = relations
        self._comments = comments
        self._styles = styles
        self._counts = counts
        self._losses = losses
        self._text = MarkedText()
        self._marks = PLAIN
        self._paragraph = NO_PROPERTIES
        self._is_hidden = False
        self._is_deleted = False
        self._fields: list[tuple[list[str], str]] = []
        """The code of each field that is open, and the address that its link has."""
        self._found: list[str | Element] = []
        self._walkers: dict[str, Callable[[Element], None]] = {
            "r": self._run,
            "hyperlink": self._link,
            "fldSimple": self._simple_field,
            "fldChar": self._field_mark,
            "sdt": self._control,
            "ruby": self._ruby,
            "del": self._deletion,
            "oMathPara": self._equation,
            "oMath": self._equation,
        }

    def of(self, paragraph: Element) -> list[str | Element]:
        """Returns texts, and elements that draw something."""
        self._paragraph = self._styles.run_properties(child_value(paragraph, "pPr/pStyle") or "")
        self._walk(paragraph)
        while self._fields:
            self._close_field()
        self._end_text()
        return self._found

    def _walk(self, element: Element) -> None:
        for child in element:
            tag = child.tag
            if tag in _SKIPPED:
                continue
            if tag in self._walkers:
                self._walkers[tag](child)
            elif tag in ("t", "delText"):
                self._add(child.text or "")
            elif tag in _CHARACTERS:
                self._add(_CHARACTERS[tag])
            elif tag == "instrText":
                if self._fields:
                    self._fields[-1][0].append(child.text or "")
            elif tag in _DRAWINGS:
                self._draw(child)
            elif tag in ("footnoteReference", "endnoteReference"):
                self._text.add(f"[^{'e' if tag[0] == 'e' else ''}{child.get('id')}]")
            elif tag == "commentReference":
                comment = self._comments.get(child.get("id", ""))
                self._text.add(f" {comment} " if comment else "")
            elif tag == "sym":
                self._add(symbol(child.get("font", ""), child.get("char", "")))
            else:
                self._walk(child)

    def _run(self, element: Element) -> None:
        properties = element.find("rPr")
        own = self._paragraph
        if properties is not None:
            style = child_value(properties, "rStyle")
            own = self._styles.run_properties(style).over(own) if style else own
            direct = run_properties(properties)
            own = own if direct is NO_PROPERTIES else direct.over(own)
        if own is NO_PROPERTIES and not self._is_deleted:
            self._walk(element)
            return
        before = self._marks, self._is_hidden
        self._marks = Marks(own.rise or "", bool(own.is_struck) or self._is_deleted)
        self._is_hidden = bool(own.is_hidden)
        if self._is_hidden and any(each.text and each.text.strip() for each in element.iter("t")):
            self._losses.count(HIDDEN_TEXTS)
        self._walk(element)
        self._marks, self._is_hidden = before

    def _add(self, text: str) -> None:
        if not self._is_hidden:
            self._text.add(text, self._marks)

    def _draw(self, element: Element) -> None:
        if not self._is_hidden and not self._is_deleted:
            self._end_text()
            self._found.append(element)

    def _end_text(self) -> None:
        text = self._text.taken()
        if text:
            self._found.append(text)

    def _deletion(self, element: Element) -> None:
        if not self._is_deleted and any(each.text for tag in ("delText", "t") for each in element.iter(tag)):
            self._counts[DELETIONS] += 1
        before, self._is_deleted = self._is_deleted, True
        self._walk(element)
        self._is_deleted = before

    def _link(self, element: Element) -> None:
        relation = self._relations.get(element.get("r:id", ""))
        address = relation.target if relation is not None and relation.is_external else ""
        self._linked(element, address_with_place(address, element.get("anchor", "")))

    def _linked(self, element: Element, target: str) -> None:
        self._text.add("[" if target else "")
        self._walk(element)
        self._text.add(f"]({target})" if target else "")

    def _simple_field(self, element: Element) -> None:
        self._linked(element, address_of_link(element.get("instr", "")))

    def _field_mark(self, element: Element) -> None:
        """Opens or closes a field; a form field that has no text of its own gets its state."""
        kind = element.get("fldCharType")
        if kind == "begin":
            self._fields.append(([], ""))
            form = element.find("ffData")
            if form is not None:
                self._add(_form_state(form))
        elif kind == "separate" and self._fields:
            code, _ = self._fields[-1]
            target = address_of_link("".join(code))
            self._fields[-1] = code, target
            self._text.add("[" if target else "")
        elif kind == "end" and self._fields:
            self._close_field()

    def _close_field(self) -> None:
        _, target = self._fields.pop()
        self._text.add(f"]({target})" if target else "")

    def _control(self, element: Element) -> None:
        """Adds a content control: a box with its state, a prompt as what nobody filled in, or else its content."""
        properties = element.find("sdtPr")
        box = properties.find("checkbox") if properties is not None else None
        if box is not None:
            self._add("[x]" if is_on(box.find("checked")) else "[ ]")
        elif properties is not None and is_on(properties.find("showingPlcHdr")):
            prompt = " ".join("".join(each.text or "" for each in element.iter("t")).split())
            self._add(f"[not filled in: {prompt}]" if prompt else "[not filled in]")
        else:
            self._walk(element)

    def _ruby(self, element: Element) -> None:
        base, reading = (
            "".join(each.text or "" for part in element.iterfind(tag) for each in part.iter("t"))
            for tag in ("rubyBase", "rt")
        )
        self._add(with_reading(base, reading))

    def _equation(self, element: Element) -> None:
        if not self._is_hidden:
            self._text.add(in_markdown(latex_of_office(element), is_block=element.tag == "oMathPara"), self._marks)


def address_of_link(code: str) -> str:
    """Returns the address that a field links to; "" for a place in the file, and for other fields."""
    found = _LINK.match(code)
    address = (found[1] or found[2]) if found else ""
    if found is None or not _IS_ADDRESS.match(address):
        return ""
    place = _PLACE_OF_LINK.search(code, found.end())
    return address_with_place(address, place[1] if place else "")


def _form_state(form: Element) -> str:
    """Returns the state of a box, or the choice of a list; texts are in the field themselves."""
    box = form.find("checkBox")
    if box is not None:
        state = box.find("checked")
        return "[x]" if is_on(box.find("default") if state is None else state) else "[ ]"
    choices = form.find("ddList")
    if choices is None:
        return ""
    entries = [each.get("val", "") for each in choices.iterfind("listEntry")]
    chosen = number_of(child_value(choices, "result") or child_value(choices, "default"))
    return entries[chosen] if chosen < len(entries) else ""
