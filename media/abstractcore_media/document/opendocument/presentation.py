"""ODP: the texts, tables, pictures and notes of slides, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from ..blocks import Block, BlockPlace, MarkdownText, PageStart, heading, list_item
from ..format_handler import DocumentFile
from .frames import MasterPages, alternative_text, frame_blocks, inner_shapes
from .package import OpenDocument
from .paragraphs import comment_of, text_of, texts_of
from .references import SHAPES
from .vocabulary import OPEN_DOCUMENT

VOCABULARY = replace(OPEN_DOCUMENT, places={"draw:page": "slide"})

_LENGTH = re.compile(r"(-?[0-9.]{1,12})(cm|mm|in|pt|pc)")
_RUNNING = {"header-decl": "header", "footer-decl": "footer", "date-time-decl": "footer"}
"""The elements that have the text that many slides repeat."""
_INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0, "pt": 1 / 72, "pc": 1 / 6}


def read(file: DocumentFile) -> Iterator[Block]:
    """Yields the blocks of an OpenDocument presentation, slide by slide."""
    package = OpenDocument(file, "OpenDocument presentation")
    masters = MasterPages(package)
    sizes = [(_inches(each, "page-width"), _inches(each, "page-height")) for each in masters.sizes]
    # The layouts of notes and handouts are upright, those of slides are not.
    size = next(((width, height) for width, height in sizes if width > height > 0), (0.0, 0.0))
    yield from masters.blocks("header")
    number = 0
    hidden: set[str] = set()
    running: dict[str, str] = {}
    for element in package.elements("content.xml", frozenset({"page", "style", *_RUNNING})):
        if element.tag in _RUNNING:
            running[" ".join("".join(element.itertext()).split())] = _RUNNING[element.tag]
            continue
        if element.tag == "style":
            if any(each.get("visibility") == "hidden" for each in element):
                hidden.add(element.get("name", ""))
            continue
        number += 1
        mark = ", hidden" if element.get("style-name", "") in hidden else ""
        yield PageStart(number, f"[slide {number}{mark}]")
        yield MarkdownText(alternative_text(element), BlockPlace(page=number))
        yield from _shapes(element, package, number, size)
        notes = element.find("notes")
        text = _notes(notes) if notes is not None else ""
        if text:
            yield MarkdownText(f"[notes]\n{text}", BlockPlace(page=number))
    for text, kind in running.items():
        yield MarkdownText(f"[{kind}: {text}]" if text else "", BlockPlace(member=kind), kind)
    yield from masters.blocks("footer")
    yield from masters.blocks("background")
    yield from package.account()


def _shapes(page: Element, package: OpenDocument, number: int, size: tuple[float, float]) -> Iterator[Block]:
    for index, shape in enumerate(page, 1):
        if shape.get("class") in ("date-time", "footer", "header", "page-number"):
            continue
        if shape.tag == "g":
            yield from _shapes(shape, package, number, size)
            continue
        if shape.tag == "annotation":
            yield MarkdownText(comment_of(shape), BlockPlace(page=number))
        if shape.tag not in SHAPES:
            continue
        place = BlockPlace(page=number, box=_box(shape, size))
        if shape.get("class") == "title":
            yield heading(texts_of(shape), 2, place)
        elif shape.find("text-box") is not None:
            for box in shape.iterfind("text-box"):
                yield from _texts(box, package, place)
                yield from inner_shapes(box, package, place, f"slide {number} shape {index}")
        else:
            yield from frame_blocks(shape, package, place, f"slide {number} table {index}")


def _texts(element: Element, package: OpenDocument, place: BlockPlace) -> Iterator[Block]:
    for child in element:
        if child.tag == "list":
            style = child.get("style-name", "")
            yield from _list(child, package, place, (0, style, package.numbers.begin(child, style)))
        elif child.tag in ("p", "h"):
            yield MarkdownText(text_of(child), place)
        elif child.tag not in SHAPES:
            yield MarkdownText(texts_of(child), place)


def _list(element: Element, package: OpenDocument, place: BlockPlace, own: tuple[int, str, str]) -> Iterator[Block]:
    depth, style, key = own
    for item in element:
        marker = ""
        if item.tag == "list-item" and any(child.tag in ("p", "h") for child in item):
            counted = package.numbers.item(key, style, depth, item)
            marker = item.findtext("number") or counted
        for child in item:
            if child.tag == "list":
                yield from _list(child, package, place, (depth + 1, child.get("style-name") or style, key))
            elif child.tag in ("p", "h"):
                yield list_item(text_of(child), marker or " ", depth, place)
                marker = ""


def _notes(notes: Element) -> str:
    frames = (each for each in notes.iter("frame") if each.get("class") == "notes")
    return "\n".join(filter(None, map(texts_of, frames)))


def _box(shape: Element, size: tuple[float, float]) -> tuple[float, ...] | None:
    width, height = size
    if width <= 0 or height <= 0 or shape.get("x") is None or shape.get("width") is None:
        return None
    left, top = _inches(shape, "x") / width, _inches(shape, "y") / height
    right, bottom = left + _inches(shape, "width") / width, top + _inches(shape, "height") / height
    return tuple(round(min(max(value, 0.0), 1.0), 4) for value in (left, top, right, bottom))


def _inches(element: Element, name: str) -> float:
    found = _LENGTH.fullmatch(element.get(name, ""))
    try:
        return float(found[1]) * _INCHES[found[2]] if found else 0.0
    except ValueError:
        return 0.0
