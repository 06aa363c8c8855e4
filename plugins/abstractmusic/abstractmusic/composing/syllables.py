"""`syllables_of`: the words of a line, divided for singing."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|\d+", re.UNICODE)
_VOWELS = "aeiouyæøœ"
_KEPT_TOGETHER = "ch sh th ph wh ck ng qu gh bl br cl cr dr fl fr gl gr pl pr sc sk sl sm sn sp st str sw tr tw"


def lines_of(lyrics: str) -> list[str]:
    """Returns the lines that are sung: without empty ones and marks of parts such as `[Chorus]`."""
    lines = (" ".join(line.split()) for line in lyrics.splitlines())
    return [line for line in lines if _WORD.search(line) and not re.fullmatch(r"[\[(].*[\])]:?", line)]


def syllables_of(line: str) -> list[str]:
    """Returns the syllables of a line. One whose word goes on ends with `-`."""
    found: list[str] = []
    for word in line.split():
        parts = divided(word)
        found += [f"{part}-" for part in parts[:-1]] + parts[-1:]
    return found


def divided(word: str) -> list[str]:
    """Returns a word in syllables, by its groups of Latin vowels: an estimate that fits most English words."""
    lower = "".join(unicodedata.normalize("NFD", letter.lower())[:1] for letter in word)
    groups = [match.span() for match in re.finditer(f"[{_VOWELS}]+", lower)]
    if groups and lower[groups[0][0]] == "y" and groups[0][0] == 0 and groups[0][1] == 1:
        groups = groups[1:]
    if len(groups) > 1 and _is_silent(lower, groups[-1]):
        groups = groups[:-1]
    if len(groups) < 2:
        return [word]
    cuts = [_cut(lower, first[1], second[0]) for first, second in pairwise(groups)]
    return [word[start:end] for start, end in zip([0, *cuts], [*cuts, len(word)], strict=True)]


def _is_silent(word: str, group: tuple[int, int]) -> bool:
    """Whether the last group is an `e` that is not spoken: in `time`, `loved`, `stones`."""
    start, end = group
    ending = re.sub(r"(?<!\W)\W++\Z", "", word[start:])
    if word[start:end] != "e" or re.search(r"[^aeiouy]l$", word[:start]):
        return False
    if ending == "e":
        return True
    before = word[start - 1] if start else ""
    return (ending == "ed" and before not in "td") or (
        ending == "es" and before not in "szxgc" and word[start - 2 : start] not in ("ch", "sh")
    )


def _cut(word: str, end: int, start: int) -> int:
    """Returns where a word is divided between two groups of vowels."""
    between = word[end:start]
    if len(between) < 2:
        return end
    for size in (3, 2):
        if between[-size:] in _KEPT_TOGETHER.split() and (len(between) > size or size == 2):
            return start - size
    return end + len(between) // 2
