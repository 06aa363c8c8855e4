"""Joins runs of words to lines: letters to words, raised and lowered ones marked, what is painted twice said once."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..marks import PLAIN, MarkedText, Marks
from .drawings import Box
from .words import Run

SUPERSCRIPT, SUBSCRIPT = Marks("sup"), Marks("sub")

_SMALL = 0.85
"""The share of the size of a line up to which a word may be one of its superscripts."""
_JOINED, _APART = 0.08, 0.3
"""The gaps, in sizes, up to which words are joined in spite of a space, and from which there is one without."""
_COMPARED = 20
"""Runs of the same words that one is compared with."""
_STRUCK = 0.42, 0.14
"""The height above the base line, in sizes, of a line that strikes words through."""
_STEP, _MAX_STEPS, _MAX_STRUCK = 4.0, 50, 500
"""Points of the steps of height by which such words are found, how many a word may have, and how many are looked at."""
_HIGHEST, _LOWEST = -0.75, 0.55


@dataclass(slots=True)
class WordLine:
    """Runs that stand side by side on one line, without wide gaps; or a picture, by its number.

    The size and the base line are those of its largest words.
    """

    runs: list[Run] = field(default_factory=list[Run])
    left: float = 0.0
    right: float = 0.0
    base: float = 0.0
    size: float = 0.0
    block: int | None = None
    """The number of a table or picture that stands here."""
    height: float = 0.0
    """The height of that."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        top = self.base - 0.75 * self.size
        return self.left, top, self.right, top + self.height if self.height else self.base + 0.2 * self.size

    @property
    def words(self) -> int:
        """How many words it has."""
        return sum([len(run.words) for run in self.runs])

    def text(self) -> str:
        """Returns its text, with links and marks."""
        runs = self.runs
        if len(runs) == 1 and not runs[0].address and runs[0].marks == PLAIN:
            return " ".join(runs[0].words)
        out: list[str] = []
        before: Run | None = None
        for address, together in groupby(runs, lambda run: run.address):
            text = MarkedText()
            for run in together:
                if before is not None and self._is_apart(before, run):
                    text.add(" ", run.marks if run.marks == before.marks else PLAIN)
                text.add(" ".join(run.words), run.marks)
                before = run
            out.append(linked(text.taken(), address))
        return "".join(out)

    def _is_apart(self, before: Run, run: Run) -> bool:
        gap = max(run.left - before.right, before.left - run.right)
        size = min(before.size, run.size) if not (run.marks.rise or before.marks.rise) else self.size
        return gap > (_APART if run.follows else _JOINED) * size


def linked(text: str, address: str) -> str:
    """Returns a Markdown link; the text alone if it is the address."""
    words = text.strip()
    if not address or not words or words.rstrip("/.,;") in (address.rstrip("/"), address.removeprefix("mailto:")):
        return text
    target = address.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return text.replace(words, f"[{words}]({target})")


def lines_of(runs: Iterable[Run]) -> list[WordLine]:
    """Returns the lines of runs that follow each other in the content of the page."""
    found: list[WordLine] = []
    line: WordLine | None = None
    for run in said_once(runs):
        if line is None or not _appended(line, run):
            line = WordLine([run], run.left, run.right, run.base, run.size)
            found.append(line)
    return found


def said_once(runs: Iterable[Run]) -> Iterator[Run]:
    """Yields runs without those that are painted a second time, nearly at the same place, to look bold."""
    seen: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        others = seen.setdefault((run.words[0], len(run.words)), [])
        if not any(_is_same(run, other) for other in others[-_COMPARED:]):
            others.append(run)
            yield run


def _is_same(run: Run, other: Run) -> bool:
    near = 0.2 * run.size
    return (
        abs(run.base - other.base) < near
        and abs(run.lefts[0] - other.lefts[0]) < near
        and abs(run.size - other.size) < near
        and run.words == other.words
    )


def _appended(line: WordLine, run: Run) -> bool:
    """Appends a run that continues a line, and marks what is raised or lowered; returns whether it does."""
    gap, size = run.left - line.right, line.size
    lower = run.base - line.base
    if not -0.5 * size < gap <= max(size, run.size):
        return False
    if abs(lower) > 0.1 * min(size, run.size):
        if gap > 0.4 * size or not _HIGHEST * max(size, run.size) < lower < -_HIGHEST * max(size, run.size):
            return False
        if run.size > size and size <= _SMALL * run.size:  # what stands before is raised
            if line.words > 1 or not _LOWEST * -run.size < lower < -_HIGHEST * run.size:
                return False
            for each in line.runs:
                each.marks = SUPERSCRIPT if lower > 0 else SUBSCRIPT
            line.base, line.size = run.base, run.size
        elif _HIGHEST * size < lower < _LOWEST * size and (run.size <= _SMALL * size or abs(lower) > 0.12 * size):
            if len(run.words) > 3:
                return False
            run.marks = SUPERSCRIPT if lower < 0 else SUBSCRIPT
        else:
            return False
    line.runs.append(run)
    line.right = max(line.right, run.right)
    return True


def struck_by(rules: Iterable[Box], runs: Iterable[Run]) -> list[Box]:
    """Returns the lines through the middle of words, from the begin of a word to the end of one. Boxes are those of the
    frame of the text: left, top, right and bottom.
    """
    level = [rule for rule in rules if rule[3] - rule[1] <= rule[2] - rule[0]]
    if not level:
        return []
    by_height: dict[int, list[Run]] = {}
    for run in runs:
        top, bottom = run.base - _STRUCK[0] * run.size, run.base - _STRUCK[1] * run.size
        for height in range(int(top // _STEP), min(int(bottom // _STEP), int(top // _STEP) + _MAX_STEPS) + 1):
            by_height.setdefault(height, []).append(run)
    return [rule for rule in level if _is_stroke(rule, by_height.get(int((rule[1] + rule[3]) / 2 // _STEP), ()))]


def _is_stroke(rule: Box, runs: Sequence[Run]) -> bool:
    y = (rule[1] + rule[3]) / 2
    begins = ends = False
    for run in runs[:_MAX_STRUCK]:
        near = _STRUCK[0] * run.size
        if _STRUCK[1] * run.size <= run.base - y <= near and run.left - near <= rule[2] and rule[0] <= run.right + near:
            begins = begins or any(abs(left - rule[0]) <= near for left in run.lefts)
            ends = ends or any(abs(right - rule[2]) <= near for right in run.rights)
    return begins and ends


def rows_of(lines: Iterable[WordLine]) -> list[list[WordLine]]:
    """Returns lines that have one base line together, from left to right, from the top down."""
    rows: list[list[WordLine]] = []
    base = size = 0.0
    for line in sorted(lines, key=lambda line: line.base):
        if rows and line.base - base <= 0.3 * max(size, line.size):
            rows[-1].append(line)
        else:
            rows.append([line])
            base, size = line.base, line.size
    for row in rows:
        if len(row) > 1:
            row.sort(key=lambda line: line.left, reverse=_is_from_right_to_left(row))
    return rows


def row_text(row: Sequence[WordLine]) -> str:
    """Returns the text of lines side by side."""
    if len(row) == 1:
        return row[0].text()
    whole = WordLine([run for line in row for run in line.runs], size=max(line.size for line in row))
    return whole.text()


def _is_from_right_to_left(row: Sequence[WordLine]) -> bool:
    text = "".join([word for line in row for run in line.runs for word in run.words])
    if text.isascii():
        return False
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    return kinds.count("R") + kinds.count("AL") > kinds.count("L")
