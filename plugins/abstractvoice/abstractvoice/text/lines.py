"""The beginning of a line of Markdown: what kind of block it starts. Undecided while it could become another kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

LineKind: TypeAlias = Literal[
    "blank", "fence", "heading", "rule", "item", "quote", "table", "definition", "math", "text"
]

_RULES = re.compile(r"(?:([-*_])(?:[ \t]*\1)*|=+)[ \t]*")
_RULE = re.compile(r"(?:([-*_])(?:[ \t]*\1){2,}|--|={2,})[ \t]*")
_NUMBER = re.compile(r"(\d{1,9})[.)](?=[ \t]|$)")
_MAYBE_NUMBER = re.compile(r"\d{1,9}[.)]?")
_DEFINITION = re.compile(r"\[[^\]\n]{1,200}\]:[ \t]*\S")
_MAYBE_DEFINITION = re.compile(r"\[[^\]\n]{0,200}(?:\](?::.*)?)?")
_BULLETS = "-*+\u2022"


@dataclass(frozen=True, slots=True)
class LineStart:
    """The kind of a line, where its content begins, and the number of an item."""

    kind: LineKind
    content: int
    number: str = ""


def line_start(text: str, at: int, final: bool) -> LineStart | None:
    """Returns how the line at `at` begins; None if that depends on text that is yet to come.

    For what is decided by a whole line (fences, rules, tables, definitions), the line is complete.
    """
    newline = text.find("\n", at)
    end = len(text) if newline < 0 else newline
    whole = final or newline >= 0
    first = at
    while first < end and text[first] in " \t\r":
        first += 1
    if first == end:
        return LineStart("blank", end if newline < 0 else end + 1) if whole else None
    line = text[first:end]
    match line[0]:
        case "`" | "~":
            return _fence(line, first, whole)
        case "#":
            return _heading(line, first, whole)
        case "-" | "*" | "_" | "=" | "+" | "\u2022":
            return _rule_or_item(line, first, whole)
        case ">":
            return LineStart("quote", first + 1)
        case "|":
            return LineStart("table", first) if whole else None
        case "[":
            return _definition(line, first, whole)
        case "$" | "\\":
            return _math(line, first, whole)
        case mark if mark.isdecimal() and mark.isascii():
            return _numbered(line, first, whole)
        case _:
            return LineStart("text", first)


def _fence(line: str, first: int, whole: bool) -> LineStart | None:
    mark = line[0] * 3
    if line.startswith(mark):
        return LineStart("fence", first) if whole else None
    return None if not whole and mark.startswith(line) else LineStart("text", first)


def _heading(line: str, first: int, whole: bool) -> LineStart | None:
    marks = len(line) - len(line.lstrip("#"))
    if marks > 6:
        return LineStart("text", first)
    if marks == len(line) and not whole:
        return None
    is_heading = marks == len(line) or line[marks] in " \t"
    return LineStart("heading", first + marks) if is_heading else LineStart("text", first)


def _rule_or_item(line: str, first: int, whole: bool) -> LineStart | None:
    if _RULES.fullmatch(line) or len(line) == 1:
        if not whole:
            return None
        if _RULE.fullmatch(line):
            return LineStart("rule", first + len(line))
    if line[0] in _BULLETS and (len(line) == 1 or line[1] in " \t"):
        return LineStart("item", first + 1)
    return LineStart("text", first)


def _definition(line: str, first: int, whole: bool) -> LineStart | None:
    if not whole and _MAYBE_DEFINITION.fullmatch(line):
        return None
    return LineStart("definition" if _DEFINITION.match(line) else "text", first)


def _math(line: str, first: int, whole: bool) -> LineStart | None:
    if len(line) == 1 and not whole:
        return None
    return LineStart("math" if line[:2] in ("$$", "\\[") else "text", first)


def _numbered(line: str, first: int, whole: bool) -> LineStart | None:
    if not whole and _MAYBE_NUMBER.fullmatch(line):
        return None
    number = _NUMBER.match(line)
    return LineStart("item", first + number.end(), number[1]) if number else LineStart("text", first)
