"""What a parser finds in a model's text: calls, reasoning, and the protocol of parsers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A tool call found in text. `arguments_text` is JSON, or the model's text if it cannot be read as JSON.

    `repair` describes what was wrong with the text of the call, such as "trailing comma".
    """

    name: str
    arguments_text: str = "{}"
    repair: str | None = None


@dataclass(frozen=True, slots=True)
class ParsedReasoning:
    """Reasoning that the format marks as such: ReAct's thoughts, Harmony's analysis channel."""

    text: str


Piece: TypeAlias = str | ParsedCall | ParsedReasoning
"""Text of the answer, a call, or reasoning."""


class CallParser(Protocol):
    """Finds calls in the text of one reply, however the text is split.

    Text without a marker of the format is returned unchanged. White space between a text and a call is dropped.
    """

    @property
    def cut_at(self) -> str | None:
        """The marker of an invented tool result or turn: the text from there on was dropped."""
        ...

    def feed(self, text: str) -> list[Piece]:
        """Returns text that is certainly not part of a call, and complete calls."""
        ...

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        """Returns the rest. A call without its end is completed, unless the reply is `truncated`: then it is text."""
        ...
