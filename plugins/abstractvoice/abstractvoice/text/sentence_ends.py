"""Where a sentence ends, in a text that may still grow."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .lines import line_start
from .tables import word_list

LONGEST = 320
"""Characters of a sentence: a longer one is cut at a mark or a space."""
_LONGEST_SPAN = 500
"""Characters of code, a link or a tag in a line."""
_STOPS = ".!?\u2026"
_FULL_STOPS = "\u3002\uff01\uff1f"
"""Those of Chinese and Japanese, which no space follows."""
_CLOSING = re.compile(r"(?:[\"'\u201d\u2019\u00bb)\]}*_~]|\[\^?\w{1,20}\])*")
_REFERENCE = re.compile(r"\[\^?\w{0,20}")
_WORD_BEFORE = re.compile(r"(?<![^\s(\[\"'\u201c\u2018*_])[^\s(\[\"'\u201c\u2018*_]*$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_ABBREVIATIONS = frozenset(word_list("abbreviations"))
_BEFORE_NUMBERS = frozenset(word_list("before_numbers"))


@dataclass(frozen=True, slots=True)
class SentenceEnd:
    """The end of a sentence, where the next one begins, and whether the paragraph ends."""

    content: int
    next: int
    last: bool


def sentence_end(text: str, at: int, final: bool, one_line: bool) -> SentenceEnd | None:
    """Returns the end of the sentence that begins at `at`; None if that depends on text that is yet to come."""
    place, mark, space = at, 0, 0
    while place < len(text):
        if place - at >= LONGEST:
            cut = mark or space or place
            return SentenceEnd(cut, cut, False)
        character = text[place]
        if character == "\n":
            line = None if one_line else line_start(text, place + 1, final)
            if one_line or (line is not None and line.kind != "text"):
                return SentenceEnd(place, place + 1, True)
            if line is None:
                return None
            space = place = line.content
        elif character in _STOPS or character in _FULL_STOPS:
            found = _stop(text, at, place, final, one_line)
            if found is None or isinstance(found, SentenceEnd):
                return found
            place = found
        else:
            over = _span_end(text, place, final)
            if over is None:
                return None
            if character in ",;:" and text[place + 1 : place + 2].isspace():
                mark = place + 1 if place - at > LONGEST // 3 else 0
            elif character in " \t":
                space = place + 1
            place = over
    return SentenceEnd(len(text), len(text), True) if final else None


def _stop(text: str, at: int, place: int, final: bool, one_line: bool) -> SentenceEnd | int | None:
    """Returns the end, or where to read on if the stop at `place` is not the end of a sentence."""
    after = place
    while after < len(text) and text[after] in _STOPS + _FULL_STOPS:
        after += 1
    closing = _CLOSING.match(text, after)
    closed = closing.end() if closing else after
    rest = text[closed : closed + 24]
    if not final and (not rest or (_REFERENCE.fullmatch(rest) and len(rest) < 22)):
        return None
    if not rest:
        return SentenceEnd(closed, closed, True)
    if text[after - 1] in _FULL_STOPS:
        return SentenceEnd(closed, closed, False)
    if not rest[0].isspace():
        return closed
    following = closed
    while following < len(text) and text[following].isspace():
        if text[following] == "\n":
            line = None if one_line else line_start(text, following + 1, final)
            if one_line or (line is not None and line.kind != "text"):
                return SentenceEnd(closed, following + 1, True)
            if line is None:
                return None
            following = line.content
        else:
            following += 1
    if following == len(text):
        return SentenceEnd(closed, following, True) if final else None
    if _ends_sentence(text[at:place], text[place:after], text[following]):
        return SentenceEnd(closed, following, False)
    return following


def _ends_sentence(before: str, stops: str, following: str) -> bool:
    if following.islower() and stops[-1] in ".\u2026":
        return False
    if stops != ".":
        return True
    if before.endswith(tuple("*_`\"')]}\u201d\u2019\u00bb~")):
        return True
    found = _WORD_BEFORE.search(before[-40:])
    word = found[0] if found else ""
    if not word or word.replace(".", "").isdecimal():
        return bool(word)
    if _INITIALS.fullmatch(word) and ((len(word) == 1 and word not in "aI") or "." in word):
        return False
    plain = word.replace(".", "").lower()
    if following.isdecimal() and plain in _BEFORE_NUMBERS:
        return False
    return plain not in _ABBREVIATIONS or (
        plain in ("etc", "inc", "co", "jr", "sr", "ltd", "corp") and following.isupper()
    )


def _span_end(text: str, place: int, final: bool) -> int | None:
    """Returns the end of code, a link or a tag that begins at `place`, else the next place; None if undecided."""
    character = text[place]
    if character == "`":
        ticks = 1
        while text.startswith("`", place + ticks):
            ticks += 1
        if place + ticks == len(text) and not final:
            return None
        closed = _find(text, "`" * ticks, place + ticks, final)
        return closed if closed is None or closed > 0 else place + ticks
    if character == "[":
        closed = _find(text, "]", place + 1, final)
        if closed is None or closed <= 0:
            return closed if closed is None else place + 1
        if closed == len(text) and not final:
            return None
        if text[closed : closed + 1] != "(":
            return closed
        target = _find(text, ")", closed + 1, final)
        return target if target is None or target > 0 else closed
    if character == "<":
        if place + 1 == len(text) and not final:
            return None
        if not re.match(r"<[a-zA-Z/!]", text[place : place + 2]):
            return place + 1
        closed = _find(text, ">", place + 1, final)
        return closed if closed is None or closed > 0 else place + 1
    return place + 1


def _find(text: str, mark: str, start: int, final: bool) -> int | None:
    """Returns the place after `mark` in the rest of the line; -1 if it has none, None if that is undecided."""
    newline = text.find("\n", start, start + _LONGEST_SPAN)
    limit = newline if newline >= 0 else start + _LONGEST_SPAN
    found = text.find(mark, start, limit)
    if found >= 0:
        return found + len(mark)
    return -1 if final or newline >= 0 or len(text) >= limit else None
