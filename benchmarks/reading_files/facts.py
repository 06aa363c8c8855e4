"""Facts about files, written by hand, and whether the text that a reader gives says them.

A fact knows no reader. What readers write differently, such as emphasis, escapes and kinds of spaces, is made alike
first.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

Verdict = Literal["found", "missing", "wrong"]

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\u3000", " "),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None),
        **dict.fromkeys("\u2018\u2019", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2010\u2011", "-"),
        "\u2212": "-",
    }
)
_SUPERSCRIPTS = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_SUBSCRIPTS = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~<>&$])")
_STRONG = re.compile(r"\*\*|(?<!\w)__|__(?!\w)|(?<![\w*])\*(?=\w)|(?<=\w)\*(?![\w*])")
_RULE = re.compile(r"[\s|:+=-]*")
_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\([^()\s]*\)")
_BREAK = re.compile(r"<br\s*/?>")
_NOT_AFTER, _NOT_BEFORE = r"(?<![^\W⁰¹²³⁴-₎])", r"(?![^\W⁰¹²³⁴-₎])"
_GAP = re.compile(r" {2,}|\t")


class Fact(Protocol):
    """Something that a file says, or that it does not say."""

    @property
    def is_trap(self) -> bool:
        """Whether it is about what must not be read as the file's words: not to find it is right."""
        ...

    @property
    def losses(self) -> str:
        """A regular expression of the losses and warnings that say that it is missing; none if it is empty."""
        ...

    def verdict(self, reading: Reading) -> Verdict:
        """Returns whether the text says it, does not, or says something else instead."""
        ...


@dataclass(frozen=True)
class FileWithFacts:
    """A file of the bench: how it is made, or where it is from, and what it says."""

    name: str
    make: Callable[[Path], object]
    """Writes the file to a path."""
    facts: Sequence[Fact]
    source: str

    @property
    def suffix(self) -> str:
        """The end of the name, from its last dot."""
        return Path(self.name).suffix


@dataclass(frozen=True)
class Score:
    """What a reader makes of the facts of some files."""

    files: int = 0
    facts: int = 0
    """Those that the files say; `checks` are these and the traps."""
    checks: int = 0
    found: int = 0
    wrong: int = 0
    uncounted: int = 0
    """Facts, and words that were left out, that are missing where neither an error nor a loss or warning of their kind
    says so."""
    faults: tuple[str, ...] = ()

    def __add__(self, other: Score) -> Score:
        numbers = ("files", "facts", "checks", "found", "wrong", "uncounted", "faults")
        return Score(*(getattr(self, name) + getattr(other, name) for name in numbers))


def score(file: FileWithFacts, result: Mapping[str, Any]) -> Score:
    """Compares the facts of a file with what a reader printed: `text`, `lost`, `warnings` or `error`."""
    reading = Reading(result.get("text", ""))
    total = Score(1, faults=(f"{file.name}: {result['error']}",) if "error" in result else ())
    for fact in file.facts:
        verdict = fact.verdict(reading)
        is_uncounted = verdict == "missing" and not _is_counted(fact, result)
        is_fault = verdict == "wrong" or is_uncounted or (verdict == "missing" and not fact.is_trap)
        total += Score(
            facts=not fact.is_trap,
            checks=1,
            found=verdict == "found" and not fact.is_trap,
            wrong=verdict == "wrong",
            uncounted=is_uncounted,
            faults=(f"{file.name}: {verdict}: {fact}",) if is_fault else (),
        )
    return total


def _is_counted(fact: Fact, result: Mapping[str, Any]) -> bool:
    """Returns whether an error says that a fact is missing, or a loss or warning of its kind."""
    if "error" in result:
        return True
    said = (*result.get("lost", ()), *result.get("warnings", ()))
    return bool(fact.losses) and any(re.search(fact.losses, each) for each in said)


class Reading:
    """What a reader gives for a file, as flat text, lines and tables."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def lines(self) -> list[str]:
        """The lines, with their spaces."""
        return [_alike(line) for line in self._text.splitlines()]

    @cached_property
    def flat(self) -> str:
        """The text with a single space for each run of them."""
        return " ".join(" ".join(self.lines).split())

    @cached_property
    def tables(self) -> list[list[list[str]]]:
        """Rows of cells: of Markdown, and of lines whose cells have tabs, commas or semicolons between them."""
        markdown = [_BREAK.sub(" ", line) for line in self._text.splitlines()]
        return [
            *_tables(markdown, _has_pipes, _markdown_cells),
            *(
                table
                for mark in "\t,;"
                for table in _tables(self._text.splitlines(), lambda line, mark=mark: mark in line, _delimited(mark))
            ),
        ]

    @cached_property
    def unruled(self) -> str:
        """The flat text without the lines between cells."""
        return " ".join(word for word in self.flat.split() if not _RULE.fullmatch(word))

    @cached_property
    def unlinked(self) -> str:
        """The flat text without the addresses of links."""
        return _LINK.sub(r"\1", self.flat)

    def says(self, text: str, start: int = 0) -> int:
        """Returns where the words stand, not as part of others, links as their words; -1 if they do not."""
        found = _words(text).search(self.unlinked, start)
        return found.start() if found else -1

    def has(self, text: str) -> bool:
        """Whether the words stand in the text, links with or without their addresses."""
        return self.says(text) >= 0 or _words(text).search(self.flat) is not None


@dataclass(frozen=True)
class Says:
    """One of several ways to write the same words; `never` are words that would be wrong in their place."""

    ways: tuple[str, ...]
    never: tuple[str, ...] = ()
    losses: str = ""
    is_trap: bool = False

    def verdict(self, reading: Reading) -> Verdict:
        """Returns whether one of the ways is in the text, and nothing that is wrong."""
        if any(reading.has(text) for text in self.never):
            return "wrong"
        return "found" if any(reading.has(text) for text in self.ways) else "missing"


@dataclass(frozen=True)
class InOrder:
    """Words that follow each other, with whatever between them."""

    texts: tuple[str, ...]
    losses: str = ""
    is_trap: bool = False

    def verdict(self, reading: Reading) -> Verdict:
        """Returns whether all are there in this order; all there in another order is wrong."""
        start = 0
        for text in self.texts:
            start = reading.says(text, start)
            if start < 0:
                return "wrong" if all(reading.says(text) >= 0 for text in self.texts) else "missing"
            start += 1
        return "found"


@dataclass(frozen=True)
class Struck:
    """Words that are struck through or deleted: they may be left out, but not be said like any others."""

    text: str
    losses: str = r"delet|struck|tracked"
    is_trap: bool = True

    def verdict(self, reading: Reading) -> Verdict:
        """Returns whether the words are marked, absent, or plain."""
        bare = re.sub(r"~~.*?~~|<(s|del|strike)>.*?</\1>|\[deleted[^\]]*\]|\{--.*?--\}", "", reading.flat)
        if _alike(self.text) in bare:
            return "wrong"
        return "found" if self.text in reading.flat else "missing"


@dataclass(frozen=True)
class Unseen:
    """Words that nobody sees who opens the file: they may be left out or marked as hidden, but not said like others."""

    text: str
    losses: str = r"hidden|invisible|switched off|without scripts"
    is_trap: bool = True

    def verdict(self, reading: Reading) -> Verdict:
        """Returns whether the words are marked before them, absent, or plain."""
        start = reading.flat.find(_alike(self.text))
        if start < 0:
            return "missing"
        before = reading.flat[max(0, start - 120) : start].lower()
        return "found" if re.search(r"hidden|invisible|not (shown|visible|displayed)", before) else "wrong"


@dataclass(frozen=True)
class Cell:
    """A cell of a table: it stands in the row of its label and under the head of its column."""

    heads: tuple[str, ...]
    row: tuple[str, ...]
    column: int
    losses: str = r"cells|rows|columns|tables|sheets"
    is_trap: bool = False

    def verdict(self, reading: Reading) -> Verdict:
        """Returns whether a table, or lines that look like one, have the value at this place."""
        found = [found for table in reading.tables if (found := self._in_table(table)) is not None]
        if found:
            return "found" if "found" in found else found[0]
        return self._in_columns(reading.lines) or self._in_line(reading)

    def _in_table(self, table: list[list[str]]) -> Verdict | None:
        value, head, label = _alike(self.row[self.column]), _alike(self.heads[self.column]), _alike(self.row[0])
        for number, heads in enumerate(table):
            if head not in heads or _alike(self.heads[0]) not in heads:
                continue
            column, labels = heads.index(head), heads.index(_alike(self.heads[0]))
            for row in table[number + 1 :]:
                if labels < len(row) and _is_label(row[labels], label):
                    text = row[column] if column < len(row) else ""
                    if _words(value).search(text):
                        return "found"
                    return "wrong" if text and text != "NaN" else "missing"
        return None

    def _in_columns(self, lines: list[str]) -> Verdict | None:
        """Lines with gaps of several spaces, each cell under the nearest head."""
        heads: list[tuple[float, str]] = []
        for line in lines:
            cells = _placed(line)
            texts = [text for _, text in cells]
            if _alike(self.heads[0]) in texts and _alike(self.heads[self.column]) in texts and len(texts) > 1:
                heads = cells
            elif heads and cells and cells[0][1] == _alike(self.row[0]):
                under = {min(heads, key=lambda head: abs(head[0] - middle))[1]: text for middle, text in cells}
                text = under.get(_alike(self.heads[self.column]), "")
                if _words(_alike(self.row[self.column])).search(text):
                    return "found"
                return "wrong" if text else "missing"
        return None

    def _in_line(self, reading: Reading) -> Verdict:
        """Words after one another: a full row under full heads can be counted off, one with gaps cannot."""
        there = [text for text in self.row if text]
        if not _words(" ".join(there)).search(reading.unruled):
            return "missing"
        if all(self.row[: self.column + 1]):
            return "found" if _words(" ".join(self.heads)).search(reading.unruled) else "missing"
        return "wrong"


def says(*ways: str, never: str | tuple[str, ...] = ()) -> Says:
    """The words are in the text, in one of these ways."""
    return Says(ways, (never,) if isinstance(never, str) else never)


def each(*texts: str) -> list[Says]:
    """Each of the words is in the text."""
    return [Says((text,)) for text in texts]


def counted_as(losses: str, *facts: Fact | Iterable[Fact]) -> list[Fact]:
    """The facts, which are missing without a fault where a loss or warning is found by this regular expression."""
    return [replace(fact, losses=losses) for fact in flat(facts)]


def flat(facts: Iterable[Fact | Iterable[Fact]]) -> list[Fact]:
    """The facts and those of lists of facts, in order."""
    found: list[Fact] = []
    for fact in facts:
        if isinstance(fact, Iterable):
            found += fact
        else:
            found.append(fact)
    return found


def table(heads: Sequence[str], *rows: Sequence[str]) -> list[Cell]:
    """Each cell with a text, but those of the first column, which are the labels of the rows."""
    return [
        Cell(tuple(heads), tuple(row), column) for row in rows for column, text in enumerate(row) if column and text
    ]


def cells(heads: Sequence[str], label: str, **values: str) -> list[Cell]:
    """Some cells of a row, by the heads of their columns, with `_` for a space."""
    names = {name.replace("_", " "): value for name, value in values.items()}
    row = (label, *(names.get(head, "") for head in heads[1:]))
    return [Cell(tuple(heads), row, heads.index(name)) for name in names]


def raised(base: str, power: str, after: str = "") -> Says:
    """A superscript: 10⁵ and not 105."""
    return _script(base, power, after, power.translate(_SUPERSCRIPTS), "^", "sup")


def lowered(base: str, index: str, after: str = "") -> Says:
    """A subscript: H₂O and not H2O."""
    return _script(base, index, after, index.translate(_SUBSCRIPTS), "_", "sub")


def _script(base: str, script: str, after: str, character: str, mark: str, element: str) -> Says:
    ways = (
        character,
        f"{mark}{script}",
        f"{mark}{{{script}}}",
        f"{mark}({script})",
        f"<{element}>{script}</{element}>",
        f"{mark}{script}{mark}",
        *([f"**{script}"] if mark == "^" else [f"~{script}~"]),
    )
    return Says(tuple(f"{base}{way}{after}" for way in ways), (f"{base}{script}{after}",))


def note(words: str, number: str) -> Says:
    """A mark of a note after words: growth[^1] or growth [note: ...], and not growth1."""
    ways = ("[", " [", number.translate(_SUPERSCRIPTS), "<sup>", "^")
    return Says(tuple(f"{words}{way}" for way in ways), (f"{words}{number}",))


def link(words: str, address: str) -> Says:
    """Words that are a link, with its address."""
    return Says((f"[{words}]({address})", f"[{words}](<{address}>)", f"{words} ({address})", f"{words} <{address}>"))


def in_order(*texts: str) -> InOrder:
    """The words follow each other in the text."""
    return InOrder(texts)


def checked(label: str, *, before: bool = True) -> Says:
    """A box beside its label, checked."""
    return Says(_boxes(label, ("[x]", "[X]", "☒", "☑", "✓", "(x)", "✔"), before))


def unchecked(label: str, *, before: bool = True) -> Says:
    """A box beside its label, not checked."""
    wrong = _boxes(label, ("[x]", "[X]", "☒", "☑"), before)
    return Says(_boxes(label, ("[ ]", "☐", "( )", "□"), before), wrong)


def _boxes(label: str, marks: Iterable[str], before: bool) -> tuple[str, ...]:
    return tuple(f"{mark} {label}" if before else f"{label} {mark}" for mark in marks)


def _alike(text: str) -> str:
    text = _BREAK.sub(" ", html.unescape(text.translate(_ALIKE)))
    return _ESCAPE.sub(r"\1", _STRONG.sub("", text)).strip("\r\n")


def _words(text: str) -> re.Pattern[str]:
    """The words, not as part of longer ones or of longer numbers."""
    text = " ".join(_alike(text).split())
    before = _NOT_AFTER if text[:1].isalnum() else ""
    after = _NOT_BEFORE if text[-1:].isalnum() else ""
    if text[:1].isdigit():
        before += r"(?<!\d[.,])"
    if text[-1:].isdigit():
        after += r"(?![.,]\d)"
    return re.compile(before + re.escape(text) + after)


def _is_label(cell: str, label: str) -> bool:
    """Whether a cell is the label, perhaps with a comment after it."""
    return cell == label or cell.startswith(f"{label} [")


def _placed(line: str) -> list[tuple[float, str]]:
    """The texts between gaps, with their middles; none for a line without a gap."""
    cells: list[tuple[float, str]] = []
    start = 0
    for gap in [*_GAP.finditer(line), None]:
        end = gap.start() if gap else len(line)
        if text := line[start:end].strip():
            cells.append(((start + end) / 2, text))
        start = gap.end() if gap else end
    return cells if len(cells) > 1 else []


def _tables(
    lines: Iterable[str], is_row: Callable[[str], bool], split: Callable[[str], list[str]]
) -> Iterable[list[list[str]]]:
    rows: list[list[str]] = []
    for line in [*lines, ""]:
        if is_row(line):
            if not _RULE.fullmatch(line):
                rows.append([" ".join(_alike(cell).split()) for cell in split(line)])
        else:
            if len(rows) > 1:
                yield rows
            rows = []


def _has_pipes(line: str) -> bool:
    return "|" in line


def _markdown_cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip())
    return cells[1 if not cells[0] else 0 : -1 if not cells[-1] else None]


def _delimited(mark: str) -> Callable[[str], list[str]]:
    return lambda line: next(iter(csv.reader([line], delimiter=mark)), [])
