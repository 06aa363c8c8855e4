"""The text of OpenDocument paragraphs, and the frames in them, in order."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..marks import PLAIN, MarkedText, Marks, with_reading
from .references import HIDDEN, RISE, SHAPES, STRUCK, outermost

_PARAGRAPHS = frozenset({"p", "h"})
_CHARACTERS = {"tab": "\t", "line-break": "\n"}


def pieces_of(paragraph: Element) -> list[str | Element]:
    """Returns texts with their marks, and the frames between them."""
    return _ParagraphWalk().of(paragraph)


def text_of(paragraph: Element) -> str:
    """Returns the text without frames."""
    if RISE not in paragraph.attrib:
        if not len(paragraph):
            return (paragraph.text or "").strip()
        only = paragraph[0]
        if len(paragraph) == 1 and only.tag == "span" and not len(only) and RISE not in only.attrib:
            return f"{paragraph.text or ''}{only.text or ''}{only.tail or ''}".strip()
    return "".join(piece for piece in pieces_of(paragraph) if isinstance(piece, str)).strip()


def texts_of(element: Element) -> str:
    """Returns the texts of the paragraphs inside, a line each, without those of shapes in them."""
    return "\n".join(filter(None, map(text_of, outermost(element, _PARAGRAPHS))))


def shapes_in(element: Element) -> Iterator[Element]:
    """Yields the shapes inside, but not those in other ones."""
    return outermost(element, SHAPES)


class _ParagraphWalk:
    """Collects the pieces of one paragraph."""

    def __init__(self) -> None:
        self._found: list[str | Element] = []
        self._text = MarkedText()
        self._marks = PLAIN
        self._is_hidden = False

    def of(self, paragraph: Element) -> list[str | Element]:
        """Returns texts, and the frames between them."""
        self._walk(paragraph)
        self._end_text()
        return self._found

    def _walk(self, element: Element) -> None:
        before = self._marks, self._is_hidden
        if RISE in element.attrib:
            self._marks = Marks(element.get(RISE, ""), bool(element.get(STRUCK)))
            self._is_hidden = bool(element.get(HIDDEN))
        self._add(element.text)
        for child in element:
            self._add_child(child)
            self._add(child.tail)
        self._marks, self._is_hidden = before

    def _add_child(self, child: Element) -> None:
        tag = child.tag
        if tag == "s":
            count = child.get("c", "1")
            self._add(" " * (min(int(count), 100) if count.isdecimal() else 1))
        elif tag in _CHARACTERS:
            self._add(_CHARACTERS[tag])
        elif tag == "note":
            body = child.find("note-body")
            self._add_plain(f" [note: {' '.join(texts_of(body).split())}]" if body is not None else "")
        elif tag == "annotation":
            self._add_plain(f" {comment_of(child)} ")
        elif tag == "ruby-text":
            self._add(with_reading("", "".join(child.itertext())))
        elif tag == "number":
            self._add(f"{child.text or ''} ")
        elif tag == "a" and "://" in child.get("href", ""):
            self._add_plain("[")
            self._walk(child)
            self._add_plain(f"]({child.get('href')})")
        elif tag in SHAPES:
            if not self._is_hidden:
                self._end_text()
                self._found.append(child)
        else:
            self._walk(child)

    def _add(self, text: str | None) -> None:
        if text and not self._is_hidden:
            self._text.add(text, self._marks)

    def _add_plain(self, text: str) -> None:
        if not self._is_hidden:
            self._text.add(text)

    def _end_text(self) -> None:
        if text := self._text.taken():
            self._found.append(text)


def comment_of(annotation: Element) -> str:
    """Returns a comment with its author, if it has one."""
    author = annotation.findtext("creator")
    return f"[comment{f' by {author}' if author else ''}: {' '.join(texts_of(annotation).split())}]"
