"""`MarkdownScanner`: Markdown that arrives in pieces, as passages. How it was split makes no difference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .lines import LineStart, line_start
from .mapped import MappedText
from .sentence_ends import sentence_end
from .utterances import Kind, Passage

_CELL = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"[ \t]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t\r]*")
_LABELS = {"[ ]": "to do: ", "[x]": "done: ", "[X]": "done: "}
_BOX = re.compile(r"\[[ xX]\](?=\s)")
_LONGEST_MATH = 2_000


@dataclass(slots=True)
class _Fence:
    """A block of code that is not closed yet."""

    start: int
    mark: str
    language: str
    lines: int = 0
    first: str = ""


class MarkdownScanner:
    """Splits Markdown into passages, each as soon as it is complete.

    A passage never depends on what comes after it: a piece of text that could still change it is waited for.
    """

    def __init__(self) -> None:
        self._text = ""
        self._base = 0
        self._at = 0
        self._kind: Kind | None = None
        """The kind of the paragraph in which the text stands; None at the beginning of a line."""
        self._fence: _Fence | None = None
        self._headers: list[str] | None = None
        self._label = MappedText("", ())
        """What is said before the item that begins."""

    def feed(self, text: str) -> Iterator[Passage]:
        """Yields the passages that are complete with this piece of text."""
        self._text = self._text[self._at :] + text
        self._base += self._at
        self._at = 0
        yield from self._passages(False)

    def finish(self) -> Iterator[Passage]:
        """Yields the passages that the end of the text completes."""
        yield from self._passages(True)
        if self._fence is not None:
            fence, self._fence = self._fence, None
            yield self._code(fence, len(self._text))

    def _passages(self, final: bool) -> Iterator[Passage]:
        while self._at < len(self._text):
            before = self._at, self._kind, self._fence, self._headers
            if self._fence is not None:
                found = self._in_fence(self._fence, final)
            elif self._kind is not None:
                found = self._in_paragraph(self._kind, final)
            else:
                found = self._at_line(final)
            if found is not None:
                yield found
            elif before == (self._at, self._kind, self._fence, self._headers):
                return

    def _at_line(self, final: bool) -> Passage | None:
        line = line_start(self._text, self._at, final)
        if line is None:
            return None
        if self._headers is not None and line.kind != "table":
            self._headers = None
        match line.kind:
            case "blank" | "quote":
                self._at = line.content
            case "rule" | "definition":
                self._at = self._line_end(line.content)
            case "fence":
                return self._open_fence(line)
            case "table":
                return self._table(line, final)
            case "math":
                return self._math(line, final)
            case "item":
                self._begin_item(line, final)
            case "heading" | "text":
                self._at, self._kind = line.content, "heading" if line.kind == "heading" else "text"
        return None

    def _in_paragraph(self, kind: Kind, final: bool) -> Passage | None:
        end = sentence_end(self._text, self._at, final, kind == "heading")
        if end is None:
            return None
        content = MappedText.of(self._text[self._at : end.content], self._base + self._at)
        self._at = end.next
        content, self._label = MappedText.joined((self._label, content)), MappedText("", ())
        if end.last:
            self._kind = None
        return Passage(kind, content, end.last)

    def _begin_item(self, line: LineStart, final: bool) -> None:
        content = line.content
        while content < len(self._text) and self._text[content] in " \t":
            content += 1
        rest = self._text[content : content + 4]
        if not final and "\n" not in rest and len(rest) < 4:
            return
        start = self._base + self._at
        self._kind = "item"
        box = _BOX.match(rest + "\n" if final else rest)
        self._at = content + 3 if box else content
        label = (f"{line.number}: " if line.number else "") + (_LABELS[box[0]] if box else "")
        self._label = MappedText.said(label, (start, self._base + self._at))

    def _open_fence(self, line: LineStart) -> None:
        end = self._line_end(line.content)
        opened = self._text[line.content : end].strip()
        mark = opened[: len(opened) - len(opened.lstrip(opened[0]))]
        language = re.split(r"[\s{,:]", opened[len(mark) :].strip(), maxsplit=1)[0]
        self._fence = _Fence(self._base + line.content, mark, language)
        self._at = end

    def _in_fence(self, fence: _Fence, final: bool) -> Passage | None:
        newline = self._text.find("\n", self._at)
        if newline < 0 and not final:
            return None
        end = len(self._text) if newline < 0 else newline
        line = self._text[self._at : end].strip()
        self._at = min(end + 1, len(self._text))
        if line.startswith(fence.mark) and not line.strip(fence.mark[0]):
            self._fence = None
            return self._code(fence, end)
        if line:
            fence.lines += 1
            fence.first = fence.first or line
        return None

    def _code(self, fence: _Fence, end: int) -> Passage:
        about = f"{fence.language}\n{fence.lines}\n{fence.first if fence.lines == 1 else ''}"
        return Passage("code", MappedText.said(about, (fence.start, self._base + end)), True)

    def _table(self, line: LineStart, final: bool) -> Passage | None:
        end = self._line_end(line.content)
        if self._headers is not None:
            return self._row(line.content, end, self._headers)
        below = self._line_end(end)
        if below == len(self._text) and not self._text.endswith("\n", end) and not final:
            return None
        if not _DELIMITER.fullmatch(self._text[end:below].rstrip("\n")) or end == below:
            self._at, self._kind = line.content, "text"
            return None
        self._headers = [cell.text.strip() for cell in self._cells(line.content, end)]
        self._at = below
        return None

    def _row(self, start: int, end: int, headers: list[str]) -> Passage | None:
        parts: list[MappedText] = []
        for number, cell in enumerate(self._cells(start, end)):
            if not cell.text.strip():
                continue
            place = cell.spans[0][0]
            label = headers[number] if number < len(headers) else ""
            before = ("; " if parts else "") + (f"{label}: " if label else "")
            parts += [MappedText.said(before, (place, place)), cell]
        self._at = end
        return Passage("row", MappedText.joined(parts), True) if parts else None

    def _cells(self, start: int, end: int) -> list[MappedText]:
        """Returns the cells of a row, without the space around them."""
        row = self._text[start:end].rstrip()
        inner = row[1:]
        if inner.endswith("|") and not inner.endswith("\\|"):
            inner = inner[:-1]
        cells: list[MappedText] = []
        place = 0
        for part in _CELL.split(inner):
            first = place + len(part) - len(part.lstrip())
            cells.append(MappedText.of(part.strip(), self._base + start + 1 + first))
            place += len(part) + 1
        return cells

    def _math(self, line: LineStart, final: bool) -> Passage | None:
        opened = self._text[line.content : line.content + 2]
        limit = line.content + _LONGEST_MATH
        found = self._text.find("$$" if opened == "$$" else "\\]", line.content + 2, limit)
        if found < 0:
            if not final and len(self._text) < limit:
                return None
            self._at, self._kind = line.content + 2, "text"
            return None
        start = self._base + line.content
        content = MappedText.of(self._text[line.content + 2 : found], start + 2)
        self._at = found + 2
        return Passage("math", content, True) if content.text else None

    def _line_end(self, at: int) -> int:
        """Returns the place after the line at `at`."""
        newline = self._text.find("\n", at)
        return len(self._text) if newline < 0 else newline + 1
