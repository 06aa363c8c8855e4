"""Reads XML element by element, in bounded memory; document type declarations, and so entities, are refused.

Names are without namespaces, whose addresses differ between variants of a format. Attributes that name a relationship
of an Office package keep a prefix: "r:id".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import TypeAlias
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from abstractcore.errors import MediaError

Elements: TypeAlias = Iterator[Element]

_MAX_DEPTH = 250
_MAX_NODES = 500_000
"""The elements in one of those that are collected."""


class XmlError(MediaError):
    """The XML is not well-formed, or not allowed."""


def elements(chunks: Iterable[bytes], wanted: Set[str], announced: Set[str] = frozenset()) -> Elements:
    """Yields the elements that are called as in `wanted`, except those inside of another one, each when it is complete.

    Those in `announced` outside of such are yielded when they begin, without content. Nothing has no elements: parts of
    a package may be missing. Raises `XmlError`.
    """
    collector = _Collector(wanted, announced)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler = collector.start
    parser.EndElementHandler = collector.end
    parser.CharacterDataHandler = collector.text
    parser.StartDoctypeDeclHandler = _refuse_doctype
    is_empty = True
    try:
        for chunk in chunks:
            is_empty = False
            parser.Parse(chunk, False)
            yield from collector.taken()
        if not is_empty:
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise XmlError(f"its XML is not well-formed ({error})") from error
    yield from collector.taken()


def whole(chunks: Iterable[bytes], root: str) -> Element:
    """Returns the element that is called `root`, an empty one if there is none."""
    return next(elements(chunks, frozenset({root})), Element(root))


def text_inside(element: Element, name: str) -> str:
    """Returns the text of all elements called `name` in an element."""
    return "".join(each.text or "" for each in element.iter(name))


def _refuse_doctype(*_: object) -> None:
    raise XmlError("its XML has a document type declaration, which no such file needs")


class _Collector:
    """Builds the elements that are wanted from the events of the parser."""

    def __init__(self, wanted: Set[str], announced: Set[str]) -> None:
        self._wanted = wanted
        self._announced = announced
        self._names: dict[str, str] = {}
        self._builder: TreeBuilder | None = None
        self._depth = 0
        self._collected_from = 0
        self._nodes = 0
        self._done: list[Element] = []

    def taken(self) -> list[Element]:
        done, self._done = self._done, []
        return done

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise XmlError(f"its XML is nested more than {_MAX_DEPTH} deep")
        tag = self._names.get(name) or self._local(name)
        if self._builder is None:
            if tag in self._wanted:
                self._builder, self._nodes, self._collected_from = TreeBuilder(), 0, self._depth
            elif tag in self._announced:
                self._done.append(Element(tag, self._attributes(attributes)))
                return
            else:
                return
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise XmlError(f"an element of its XML has more than {_MAX_NODES:,} others in it")
        self._builder.start(tag, self._attributes(attributes))

    def end(self, name: str) -> None:
        if self._builder is not None:
            self._builder.end(self._names.get(name) or self._local(name))
            if self._depth == self._collected_from:
                self._done.append(self._builder.close())
                self._builder = None
        self._depth -= 1

    def text(self, data: str) -> None:
        if self._builder is not None:
            self._builder.data(data)

    def _attributes(self, given: dict[str, str]) -> dict[str, str]:
        if not given:
            return given
        names = self._names
        result: dict[str, str] = {}
        for name, value in given.items():
            result.setdefault(names.get(name) or self._local(name), value)
        return result

    def _local(self, name: str) -> str:
        namespace, _, local = name.rpartition("}")
        if "/officeDocument/" in namespace and namespace.endswith("/relationships"):
            local = f"r:{local}"
        if len(self._names) < 10_000:  # a hostile file may have a new name for each element
            self._names[name] = local
        return local
