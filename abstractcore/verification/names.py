"""Names in running text: capitalised words that do not merely begin a sentence. Scripts without capitals have none."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_JOINTS = re.compile(r"\.? |-|, (?=(?:Inc|Ltd|LLC)\b)| & ")
_PARTICLE_WORDS = "bin da de del della der di do dos du el la le of ten ter van von y zu"
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_STARTERS = '\n.!?:;\u2026*_#>|\u2022"\u201c\u201e\u00ab(['
_POSSESSIVE = re.compile(r"(?:['\u2019]s|['\u2019])$")
_COMMON_WORDS = (
    "a according additionally after all also although an and are as at based be because before both but by can could "
    "did do does during each either finally first for from furthermore had has have he hence her here his how however "
    "i if in is it its last let many may more most my neither next no none not note of on one only or our over per "
    "please second several she should since so some such than that the their then there therefore these they third "
    "this those though three thus to total two under until was we were what when where whether which while who why "
    "will with would yes yet you your der die das ein eine und le la les un une el los das im am zum"
)
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words at the beginning of a sentence that do not belong to a name."""


def names_in(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yields start, end and the texts of names in order; a second text is without a first word that may be no part.

    At the beginning of a sentence the first word may be a part of the name or not. A single word there is none, unless
    it is in capitals. Lines that begin with `#` are titles, whose capitals mean nothing.
    """
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if run and not _continues(text, run[-1], word):
            yield from _name(text, run)
            run = []
        if not _is_in_code(text, word) and (_is_capitalised(word[0]) or (run and word[0] in _PARTICLES)):
            run.append(word)
        elif run:
            yield from _name(text, run)
            run = []
    if run:
        yield from _name(text, run)


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() and (len(word) > 1 or not word.isascii() or word != "I")


def _is_in_code(text: str, word: re.Match[str]) -> bool:
    """Returns whether letters are a part of a code, such as "HL-2093"."""
    before, after = text[max(word.start() - 2, 0) : word.start()], text[word.end() : word.end() + 2]
    joined = after[:1] in ("-", "/", "_", ".") and after[1:].isdigit()
    return after[:1].isdigit() or joined or before[-1:].isdigit() or (before[-1:] == "-" and before[:1].isdigit())


def _continues(text: str, before: re.Match[str], word: re.Match[str]) -> bool:
    between = text[before.end() : word.start()]
    if _POSSESSIVE.search(before[0]):
        return False
    if between == ". ":  # after an initial or a title
        return len(before[0]) <= 2
    return len(between) < 8 and _JOINTS.fullmatch(between) is not None


def _name(text: str, run: list[re.Match[str]]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    while run and not _is_capitalised(run[-1][0]):
        run.pop()
    if not run or _is_title(text, run[0].start()):
        return
    begins = _begins_sentence(text, run[0].start())
    while run and begins and (run[0][0].lower() in _COMMON or run[0][0] in _PARTICLES):
        run, begins = run[1:], False
    if not run or (len(run) == 1 and begins and not _is_acronym(run[0][0])):
        return
    if len(run) == 1 and len(run[0][0]) == 1:
        return
    start, end = run[0].start(), run[-1].end()
    end -= len(text[start:end]) - len(_POSSESSIVE.sub("", text[start:end]))
    variants = [text[start:end]]
    if begins and len(run) > 1:
        variants.append(text[run[1].start() : end])
    yield start, end, tuple(variants)


def _is_acronym(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _begins_sentence(text: str, position: int) -> bool:
    before = text[max(position - 20, 0) : position].rstrip(" \t")
    return not before or before[-1] in _STARTERS or (position > 20 and not before.strip())


def _is_title(text: str, position: int) -> bool:
    line = text.rfind("\n", max(position - 200, 0), position) + 1
    return text[line : line + 4].lstrip().startswith("#") and (line > 0 or position < 200)
