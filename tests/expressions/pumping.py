"""Texts that make a regular expression work: made of its parsed form, they repeat what it repeats and do not match."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_GENERAL = (
    *(" \t\n0a_A-.,:;=/\\'\"`*#|&%@~+(<[{>)]}\u00e9\u2019"),
    *("a ", "a\n", "1,", "a.", "0 ", " \n", '\\"', "a-", "a=", "()", "[]", "<>"),
)
_ENDS = ("", "\0", "\n\0", " \0", "a\0")
_CATEGORIES = {
    codes.CATEGORY_DIGIT: "0",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_WORD: "-",
}
_CANDIDATES = [*map(chr, range(32, 127)), "\n", "\t", "\u00e9", "\u00a0", "\u2019", "\U0001f600"]
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_LONG = 8
"""Repeats of up to so many are not pumped."""
_MOST_TEXTS = 3


@dataclass(frozen=True, slots=True)
class Pump:
    """A text of any length: what comes first, what is repeated, and what comes last."""

    start: str
    unit: str
    end: str

    def text(self, size: int) -> str:
        """Returns a text of about `size` characters."""
        return self.start + self.unit * max(1, (size - len(self.start)) // len(self.unit)) + self.end


def pumps(pattern: re.Pattern[Any]) -> list[Pump]:
    """Returns the pumps of a pattern."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    parsed = list(parser.parse(source, flags))
    whole = _texts(parsed, pattern.flags)
    found: dict[Pump, None] = {}
    repeated = [(start, unit) for start, unit in _repeated([""], parsed, pattern.flags) if unit]
    starts, units = (dict.fromkeys(each[index] for each in repeated) for index in (0, 1))
    for start, unit in repeated:
        found.update((Pump(start, unit, end), None) for end in _ENDS)
        found.update((Pump("", start + unit, end), None) for end in _ENDS[:2])
    for start, unit in itertools.product(itertools.islice(starts, 12), itertools.islice(units, 12)):
        found[Pump(start, unit, "\0")] = None
    for text in whole:
        for size in range(1, min(len(text), 40) + 1):
            found[Pump("", text[:size], "\0")] = None
            found[Pump("", text[:size], "")] = None
    for start, unit in itertools.product(("", *itertools.islice(starts, 4)), _GENERAL):
        found.update((Pump(start, unit, end), None) for end in ("", "\0"))
    return list(found)


def _texts(items: Sequence[Any], flags: int) -> list[str]:
    """Returns a few texts that a sequence matches, lookarounds and references left out."""
    texts = [""]
    for item in items:
        more = _item_texts(item, flags)
        texts = [left + right for left, right in itertools.product(texts, more)][: 2 * _MOST_TEXTS]
    return texts


def _item_texts(item: Any, flags: int) -> list[str]:
    code, value = item
    if code in _REPEATS:
        low, _, body = value
        return [text * max(1, low) for text in _texts(body, flags)[:_MOST_TEXTS]]
    if code is codes.SUBPATTERN:
        return _texts(value[3], flags)
    if code is codes.ATOMIC_GROUP:
        return _texts(value, flags)
    if code is codes.BRANCH:
        return list(dict.fromkeys(text for each in value[1] for text in _texts(each, flags)[:2]))[: 4 * _MOST_TEXTS]
    if code in (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN):
        return _characters(item, flags)
    if code is codes.GROUPREF_EXISTS:
        return _texts(value[1], flags)
    return [""]


def _characters(item: Any, flags: int) -> list[str]:
    """Returns characters that a single-character item matches, of different kinds."""
    code, value = item
    if code is codes.LITERAL:
        return [chr(value)]
    if code is codes.ANY:
        return ["a", " "]
    if code is codes.NOT_LITERAL:
        return [each for each in ("a", " ", "0") if ord(each) != value] or ["b"]
    negated = value[0][0] is codes.NEGATE
    inside: list[str] = []
    for kind, inner in value:
        if kind is codes.LITERAL:
            inside.append(chr(inner))
        elif kind is codes.RANGE:
            inside.append(chr(inner[0]))
        elif kind is codes.CATEGORY:
            inside.append(_CATEGORIES[inner])
    if not negated:
        return list(dict.fromkeys(inside))[: 2 * _MOST_TEXTS]
    is_in = _matcher(value, flags)
    return [each for each in ("a", " ", "0", "-", "\n", '"', "(", "<", *_CANDIDATES) if is_in(each)][: 2 * _MOST_TEXTS]


def _matcher(value: Any, flags: int) -> Callable[[str], bool]:
    literals = {chr(inner) for kind, inner in value if kind is codes.LITERAL}
    ranges = [inner for kind, inner in value if kind is codes.RANGE]
    categories = {inner for kind, inner in value if kind is codes.CATEGORY}

    def is_in(character: str) -> bool:
        number = ord(character)
        kinds = {
            codes.CATEGORY_DIGIT: character.isdecimal(),
            codes.CATEGORY_SPACE: character.isspace(),
            codes.CATEGORY_WORD: character.isalnum() or character == "_",
            codes.CATEGORY_NOT_DIGIT: not character.isdecimal(),
            codes.CATEGORY_NOT_SPACE: not character.isspace(),
            codes.CATEGORY_NOT_WORD: not (character.isalnum() or character == "_"),
        }
        return not (
            character in literals
            or any(low <= number <= high for low, high in ranges)
            or any(kinds[each] for each in categories)
        )

    return is_in


def _repeated(starts: list[str], items: Iterable[Any], flags: int) -> Iterator[tuple[str, str]]:
    """Yields, for each long repeat in a sequence, texts that lead to it with texts that it repeats."""
    starts = starts[:_MOST_TEXTS]
    for item in items:
        code, value = item
        bodies: list[Any] = []
        if code in _REPEATS:
            _, high, body = value
            if high > _LONG:
                yield from itertools.product(starts, _texts(body, flags))
            bodies = [body]
        elif code is codes.SUBPATTERN:
            bodies = [value[3]]
        elif code is codes.ATOMIC_GROUP:
            bodies = [value]
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            bodies = [value[1]]
        elif code is codes.BRANCH:
            bodies = list(value[1])
        elif code is codes.GROUPREF_EXISTS:
            bodies = [each for each in value[1:] if each]
        for body in bodies:
            yield from _repeated(starts, body, flags)
        after = _item_texts(item, flags)[:_MOST_TEXTS]
        if code in _REPEATS and value[0] == 0:
            after = ["", *after[:1]]
        starts = [start + text for start, text in itertools.product(starts, after)][: 2 * _MOST_TEXTS]
