"""Reads XML element by element, in bounded memory; document type declarations, and so entities, are refused.

Names are without namespaces, whose addresses differ between variants of a format. Attributes that name a relationship
of an Office package keep a prefix: "r:id".
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Set
from typing import NamedTuple, TypeAlias
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from abstractcore.errors import MediaError

from .vocabularies import LossCounter, LossTally, Treatment

Elements: TypeAlias = Generator[Element]

_MAX_DEPTH = 250
_MAX_NODES = 500_000
"""The elements in one of those that are collected."""
_MAX_NAMES = 10_000
"""The names that are remembered: a hostile file may have a new one for each element."""


class XmlError(MediaError):
    """The XML is not well-formed, or not allowed."""


def elements(
    chunks: Iterable[bytes],
    wanted: Set[str],
    announced: Set[str] = frozenset(),
    losses: LossCounter | None = None,
    part: str = "",
) -> Elements:
    """Yields the elements that are called as in `wanted`, except those inside of another one, each when it is complete.

    Those in `announced` outside of such are yielded when they begin, without content. Nothing has no elements: parts of
    a package may be missing. With `losses`, elements have nothing in them but what the vocabulary declares as read or
    as a property, and what was passed in `part` is counted: once, however often the part is read. Raises `XmlError`.
    """
    if losses is None:
        yield from _parsed(chunks, _Collector(wanted, announced))
        return
    collector = _CountingCollector(wanted, announced, losses)
    try:
        yield from _parsed(chunks, collector)
    finally:
        losses.settle(part, collector.parsed_bytes, collector.tally)


def _parsed(chunks: Iterable[bytes], collector: _Collector) -> Elements:
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
            collector.parsed_bytes += len(chunk)
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
        self.parsed_bytes = 0
        self._wanted = wanted
        self._announced = announced
        self._names: dict[str, str] = {}
        self._known: dict[str, str] = self._names
        """The names, as the parser gives them, of elements that are built without a further look; with their tags."""
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
        tag = self._known.get(name) or self._enter(name, attributes)
        if tag is None:
            return
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
        tag = self._known.get(name) or self._leave(name)
        if tag is not None and self._builder is not None:
            self._builder.end(tag)
            if self._depth == self._collected_from:
                self._done.append(self._builder.close())
                self._builder = None
        self._depth -= 1

    def text(self, data: str) -> None:
        if self._builder is not None:
            self._builder.data(data)

    def _enter(self, name: str, attributes: dict[str, str]) -> str | None:
        """Returns the tag of an element that begins, None if it is not built."""
        return self._local(name)

    def _leave(self, name: str) -> str | None:
        """Returns the tag of an element that ends, None if it was not built."""
        return self._local(name)

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
        if len(self._names) < _MAX_NAMES:
            self._names[name] = local
        return local


class _CountingCollector(_Collector):
    """Builds elements without those that the vocabulary does not declare as read, and counts these."""

    def __init__(self, wanted: Set[str], announced: Set[str], losses: LossCounter) -> None:
        super().__init__(wanted, announced)
        self.tally = LossTally()
        self._losses = losses
        self._kinds: dict[str, _ElementKind] = {}
        self._read: dict[str, str] = {}
        self._known = self._read
        self._closed_at = 0
        """The depth of the property, or of the element that is not read, in which the parser is; or 0."""
        self._unknown: list[tuple[int, str]] = []
        """The depths of the unknown elements around, with what each is counted as if it has a text."""
        self._place = ""
        self._numbers: dict[str, int] = {}

    def text(self, data: str) -> None:
        if self._closed_at:
            if self._known is not self._names:
                return
        elif self._unknown and self._unknown[-1][0] == self._depth and data.strip():
            self._count(self._unknown[-1][1])
            self._unknown[-1] = (self._depth, "")
            return
        super().text(data)

    def end(self, name: str) -> None:
        if self._depth != self._closed_at:
            super().end(name)
            return
        super().end(name)
        self._closed_at, self._known = 0, self._read

    def _enter(self, name: str, attributes: dict[str, str]) -> str | None:
        if self._closed_at:
            return self._local(name) if self._known is self._names else None
        kind = self._kinds.get(name) or self._kind(name)
        if kind.place:
            self._begin_place(kind.place, attributes)
        if kind.treatment is Treatment.READ:
            return kind.tag
        if kind.treatment is Treatment.UNKNOWN:
            has_reference = any(map(_is_reference, attributes))
            if has_reference:
                self._count(kind.what)
            self._unknown.append((self._depth, "" if has_reference else kind.what))
            return None
        self._closed_at = self._depth
        if kind.treatment is Treatment.PROPERTY:
            self._known = self._names
            return kind.tag
        self._known = {}
        if kind.treatment is Treatment.LOST:
            self._count(kind.what)
        return None

    def _leave(self, name: str) -> str | None:
        if self._closed_at:
            return self._local(name) if self._known is self._names else None
        if self._unknown and self._unknown[-1][0] == self._depth:
            self._unknown.pop()
            return None
        return self._local(name)

    def _count(self, what: str) -> None:
        if what:
            self.tally.add(what, self._place or self._losses.place)

    def _begin_place(self, place: str, attributes: dict[str, str]) -> None:
        word, _, attribute = place.partition(" ")
        self._numbers[word] = number = self._numbers.get(word, 0) + 1
        given = (value for name, value in attributes.items() if attribute and name.rpartition("}")[2] == attribute)
        self._place = f"{word} {next(given, number)}"

    def _kind(self, name: str) -> _ElementKind:
        vocabulary = self._losses.vocabulary
        kind = vocabulary.kind(name)
        treatment, what = vocabulary.treatment(kind)
        found = _ElementKind(self._local(name), treatment, what, vocabulary.places.get(kind, ""))
        if len(self._kinds) < _MAX_NAMES:
            self._kinds[name] = found
            if treatment is Treatment.READ and not found.place:
                self._read[name] = found.tag
        return found


class _ElementKind(NamedTuple):
    """What becomes of the elements of one name."""

    tag: str
    treatment: Treatment
    what: str
    place: str


def _is_reference(attribute: str) -> bool:
    """Returns whether an attribute names another part of the package, such as a picture."""
    return "/relationships}" in attribute or attribute.endswith("xlink}href")
