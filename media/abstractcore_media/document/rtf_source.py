"""Rewrites the source of an RTF file, so that a reader that knows no marks keeps them: as characters around the words.

Hidden words are taken out and counted. Headers and footers move to the end, and comments into the text (RTF 1.9.1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from .marks import Marks
from .vocabularies import LossCounter

_FIRST = 0xFDD0
"""The first of the characters, which are none of any text, that stand around marked words and before headers."""
MARKED = {chr(_FIRST + 1 + code): Marks(("", "sup", "sub")[code % 3], code >= 3) for code in range(1, 6)}
END = chr(_FIRST)
EDGES = {chr(_FIRST + 8): "header", chr(_FIRST + 9): "footer"}
DELETION = chr(_FIRST + 10)
"""Stands before the words of a tracked deletion."""
HEADINGS = {chr(_FIRST + 16 + level): level + 1 for level in range(9)}
"""Stand before the words of headings."""
_OF_LEVEL = {level: character for character, level in HEADINGS.items()}
_CODES = {marks: character for character, marks in MARKED.items()}
_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?[0-9]{1,10})? ?|[{}]|(?:[^\\{}]|\\'[0-9a-fA-F]{2})+|\\[^a-z]|\\")
_BYTE = re.compile(rb"\\'([0-9a-fA-F]{2})")
_FALLBACK = re.compile(rb"\\'[0-9a-fA-F]{2}|[^\\{}\r\n]")
_WORDS = (
    rb"(?:super|sub|up|dn|striked?|deleted|v|header[lrf]?|footer[lrf]?|annotation|atnauthor|mac|outlinelevel"
    rb"|xe|tc|nonesttables)(?![a-z])"
)
_HEADING_STYLE = re.compile(rb"\{\\s([0-9]{1,5})[^0-9{}][^{}]{0,2000}?[ \r\n][Hh]eading ([1-9]);?\}")
_IS_NEEDED = re.compile(rb"\\" + _WORDS + rb"|[Hh]eading [1-9];?\}")
_HARMLESS = rb"[^\\{}]++|\\(?:[cegi-lp-rwyz][a-z]*+|'|(?!(?:bin|uc|s)(?![a-z])|" + _WORDS + rb")[a-z]++|[^a-z'*])"
_STRETCH = re.compile(rb"(?:" + _HARMLESS + rb"|\{(?:\\\*)?(?:" + _HARMLESS + rb")*+\})++")
"""What says nothing of marks, whole groups too."""
_HAS_TEXT = re.compile(rb"\\par(?![a-z])|(?:^|\s)[^\\{}\s]")
_ESCAPED = frozenset((rb"\{", rb"\}", rb"\\", rb"\~", rb"\_"))
_EDGES_OF = {
    f"{name}{suffix}".encode(): character for character, name in EDGES.items() for suffix in ("", "l", "r", "f")
}
_NOT_TEXT = frozenset((b"colortbl", b"fldinst", b"fonttbl", b"info", b"listtext", b"pict", b"pntext", b"stylesheet"))
_NOT_SHOWN = frozenset((b"xe", b"tc", b"nonesttables"))
"""Entries of indexes and tables of contents, and what stands for nested tables in older programs."""
_PROPERTIES_OF_PARAGRAPHS = frozenset((b"intbl", b"pard"))
_BREAKS = frozenset((b"par", b"pard", b"sect", b"page", b"line", b"row", b"cell", b"intbl"))


@dataclass(frozen=True, slots=True)
class _Group:
    """How the words of a group are set."""

    rise: str = ""
    is_struck: bool = False
    is_deleted: bool = False
    is_hidden: bool = False
    fallback: int = 1
    """The characters that follow one in Unicode, for older programs."""
    is_text: bool = True
    edge: str = ""
    """The character that stands before the header or footer that it is in."""
    is_comment: bool = False
    is_author: bool = False

    is_special: bool = field(init=False, default=False)
    """Whether its words are not written as they stand."""

    def __post_init__(self) -> None:
        is_special = bool(
            self.rise or self.is_struck or self.is_deleted or self.is_hidden or self.is_author or self.is_comment
        )
        object.__setattr__(self, "is_special", is_special)

    @property
    def marks(self) -> Marks:
        """The marks of its words."""
        return Marks(self.rise, self.is_struck or self.is_deleted)


_SETTERS: Mapping[bytes, Callable[[_Group, int | None], _Group]] = {
    b"super": lambda group, value: replace(group, rise="" if value == 0 else "sup"),
    b"sub": lambda group, value: replace(group, rise="" if value == 0 else "sub"),
    b"nosupersub": lambda group, value: replace(group, rise=""),
    b"up": lambda group, value: replace(group, rise="" if value == 0 else "sup"),
    b"dn": lambda group, value: replace(group, rise="" if value == 0 else "sub"),
    b"strike": lambda group, value: replace(group, is_struck=value != 0),
    b"striked": lambda group, value: replace(group, is_struck=value != 0),
    b"deleted": lambda group, value: replace(group, is_deleted=value != 0),
    b"v": lambda group, value: replace(group, is_hidden=value != 0),
    b"uc": lambda group, value: replace(group, fallback=min(max(value or 0, 0), 20)),
    b"plain": lambda group, value: replace(group, rise="", is_struck=False, is_deleted=False, is_hidden=False),
}


def with_marks(data: bytes, losses: LossCounter) -> bytes:
    """Returns the source with the characters of this module around its marked words."""
    return _SourceWriter(data, losses).written() if _IS_NEEDED.search(data) else data


class _SourceWriter:
    def __init__(self, data: bytes, losses: LossCounter) -> None:
        self._data = data
        self._losses = losses
        self._out: list[bytes] = []
        self._edges: list[bytes] = []
        self._group = _Group()
        self._around: list[_Group] = []
        self._begins: list[bytes] = []
        """What a group begins with, until it is known what it is."""
        self._author = b""
        self._heading_styles = {int(style): int(level) for style, level in _HEADING_STYLE.findall(data)}
        self._is_mac = False
        self._was_hidden = self._was_deleted = False

    def written(self) -> bytes:
        data, at, end = self._data, 0, len(self._data)
        while at < end:
            stretch = None if self._begins or self._is_mac or self._group.is_special else _STRETCH.match(data, at)
            if stretch is not None:
                at = stretch.end()
                self._put(stretch[0])
                if (self._was_hidden or self._was_deleted) and _HAS_TEXT.search(stretch[0]):
                    self._was_hidden = self._was_deleted = False
                continue
            found = _TOKEN.match(data, at)
            assert found is not None  # the last alternatives match any byte
            at = found.end()
            token = found[0]
            if found[1] is not None:
                if found[1] == b"bin":
                    at += max(0, int(found[2] or 0))
                    self._put(data[found.start() : at])
                elif found[1] == b"u":
                    self._settle()
                    at = self._end_of_fallback(at)
                    self._text(data[found.start() : at])
                else:
                    self._word(found[1], None if found[2] is None else int(found[2]), token)
            elif token == b"{":
                self._settle()
                self._around.append(self._group)
                self._begins.append(token)
            elif token == b"\\*" and self._begins:
                self._begins.append(token)
            elif token == b"}":
                self._leave()
            elif token[0] == 0x5C and token[:2] != b"\\'":
                self._settle()
                self._text(token) if token in _ESCAPED else self._put(token)
            else:
                self._settle()
                self._text(token)
        return b"".join(self._out)

    def _put(self, token: bytes) -> None:
        (self._out if not self._group.edge else self._edges).append(token)

    def _settle(self) -> None:
        """Writes the begin of a group that is nothing special."""
        if self._begins:
            if len(self._begins) > 1:  # a destination that older programs skip
                self._group = replace(self._group, is_text=False)
            begins, self._begins = self._begins, []
            self._put(b"".join(begins))

    def _word(self, word: bytes, number: int | None, token: bytes) -> None:
        if self._begins:
            if self._begin(word, token):
                return
            self._settle()
        setter = _SETTERS.get(word)
        if setter is not None:
            self._group = setter(self._group, number)
        elif word in (b"outlinelevel", b"s") and self._group.is_text and number is not None:
            level = number + 1 if word == b"outlinelevel" else self._heading_styles.get(number, 0)
            token += self._special(_OF_LEVEL[level]) if level in _OF_LEVEL else b""
        elif word == b"mac":
            self._is_mac = True
        elif word in _BREAKS:
            self._was_hidden = self._was_deleted = False
            if self._group.is_comment:
                token = b"" if word in _PROPERTIES_OF_PARAGRAPHS else b" "
        self._put(token)

    def _end_of_fallback(self, at: int) -> int:
        """Returns where the characters end that stand for one in Unicode in older programs."""
        for _ in range(self._group.fallback):
            found = _FALLBACK.match(self._data, at)
            if found is None:
                break
            at = found.end()
        return at

    def _of_mac(self, found: re.Match[bytes]) -> bytes:
        return self._special(bytes([int(found[1], 16)]).decode("mac_roman"))

    def _special(self, character: str) -> bytes:
        code = ord(character)
        return b"\\u%d" % (code - 0x10000 if code > 0x7FFF else code) + (b"?" * self._group.fallback or b" ")

    def _begin(self, word: bytes, token: bytes) -> bool:
        """Takes the word that says what a group is; returns whether it is not written as it stands."""
        if word == b"atnauthor":
            self._begins.clear()
            self._put(b"{\\*\\atnauthor ")
            self._group = replace(self._group, is_text=False, is_author=True)
            self._author = b""
        elif word == b"annotation":
            self._begins.clear()
            by = b" by " + self._author if self._author else b""
            self._put(b"{ [comment" + by + b": ")
            self._group = _Group(fallback=self._group.fallback, edge=self._group.edge, is_comment=True)
        elif word in _NOT_SHOWN:
            self._begins.clear()
            self._put(b"{\\*\\notshown ")
            self._group = replace(self._group, is_text=False)
        elif edge := _EDGES_OF.get(word):
            self._begins.clear()
            self._put(b"{")
            self._group = _Group(edge=edge)
            self._put(b"{\\pard\\plain\\uc1 " + self._special(edge) + b"\\par\\pard\\plain ")
        else:
            if word in _NOT_TEXT:
                self._group = replace(self._group, is_text=False)
            return False
        return True

    def _leave(self) -> None:
        self._settle()
        group = self._group
        if len(self._around) == 1:
            self._out += [b"\\par\\pard\\plain ", *self._edges] if self._edges else []
            self._edges.clear()
        before = self._around.pop() if self._around else _Group()
        if group.is_comment and not before.is_comment:
            self._put(b"] ")
        if group.edge and not before.edge:
            self._put(b"\\par}")
        self._group = before
        self._put(b"}")

    def _text(self, token: bytes) -> None:
        group = self._group
        if self._is_mac:
            token = _BYTE.sub(self._of_mac, token)
        if group.is_author:
            self._author += token
        if not group.is_text:
            self._put(token)
            return
        if group.is_hidden:
            if not self._was_hidden and token.strip():
                self._losses.count("hidden texts")
                self._was_hidden = True
            return
        self._was_hidden = False
        marks = group.marks
        if marks not in _CODES or not token.strip():
            self._was_deleted = self._was_deleted and not token.strip()
            self._put(token)
            return
        if group.is_deleted and not self._was_deleted:
            self._put(self._special(DELETION))
        self._was_deleted = group.is_deleted
        self._put(self._special(_CODES[marks]) + token + self._special(END))
