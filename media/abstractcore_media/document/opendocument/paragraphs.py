"""The text of OpenDocument paragraphs, and the frames in them, in order."""

from __future__ import annotations

from collections.abc import Iterator, Set
from xml.etree.ElementTree import Element

SHAPES = frozenset(
    ("caption", "circle", "connector", "custom-shape", "ellipse", "frame", "g", "line", "measure", "path", "polygon",
     "polyline", "rect", "regular-polygon")
)  # fmt: skip
"""What is drawn: elements that stand in a paragraph, a cell or a page, with texts, pictures and tables of their own."""
_PARAGRAPHS = frozenset({"p", "h"})


def pieces_of(paragraph: Element) -> list[str | Element]:
    """Returns texts, and the frames between them."""
    found: list[str | Element] = []
    _walk(paragraph, found)
    return found


def text_of(paragraph: Element) -> str:
    """Returns the text without frames."""
    if not len(paragraph):
        return (paragraph.text or "").strip()
    return "".join(piece for piece in pieces_of(paragraph) if isinstance(piece, str)).strip()


def texts_of(element: Element) -> str:
    """Returns the texts of the paragraphs inside, a line each, without those of shapes in them."""
    return "\n".join(filter(None, map(text_of, outermost(element, _PARAGRAPHS))))


def shapes_in(element: Element) -> Iterator[Element]:
    """Yields the shapes inside, but not those in other ones."""
    return outermost(element, SHAPES)


def outermost(element: Element, tags: Set[str]) -> Iterator[Element]:
    """Yields the elements inside that are called so, but not what is in them, in shapes or in comments."""
    for child in element:
        if child.tag in tags:
            yield child
        elif len(child) and child.tag not in SHAPES and child.tag != "annotation":
            yield from outermost(child, tags)


def _walk(element: Element, found: list[str | Element]) -> None:
    _add(found, element.text)
    for child in element:
        tag = child.tag
        if tag == "s":
            count = child.get("c", "1")
            _add(found, " " * (min(int(count), 100) if count.isdecimal() else 1))
        elif tag == "tab":
            _add(found, "\t")
        elif tag == "line-break":
            _add(found, "\n")
        elif tag == "note":
            body = child.find("note-body")
            _add(found, f" [note: {' '.join(texts_of(body).split())}]" if body is not None else "")
        elif tag == "annotation":
            _add(found, f" {comment_of(child)} ")
        elif tag == "ruby-text":
            _add(found, f"({''.join(child.itertext())})")
        elif tag == "number":
            _add(found, f"{child.text or ''} ")
        elif tag == "a" and "://" in child.get("href", ""):
            _add(found, "[")
            _walk(child, found)
            _add(found, f"]({child.get('href')})")
        elif tag in SHAPES:
            found.append(child)
        else:
            _walk(child, found)
        _add(found, child.tail)


def comment_of(annotation: Element) -> str:
    """Returns a comment with its author, if it has one."""
    author = annotation.findtext("creator")
    return f"[comment{f' by {author}' if author else ''}: {' '.join(texts_of(annotation).split())}]"


def _add(found: list[str | Element], text: str | None) -> None:
    if not text:
        return
    if found and isinstance(last := found[-1], str):
        found[-1] = last + text
    else:
        found.append(text)
