"""What a sheet of a workbook has beside its rows: comments, links, lists of choices, and headers for printing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, LostContent, MarkdownText
from ..sheets import comment_text
from ..xml_elements import text_inside
from .package import Package, Relationship, address_with_place

AFTER_ROWS = ("dataValidation", "headerFooter")
"""Elements that `blocks_after_rows` reads."""

_MAX_VALIDATIONS = 100
_CODE = re.compile(r'&(?:"[^"]{0,200}"|K[0-9A-F]{2}[+-]\d{3}|K[0-9A-F]{6}|\d{1,3}|.)', re.DOTALL)
_CODES = {"&&": "&", "&P": "[page]", "&N": "[pages]", "&D": "[date]", "&T": "[time]", "&F": "[file]", "&A": "[sheet]"}
_SIDES = ("&L", "&C", "&R")
_LITERAL = re.compile(r'"((?:[^"]|"")*)"')


class People:
    """The names of those who wrote threaded comments, by the ids that these have."""

    def __init__(self, package: Package) -> None:
        path = package.related(package.main, "person")
        found = package.elements(path, "person") if path else ()
        self._names = {each.get("id", ""): each.get("displayName", "") for each in found}

    def name(self, key: str) -> str:
        """Returns the name of one of them, "" if it is not known."""
        return self._names.get(key, "")


def comments_of(package: Package, relations: Mapping[str, Relationship], people: People) -> dict[str, str]:
    """Returns the comments on cells, with their authors and replies, by the names of the cells."""
    found: dict[str, str] = {}
    for path in _targets(relations, "comments"):
        authors: list[str] = []
        for each in package.elements(path, "author", "comment"):
            if each.tag == "author":
                authors.append(each.text or "")
                continue
            number = each.get("authorId", "")
            author = authors[int(number)] if number.isdecimal() and int(number[:6]) < len(authors) else ""
            found[each.get("ref", "")] = comment_text(text_inside(each, "t"), author)
    threads: dict[str, list[str]] = {}
    for path in _targets(relations, "threadedComment"):  # the comments above have copies of these
        for each in package.elements(path, "threadedComment"):
            text = comment_text(each.findtext("text") or "", people.name(each.get("personId", "")))
            threads.setdefault(each.get("ref", ""), []).append(text)
    return found | {ref: " ".join(texts) for ref, texts in threads.items()}


def links_of(package: Package, path: str, relations: Mapping[str, Relationship]) -> dict[str, str]:
    """Returns the addresses that cells are linked to; the sheet is read for them only if it has some."""
    if not any(each.kind == "hyperlink" for each in relations.values()):
        return {}
    links: dict[str, str] = {}
    for each in package.elements(path, "hyperlink"):
        relation = relations.get(each.get("r:id", ""))
        if relation is not None and relation.is_external:
            cell = each.get("ref", "").partition(":")[0]
            links[cell] = address_with_place(relation.target, each.get("location", ""))
    return links


def blocks_after_rows(elements: Iterable[Element], sheet: str) -> Iterator[Block]:
    """Yields the choices that cells offer, their input messages, and the headers and footers for printing."""
    validations = 0
    for element in elements:
        if element.tag == "headerFooter":
            yield from _printed(element, sheet)
        elif element.tag == "dataValidation":
            text, cells = _choices(element), (element.get("sqref") or element.findtext("sqref") or "").split()
            validations += bool(text)
            if validations <= _MAX_VALIDATIONS:
                place = BlockPlace(sheet=sheet, cell=cells[0] if cells else None)
                yield MarkdownText(text.format(", ".join(cells[:10])) if text else "", place, "choices")
    if validations > _MAX_VALIDATIONS:
        yield LostContent("lists of choices", validations - _MAX_VALIDATIONS, validations, sheet)


def _choices(element: Element) -> str:
    """Returns what a cell offers or asks for, with "{}" for its name; "" if that is only a check of what is typed."""
    found: list[str] = []
    if element.get("type") == "list" and (first := element.find("formula1")) is not None:
        source = "".join(first.itertext()).strip()
        literal = _LITERAL.fullmatch(source)
        choices = literal[1].replace('""', '"') if literal else f"the cells {source}"
        found.append(f"choices: {', '.join(map(str.strip, choices.split(',')))}")
    message = ": ".join(filter(None, (element.get("promptTitle", ""), element.get("prompt", ""))))
    if message:
        found.append(f"input message: {' '.join(message.split())}")
    text = "; ".join(found).replace("{", "{{").replace("}", "}}")
    return f"[{{}}: {text}]" if text else ""


def _printed(element: Element, sheet: str) -> Iterator[Block]:
    for kind in ("header", "footer"):
        texts: dict[str, None] = {}
        for page in ("odd", "even", "first"):
            texts[printed_words(element.findtext(f"{page}{kind.title()}") or "")] = None
        for text in filter(None, texts):
            yield MarkdownText(f"[{kind} for printing: {text}]", BlockPlace(sheet=sheet), "printed")


def printed_words(text: str) -> str:
    """Returns the texts of the left, the middle and the right of a header; "" if there are only fields in it."""
    sides = [""]
    has_words = False
    last = 0
    for found in _CODE.finditer(text):
        code = found[0].upper()
        own, last = text[last : found.start()], found.end()
        has_words |= bool(own.strip())
        sides[-1] += own
        if code in _SIDES:
            sides.append("")
        else:
            sides[-1] += _CODES.get(code, "")
    sides[-1] += text[last:]
    has_words |= bool(text[last:].strip())
    return " | ".join(filter(None, (" ".join(side.split()) for side in sides))) if has_words else ""


def _targets(relations: Mapping[str, Relationship], kind: str) -> Iterator[str]:
    return (each.target for each in relations.values() if each.kind == kind and not each.is_external)
