"""Lists of the elements of formats, as others wrote them, and what a vocabulary says of each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from abstractcore.ports import Conversion
from abstractcore_media.document.vocabularies import FormatVocabulary, Treatment

LISTS = Path(__file__).parent / "vocabularies"
TEXT = "#text"
CANARY = "Canary4711"


@dataclass(frozen=True)
class ElementList:
    """The elements of a format, each with those that it may contain and `TEXT` where it may hold text."""

    children: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, name: str) -> ElementList:
        """The list of a file: a line for each element, with what it may contain after it."""
        lines = (LISTS / name).read_text(encoding="utf-8").splitlines()
        rows = [line.split() for line in lines if line and not line.startswith("# ")]
        return cls({kind: frozenset(inside) for kind, *inside in rows})

    def path_to(self, kind: str, root: str, vocabulary: FormatVocabulary) -> list[str]:
        """The shortest way from `root` to an element through elements that are read, [] if there is none."""
        ways = deque([[root]])
        seen = {root}
        while ways:
            way = ways.popleft()
            if way[-1] == kind:
                return way
            if vocabulary.treatment(way[-1])[0] is Treatment.READ:
                for each in sorted(self.children.get(way[-1], frozenset()) - seen - {TEXT, "office:document"}):
                    seen.add(each)
                    ways.append([*way, each])
        return []


def undeclared(vocabulary: FormatVocabulary, kinds: Iterable[str]) -> list[str]:
    """The kinds that a vocabulary does not declare."""
    return [kind for kind in kinds if vocabulary.treatment(kind)[0] is Treatment.UNKNOWN]


def declared_twice(vocabulary: FormatVocabulary) -> list[str]:
    """The kinds that a vocabulary declares in more than one way."""
    groups = [vocabulary.read, vocabulary.converted, vocabulary.lost, vocabulary.left_out]
    kinds = [kind for group in groups for names in group.values() for kind in names.split()]
    kinds += vocabulary.properties.split()
    return sorted({kind for kind in kinds if kinds.count(kind) > 1})


def is_accounted(conversion: Conversion, kind: str, vocabulary: FormatVocabulary) -> bool:
    """Whether `CANARY` in an element of this kind is in the text or counted, as the vocabulary says."""
    treatment, what = vocabulary.treatment(kind)
    is_counted = any(loss.count for loss in conversion.lost)
    match treatment:
        case Treatment.READ | Treatment.UNKNOWN:
            return CANARY in conversion.text or is_counted
        case Treatment.LOST:
            return CANARY not in conversion.text and any(loss.what == what for loss in conversion.lost)
        case _:
            return CANARY not in conversion.text and not is_counted
