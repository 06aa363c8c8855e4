"""The text of DrawingML (ECMA-376, part 1, 21.1.2): paragraphs of slides, shapes and text boxes, with their marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element

from ..counting import alphabetic, roman
from ..equations import in_markdown, latex_of_office
from ..marks import PLAIN, MarkedText, Marks
from .package import Relationship

_NUMBERS = re.compile(
    r"(alphaLc|alphaUc|arabicDb|arabic|romanLc|romanUc|circleNum\w*?)(ParenBoth|ParenR|Period|Plain|Minus)"
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def paragraph_text(paragraph: Element, relations: Mapping[str, Relationship]) -> str:
    """Returns the text of a paragraph with its marks and links."""
    found = MarkedText()
    for each in paragraph:
        if each.tag in ("r", "fld"):
            properties = each.find("rPr")
            text = each.findtext("t") or ""
            target = link_target(properties, relations) if properties is not None and text.strip() else ""
            if target:
                found.add("[")
                found.add(text, _marks(properties))
                found.add(f"]({target})")
            else:
                found.add(text, _marks(properties))
        elif each.tag == "br":
            found.add("\n")
        elif each.tag != "pPr":
            for equation in each.iter():
                if equation.tag == "oMathPara" or (equation.tag == "oMath" and each.find(".//oMathPara") is None):
                    is_block = equation.tag == "oMathPara"
                    found.add(in_markdown(latex_of_office(equation), is_block=is_block))
    return found.taken()


def own_text(body: Element, relations: Mapping[str, Relationship]) -> str:
    """Returns the text of the paragraphs that somebody typed, and not a field alone, such as the number of a slide."""
    texts = (
        paragraph_text(each, relations)
        for each in body.iterfind("p")
        if any((run.text or "").strip() for run in each.iterfind("r/t"))
    )
    return " ".join(" ".join(texts).split())


def link_target(element: Element | None, relations: Mapping[str, Relationship]) -> str:
    """Returns the address that a click on an element opens, "" if it has none outside of the file."""
    click = element.find("hlinkClick") if element is not None and len(element) else None
    relation = relations.get(click.get("r:id", "")) if click is not None else None
    return relation.target if relation is not None and relation.is_external else ""


def _marks(properties: Element | None) -> Marks:
    if properties is None or not ("baseline" in properties.attrib or "strike" in properties.attrib):
        return PLAIN
    baseline = properties.get("baseline", "0").removesuffix("%")
    rise = "" if baseline.strip("-0.") == "" else "sub" if baseline.startswith("-") else "sup"
    return Marks(rise, properties.get("strike", "noStrike") != "noStrike")


class ParagraphMarkers:
    """The markers of the paragraphs of one text body, in order."""

    def __init__(self, body: Element, inherited: Sequence[Element] = ()) -> None:
        own = body.find("lstStyle")
        self._styles = (*([own] if own is not None else []), *inherited)
        self._counters: dict[int, tuple[str, int]] = {}
        self._kinds: dict[int, Element | None] = {}
        """What the styles have, by level."""

    def next(self, paragraph: Element) -> tuple[str | None, int]:
        """Returns the marker of a paragraph and its level from 0: "2.", "-" for a bullet, "" for none of both.

        The marker is None where the text body leaves it to the slide's layout.
        """
        properties = paragraph.find("pPr")
        text = properties.get("lvl", "0") if properties is not None else "0"
        level = int(text) if text.isdecimal() and len(text) < 3 else 0
        for deeper in [each for each in self._counters if each > level]:
            del self._counters[deeper]
        kind = self._kind(properties, level)
        if kind is None or kind.tag != "buAutoNum":
            self._counters.pop(level, None)
            return (None if kind is None else "" if kind.tag == "buNone" else "-"), level
        style, start = kind.get("type", "arabicPeriod"), kind.get("startAt", "1")
        before = self._counters.get(level)
        first = int(start) if start.isdecimal() and len(start) < 6 else 1
        number = before[1] + 1 if before is not None and before[0] == f"{style} {start}" else first
        self._counters[level] = f"{style} {start}", number
        return paragraph_number(number, style), level

    def _kind(self, properties: Element | None, level: int) -> Element | None:
        own = _bullet(properties)
        if own is not None:
            return own
        if level not in self._kinds:
            name = f"lvl{level + 1}pPr"
            found = (_bullet(style.find(name)) for style in self._styles)
            self._kinds[level] = next((each for each in found if each is not None), None)
        return self._kinds[level]


def _bullet(properties: Element | None) -> Element | None:
    found = properties if properties is not None else ()
    return next((each for each in found if each.tag in ("buNone", "buAutoNum", "buChar", "buBlip")), None)


def paragraph_number(number: int, style: str) -> str:
    """Returns an automatic number of a paragraph in a style of DrawingML, such as "alphaLcParenR"."""
    found = _NUMBERS.fullmatch(style)
    kind, around = (found[1], found[2]) if found else ("arabic", "Period")
    text = {
        "alphaLc": lambda: alphabetic(number, _LETTERS),
        "alphaUc": lambda: alphabetic(number, _LETTERS.upper()),
        "romanLc": lambda: roman(number).lower(),
        "romanUc": lambda: roman(number),
    }.get(kind, lambda: str(number))()
    return {"ParenBoth": f"({text})", "ParenR": f"{text})", "Plain": text, "Minus": f"{text}-"}.get(around, f"{text}.")


def body_lines(
    body: Element, relations: Mapping[str, Relationship], inherited: Sequence[Element] = ()
) -> Iterator[tuple[str, str | None, int]]:
    """Yields the text, the marker and the level of each paragraph of a text body; list styles are inherited."""
    markers = ParagraphMarkers(body, inherited)
    for paragraph in body.iterfind("p"):
        text = paragraph_text(paragraph, relations)
        if text.strip():
            marker, level = markers.next(paragraph)
            yield text, marker, level
