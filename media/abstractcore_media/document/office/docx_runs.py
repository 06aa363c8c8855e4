"""The text of a paragraph of a DOCX, and the drawings in it, in order."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element

from .package import Relationship

_SKIPPED = frozenset({"del", "moveFrom", "Fallback", "pPr", "rPr", "instrText", "delText", "sdtPr"})
_DRAWINGS = frozenset({"drawing", "pict", "object"})
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": ""}


class Runs:
    """Collects the runs of one paragraph. `comments` are texts by id."""

    def __init__(self, relations: Mapping[str, Relationship], comments: Mapping[str, str]) -> None:
        self._relations = relations
        self._comments = comments
        self._found: list[str | Element] = []

    def of(self, paragraph: Element) -> list[str | Element]:
        """Returns texts, and elements that draw something."""
        self._walk(paragraph)
        return self._found

    def _walk(self, element: Element) -> None:
        for child in element:
            tag = child.tag
            if tag in _SKIPPED:
                continue
            if tag == "t":
                self._add(child.text or "")
            elif tag in _CHARACTERS:
                self._add(_CHARACTERS[tag])
            elif tag in _DRAWINGS:
                self._found.append(child)
            elif tag == "hyperlink":
                self._link(child)
            elif tag in ("footnoteReference", "endnoteReference"):
                self._add(f"[^{'e' if tag[0] == 'e' else ''}{child.get('id')}]")
            elif tag == "commentReference":
                comment = self._comments.get(child.get("id", ""))
                self._add(f" {comment} " if comment else "")
            elif tag == "sym":
                self._add(_symbol(child.get("char", "")))
            else:
                self._walk(child)

    def _add(self, text: str) -> None:
        if self._found and isinstance(last := self._found[-1], str):
            self._found[-1] = last + text
        else:
            self._found.append(text)

    def _link(self, element: Element) -> None:
        relation = self._relations.get(element.get("r:id", ""))
        if relation is None or not relation.is_external:
            self._walk(element)
            return
        self._add("[")
        self._walk(element)
        self._add(f"]({relation.target})")


def _symbol(code: str) -> str:
    """Returns the character of a symbol; those of the private use area belong to symbol fonts."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return chr(number) if 0x20 <= number < 0xD800 else "•" if 0xF000 <= number < 0xF900 else ""
