"""`RescueParser`: reads a reply that is nothing but calls of offered tools, in any format that is unmistakable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...schema import ToolSpec
from .fenced_calls import FencedCalls
from .formats import tool_format
from .parsed import CallParser, ParsedCall, Piece

ALL_FORMATS: Final = (
    "hermes",
    "qwen_coder",
    "glm",
    "mistral",
    "kimi_k2",
    "deepseek",
    "minimax",
    "gemma4",
    "llama3",
    "pythonic",
)
JSON_FORMATS: Final = ("llama3",)
"""The format of calls as JSON without a marker, in a code fence or not."""


class RescueParser:
    """A `CallParser` that holds back a reply while all of it may be calls. Any other reply goes to `inner`, the parser
    of the format that the model was asked to write, or is text. `rescued` says whether calls were found.
    """

    def __init__(
        self, tools: Sequence[ToolSpec], inner: CallParser | None = None, formats: Sequence[str] = ALL_FORMATS
    ) -> None:
        self._names = frozenset(tool.name for tool in tools)
        self._inner = inner
        self._candidates = [(tool_format(name).parser(tools), list[Piece]()) for name in formats]
        self._raw: list[str] = []
        self.rescued = False

    @property
    def cut_at(self) -> str | None:
        """The marker at which the inner parser cut the text."""
        return self._inner.cut_at if self._inner is not None else None

    @property
    def shown(self) -> Sequence[str]:
        """The names of offered tools in calls that the text shows in code blocks."""
        return self._inner.shown if isinstance(self._inner, FencedCalls) else ()

    def feed(self, text: str) -> list[Piece]:
        """Returns text that is certainly not part of a call."""
        if not self._candidates:
            return self._passed(text)
        self._raw.append(text)
        self._candidates = [
            (parser, found)
            for parser, found in self._candidates
            if self._still_calls(found, parser.feed(text)) and parser.cut_at is None
        ]
        return [] if self._candidates else self._released()

    def finish(self, *, truncated: bool = False) -> list[Piece]:
        """Returns the calls if the reply is nothing else; else the rest of the text."""
        pieces: list[Piece] = []
        if self._candidates and not truncated:
            for parser, found in self._candidates:
                if self._still_calls(found, parser.finish()) and any(isinstance(piece, ParsedCall) for piece in found):
                    self.rescued = True
                    return [piece for piece in found if isinstance(piece, ParsedCall)]
        if self._candidates:
            pieces = self._released()
        return pieces + (self._inner.finish(truncated=truncated) if self._inner is not None else [])

    def _still_calls(self, found: list[Piece], new: list[Piece]) -> bool:
        """Adds new pieces of a candidate; returns whether all are calls of offered tools."""
        found += new
        return all(
            piece.name in self._names if isinstance(piece, ParsedCall) else isinstance(piece, str) and not piece.strip()
            for piece in new
        )

    def _released(self) -> list[Piece]:
        raw, self._raw, self._candidates = "".join(self._raw), [], []
        return self._passed(raw)

    def _passed(self, text: str) -> list[Piece]:
        if self._inner is not None:
            return self._inner.feed(text)
        return [text] if text else []
