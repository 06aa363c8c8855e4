"""Reads XML element by element, in bounded memory; document type declarations, and so entities, are refused.

Names are without namespaces, whose addresses differ between variants of a format. Attributes that name a relationship
of an Office package keep a prefix: "r:id".
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Set
from typing import TypeAlias
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from abstractcore.errors import MediaError

from .vocabularies import HIDDEN_TEXTS, ElementKind, ElementNames, FormatVocabulary, LossCounter, LossTally, Treatment

Elements: TypeAlias = Generator[Element]

_MAX_DEPTH = 250
_MAX_NODES = 500_000
"""The elements in one of those that are collected."""
_ANYTHING = FormatVocabulary("", {})


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
    collector = _Collector(wanted, announced, losses)
    parser = collector.parser
    is_empty = True
    try:
        for chunk in chunks:
            is_empty = False
            collector.parsed_bytes += len(chunk)
            parser.Parse(chunk, False)
            yield from collector.taken()
        if not is_empty:
            parser.Parse(b"", True)
        yield from collector.taken()
    except expat.ExpatError as error:
        raise XmlError(f"its XML is not well-formed ({error})") from error
    finally:
        collector.close()
        if losses is not None:
            losses.settle(part, collector.parsed_bytes, collector.tally)


def whole(chunks: Iterable[bytes], root: str) -> Element:
    """Returns the element that is called `root`, an empty one if there is none."""
    return next(elements(chunks, frozenset({root})), Element(root))


def text_inside(element: Element, name: str) -> str:
    """Returns the text of all elements called `name` in an element."""
    return "".join(each.text or "" for each in element.iter(name))


def _refuse_doctype(*_: object) -> None:
    raise XmlError("its XML has a document type declaration, which no such file needs")


class _Collector:
    """Builds the elements that are wanted from the events of a parser, whose handlers change with where it is.

    With `losses`, elements that their vocabulary does not declare as read are not built, but counted.
    """

    def __init__(self, wanted: Set[str], announced: Set[str], losses: LossCounter | None) -> None:
        self.parsed_bytes = 0
        self.tally = LossTally()
        self._wanted = wanted
        self._announced = announced
        self._losses = losses
        self._names = losses.names if losses is not None else ElementNames(_ANYTHING)
        self._read = self._names.read if losses is not None else self._names.tags
        self._known = self._read
        """The names of elements that are built without a further look, with their tags."""
        self._builder: TreeBuilder | None = None
        self._depth = 0
        self._collected_from = 0
        self._nodes = 0
        self._done: list[Element] = []
        self._closed_at = 0
        """The depth of the property, or of the element that is not read, in which the parser is; or 0."""
        self._unknown: list[tuple[int, str]] = []
        """The depths of the unknown elements around, with what each is counted as if it has a text."""
        self._place = ""
        self._numbers: dict[str, int] = {}
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = _refuse_doctype
        self._listen()

    def taken(self) -> list[Element]:
        done, self._done = self._done, []
        return done

    def close(self) -> None:
        """Ends the events, whose handlers and parser refer to each other."""
        self.parser.StartElementHandler = self.parser.EndElementHandler = self.parser.CharacterDataHandler = None

    def _listen(self) -> None:
        parser = self.parser
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        if self._unknown:
            parser.CharacterDataHandler = self._unknown_text
        else:
            parser.CharacterDataHandler = self._builder.data if self._builder is not None else None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise XmlError(f"its XML is nested more than {_MAX_DEPTH} deep")
        tag = self._known.get(name) or self._enter(name, attributes)
        if tag is None:
            return
        builder = self._builder or self._begins(tag, attributes)
        if builder is None:
            return
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise XmlError(f"an element of its XML has more than {_MAX_NODES:,} others in it")
        builder.start(tag, self._attributes(attributes) if attributes else attributes)

    def _begins(self, tag: str, attributes: dict[str, str]) -> TreeBuilder | None:
        """Returns what builds an element that is wanted."""
        if tag in self._wanted:
            self._builder, self._nodes, self._collected_from = TreeBuilder(), 0, self._depth
            self._listen()
        elif tag in self._announced:
            self._done.append(Element(tag, self._attributes(attributes)))
        return self._builder

    def _end(self, name: str) -> None:
        depth = self._depth
        self._depth = depth - 1
        if self._unknown and self._unknown[-1][0] == depth:
            self._unknown.pop()
            self._listen()
        elif self._builder is not None:
            self._builder.end(name)  # it closes the element that is open
            if depth == self._collected_from:
                self._done.append(self._builder.close())
                self._builder = None
                self._listen()
        if depth == self._closed_at:
            self._closed_at, self._known = 0, self._read

    def _unknown_text(self, data: str) -> None:
        """Counts the text of an unknown element; that of others in it is theirs."""
        depth, what = self._unknown[-1]
        if depth != self._depth:
            if self._builder is not None:
                self._builder.data(data)
        elif data.strip():
            self._count(what)
            self._unknown[-1] = depth, ""

    def _enter(self, name: str, attributes: dict[str, str]) -> str | None:
        """Returns the tag of an element that begins, None if it is not built."""
        if self._losses is None or self._closed_at:
            return self._names.tag(name)
        kind = self._names.kind(name)
        if kind.place:
            self._begin_place(kind.place, attributes)
        is_hidden = bool(kind.hidden) and self._is_hidden(kind, attributes)
        if kind.treatment is Treatment.READ and not is_hidden:
            return kind.tag
        if kind.treatment is Treatment.UNKNOWN:
            has_reference = any(map(_is_reference, attributes))
            if has_reference:
                self._count(kind.what)
            self._unknown.append((self._depth, "" if has_reference else kind.what))
            self._listen()
            return None
        self._closed_at = self._depth
        if kind.treatment is Treatment.PROPERTY:
            self._known = self._names.tags
            return kind.tag
        if is_hidden or kind.treatment is Treatment.LOST:
            self._count(HIDDEN_TEXTS if is_hidden else kind.what)
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start_unseen, self._end_unseen
        self.parser.CharacterDataHandler = None
        return None

    def _is_hidden(self, kind: ElementKind, attributes: dict[str, str]) -> bool:
        return any(f"{self._names.tag(name)}={value}" in kind.hidden for name, value in attributes.items())

    def _start_unseen(self, *_: object) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise XmlError(f"its XML is nested more than {_MAX_DEPTH} deep")

    def _end_unseen(self, _: str) -> None:
        if self._depth == self._closed_at:
            self._closed_at = 0
            self._listen()
        self._depth -= 1

    def _count(self, what: str) -> None:
        if what and self._losses is not None:
            self.tally.add(what, self._place or self._losses.place)

    def _begin_place(self, place: str, attributes: dict[str, str]) -> None:
        word, _, attribute = place.partition(" ")
        self._numbers[word] = number = self._numbers.get(word, 0) + 1
        given = (value for name, value in attributes.items() if attribute and name.rpartition("}")[2] == attribute)
        self._place = f"{word} {next(given, number)}"

    def _attributes(self, given: dict[str, str]) -> dict[str, str]:
        """Returns attributes without addresses; of those that are called alike, the first one."""
        if "}" not in "".join(given):
            return given
        tags = self._names.tags
        try:
            return {tags[name]: value for name, value in reversed(given.items())}
        except KeyError:
            return {self._names.tag(name): value for name, value in reversed(given.items())}


def _is_reference(attribute: str) -> bool:
    """Returns whether an attribute names another part of the package, such as a picture."""
    return "/relationships}" in attribute or attribute.endswith("xlink}href")
