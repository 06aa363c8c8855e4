"""What a reader does with each kind of element of its format, and the count of what it does not carry over.

A kind is the name of an element, with the prefix that the vocabulary gives to its namespace ("text:p"), a tag, a type
of an annotation or a media type. Each kind is declared in one of four ways; any other is unknown, and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from .blocks import LostContent, clean

_MAX_KINDS, _MAX_PLACES, _MAX_NAME = 50, 20, 60
"""What is counted apart in one file, and in one kind of loss: hostile files have a new name for each element."""
_OTHERS = "elements of other kinds"
HIDDEN_TEXTS = "hidden texts"
_MAX_NAMES = 10_000
"""The names that are remembered: a hostile file may have a new one for each element."""
CUT_OFF = "text after the end of a cut file"

Kinds = Mapping[str, str]
"""Names of kinds, separated by spaces, by what they are called in the documentation and, if lost, in `lost`."""


class Treatment(Enum):
    """What becomes of an element."""

    READ = "read"
    """Its content is in the text, as it is or converted."""
    PROPERTY = "property"
    """It describes others, such as their style: readers may look at it, and nothing inside of it is counted."""
    LEFT_OUT = "left out"
    """It repeats what stands elsewhere, or is no content of the file: readers do not see it."""
    LOST = "lost"
    """Its content is counted instead of read: readers do not see it."""
    UNKNOWN = "unknown"
    """The vocabulary lacks it: known elements inside are read as if they stood in its place, its text is counted."""


@dataclass(frozen=True)
class FormatVocabulary:
    """The kinds of elements of a format. `source` names the list of them that others wrote, as a test has it.

    The names of kinds are separated by spaces; "style:*" and "image/*" stand for others that begin so. `namespaces` has
    the prefix for each address. `places` are kinds that begin a place: "sheet name" is the word for it, and the
    attribute that has its name, without which it is numbered. `hidden` are elements that are lost where they have one
    of these attributes, such as "display=none". Members of packages are declared by patterns of paths.
    """

    source: str
    read: Kinds
    converted: Kinds = field(default_factory=dict[str, str])
    lost: Kinds = field(default_factory=dict[str, str])
    left_out: Kinds = field(default_factory=dict[str, str])
    properties: str = ""
    namespaces: Mapping[str, str] = field(default_factory=dict[str, str])
    places: Mapping[str, str] = field(default_factory=dict[str, str])
    hidden: Mapping[str, str] = field(default_factory=dict[str, str])
    lost_members: Kinds = field(default_factory=dict[str, str])
    left_out_members: Kinds = field(default_factory=dict[str, str])

    def treatment(self, kind: str) -> tuple[Treatment, str]:
        """Returns the treatment of a kind, and its name in `lost` and the documentation."""
        found = self._treatments.get(kind)
        if found is None:
            found = self._treatments.get(f"{kind[: 1 + max(kind.find(':'), kind.find('/'))]}*")
        return found or (Treatment.UNKNOWN, f"{clean(kind.rpartition(':')[2])[:_MAX_NAME]} elements")

    def kind(self, name: str) -> str:
        """Returns the kind of an element by the name that a parser gives it, "address}local"."""
        address, _, local = name.rpartition("}")
        prefix = self.namespaces.get(address, "?") if address else ""
        return f"{prefix}:{local}" if prefix else local

    def member(self, path: str) -> tuple[Treatment, str]:
        """Returns the treatment of a member of the package that the reader has not opened, and its name in `lost`."""
        for treatment, kinds in ((Treatment.LEFT_OUT, self.left_out_members), (Treatment.LOST, self.lost_members)):
            for what, patterns in kinds.items():
                if any(fnmatchcase(path, each) for each in patterns.split()):
                    return treatment, what
        return Treatment.UNKNOWN, "parts of the file that are not read"

    @cached_property
    def _treatments(self) -> dict[str, tuple[Treatment, str]]:
        declared = [
            *((Treatment.READ, self.read), (Treatment.READ, self.converted), (Treatment.LOST, self.lost)),
            *((Treatment.LEFT_OUT, self.left_out), (Treatment.PROPERTY, {"properties": self.properties})),
        ]
        return {kind: (treatment, what) for treatment, kinds in declared for what, kind in _each_kind(kinds)}


def _each_kind(kinds: Kinds) -> Iterator[tuple[str, str]]:
    for what, names in kinds.items():
        for name in names.split():
            yield what, name


class ElementKind(NamedTuple):
    """What becomes of the elements of one name."""

    tag: str
    treatment: Treatment
    what: str
    place: str
    hidden: frozenset[str]
    """Attributes that hide such an element, as "display=none"."""


class ElementNames:
    """The names of elements and attributes as a parser gives them, "address}local", in all XML of one file."""

    def __init__(self, vocabulary: FormatVocabulary) -> None:
        self.tags: dict[str, str] = {}
        """The names without addresses, as far as they are remembered."""
        self.read: dict[str, str] = {}
        """Those of elements that are always read, and that begin no place."""
        self._vocabulary = vocabulary
        self._kinds: dict[str, ElementKind] = {}

    def tag(self, name: str) -> str:
        """Returns a name without its address; attributes that name a relationship of a package keep a prefix."""
        found = self.tags.get(name)
        if found is None:
            namespace, _, found = name.rpartition("}")
            if "/officeDocument/" in namespace and namespace.endswith("/relationships"):
                found = f"r:{found}"
            if len(self.tags) < _MAX_NAMES:
                self.tags[name] = found
        return found

    def kind(self, name: str) -> ElementKind:
        """Returns what becomes of the elements of a name."""
        found = self._kinds.get(name)
        if found is None:
            kind = self._vocabulary.kind(name)
            treatment, what = self._vocabulary.treatment(kind)
            place, hidden = self._vocabulary.places.get(kind, ""), self._vocabulary.hidden.get(kind, "")
            found = ElementKind(self.tag(name), treatment, what, place, frozenset(hidden.split()))
            if len(self._kinds) < _MAX_NAMES:
                self._kinds[name] = found
                if treatment is Treatment.READ and not (place or hidden):
                    self.read[name] = found.tag
        return found


class LossTally:
    """The losses in one reading of one part of a file, at most so many kinds and places."""

    def __init__(self) -> None:
        self.counts: dict[str, dict[str, float]] = {}

    def add(self, what: str, place: str, count: float = 1) -> None:
        """Counts a loss."""
        if what not in self.counts and len(self.counts) >= _MAX_KINDS:
            what = _OTHERS
        places = self.counts.setdefault(what, {})
        if place not in places and len(places) >= _MAX_PLACES:
            place = ""
        places[place] = places.get(place, 0) + count


class LossCounter:
    """Counts what a reader does not carry over of one file, by what it is called and where it stood."""

    def __init__(self, vocabulary: FormatVocabulary) -> None:
        self.vocabulary = vocabulary
        self.place = ""
        """Where the reader is, such as "slide 2"; parsers with places of their own do without."""
        self.names = ElementNames(vocabulary)
        self._own = LossTally()
        self._parts: dict[str, tuple[int, LossTally]] = {}
        self._members: Sequence[str] = ()
        self._opened: set[str] = set()

    def count(self, what: str, place: str = "", count: float = 1) -> None:
        """Counts a loss at a place, or else where the reader is."""
        self._own.add(what, place or self.place, count)

    def cut(self) -> None:
        """Counts, once, what stood behind the last byte of a file that is cut."""
        if CUT_OFF not in self._own.counts:
            self.count(CUT_OFF)

    def meet(self, kind: str, place: str = "") -> Treatment:
        """Returns the treatment of an element, and counts it if it is lost. The caller counts unknown ones."""
        treatment, what = self.vocabulary.treatment(kind)
        if treatment is Treatment.LOST:
            self.count(what, place)
        return treatment

    def settle(self, part: str, size: int, tally: LossTally) -> None:
        """Takes the tally of a reading of a part, unless another reading of it got further than to `size` bytes."""
        before = self._parts.get(part)
        if before is None or size > before[0]:
            self._parts[part] = size, tally

    def has_members(self, paths: Iterable[str]) -> None:
        """Notes the members of a package: those that are not opened later are counted, unless they are declared."""
        self._members = tuple(paths)

    def opens(self, path: str) -> None:
        """Notes that a member of the package is read."""
        self._opened.add(path)

    def blocks(self) -> Iterator[LostContent]:
        """Yields all losses, after the file was read."""
        total = LossTally()
        for tally in (self._own, *(tally for _, tally in self._parts.values()), self._unopened()):
            for what, places in tally.counts.items():
                for place, count in places.items():
                    total.add(what, place, count)
        for what, places in total.counts.items():
            for place, count in places.items():
                yield LostContent(what, count, None, place)

    def _unopened(self) -> LossTally:
        tally = LossTally()
        for path in self._members:
            if path not in self._opened and not path.endswith("/"):
                treatment, what = self.vocabulary.member(path)
                if treatment is not Treatment.LEFT_OUT:
                    tally.add(what, path)
        return tally
