"""`MappedText`: a text that knows, for each of its characters, where it comes from in the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MappedText:
    """A text made of a source. `spans` has, for each character, the characters of the source that it stands for.

    Spans never go back. A character that was added has the empty span of the place where it was.
    """

    text: str
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, text: str, start: int = 0) -> MappedText:
        """Returns a text that is its own source, from the offset `start` on."""
        return cls(text, tuple((place, place + 1) for place in range(start, start + len(text))))

    @classmethod
    def said(cls, text: str, span: Span) -> MappedText:
        """Returns a text that stands for a span of the source as a whole."""
        return cls(text, (span,) * len(text))

    @classmethod
    def joined(cls, parts: Iterable[MappedText]) -> MappedText:
        """Returns the parts one after the other."""
        parts = tuple(parts)
        return cls("".join(part.text for part in parts), tuple(span for part in parts for span in part.spans))

    def __getitem__(self, part: slice) -> MappedText:
        return MappedText(self.text[part], self.spans[part])

    def __len__(self) -> int:
        return len(self.text)

    def part(self, match: re.Match[str], group: int | str = 0) -> MappedText:
        """Returns the text of a group of a match in this text."""
        return self[slice(*match.span(group))]

    def span(self, start: int, end: int) -> Span:
        """Returns the span of the source of the characters from `start` to `end`, of which there is at least one."""
        return self.spans[start][0], max(self.spans[start][1], self.spans[end - 1][1])

    def sub(self, pattern: re.Pattern[str], replaced: Callable[[re.Match[str]], str | MappedText | None]) -> MappedText:
        """Returns the text with what `pattern` matches replaced; None leaves a match as it is. A string that replaces a
        match stands for all of it.
        """
        parts: list[MappedText] = []
        done = 0
        for match in pattern.finditer(self.text):
            new = replaced(match) if match.end() > match.start() else None
            if new is None:
                continue
            parts.append(self[done : match.start()])
            parts.append(MappedText.said(new, self.span(*match.span())) if isinstance(new, str) else new)
            done = match.end()
        return self if not done else MappedText.joined((*parts, self[done:]))
