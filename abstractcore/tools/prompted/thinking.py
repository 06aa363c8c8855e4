"""`ThinkingScanner`: follows reasoning that a server leaves in the text. A call in it is a thought about a call."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from .value_ends import Tokens

TAGS: Final[Mapping[str, str]] = MappingProxyType({"<think>": "</think>", "<thinking>": "</thinking>"})
"""Tags that open and close reasoning in the templates of Qwen3, DeepSeek R1, GLM, MiniMax M2 and Hermes 4."""
_OPENING: Final = tuple(TAGS)


class ThinkingScanner:
    """Whether text that arrives in pieces is `inside` of reasoning. Without a closing tag all that follows is."""

    __slots__ = ("_tags", "inside")

    def __init__(self) -> None:
        self.inside = False
        self._tags = Tokens(_OPENING)

    def open(self, tag: str) -> None:
        """Begins reasoning that the tag `tag` opened."""
        self.inside, self._tags = True, Tokens((TAGS[tag],))

    def end(self, text: str, index: int) -> int:
        """Returns the index behind the closing tag; the length of `text` without one."""
        while index < len(text) and self.inside:
            index = self._candidate(text, index)
            if index < len(text) and self._tags.add(text[index]):
                self.inside, self._tags = False, Tokens(_OPENING)
            index += 1
        return min(index, len(text))

    def follow(self, text: str) -> None:
        """Reads text in which reasoning may begin and end."""
        index = 0
        while index < len(text):
            if self.inside:
                index = self.end(text, index)
                continue
            index = self._candidate(text, index)
            tag = self._tags.add(text[index]) if index < len(text) else ""
            if tag:
                self.open(tag)
            index += 1

    def _candidate(self, text: str, index: int) -> int:
        """Returns the index of the next character that may belong to a tag."""
        if self._tags.maybe:
            return index
        found = text.find("<", index)
        return found if found >= 0 else len(text)
