"""Reasoning that a server leaves in the text, as the model wrote it: `<think>...</think>` before the answer."""

from __future__ import annotations

from ...common.reading import Object

OPENING, CLOSING = "<think>", "</think>"


class ThinkTags:
    """Separates reasoning from text in arbitrary chunks. Only tags at the start of the text count, after whitespace.

    With `decided`, everything that follows is text.
    """

    def __init__(self) -> None:
        self.decided = False
        self._inside = False
        self._held = ""

    def feed(self, text: str) -> tuple[str, str]:
        """Returns the reasoning and the text that are certain so far; a possible start of a tag is held back."""
        self._held += text
        reasoning = ""
        if not self._inside and not self.decided:
            self._begin()
        if self._inside:
            reasoning = self._reasoning()
        if not self.decided:
            return reasoning, ""
        rest, self._held = self._held, ""
        return reasoning, rest

    def finish(self) -> tuple[str, str]:
        """Returns the text that was held back: an incomplete tag is text."""
        rest, self._held = self._held, ""
        return (rest, "") if self._inside else ("", rest)

    def _begin(self) -> None:
        """Determines whether the text starts with the tag, as soon as that is certain."""
        text = self._held.lstrip()
        if text.startswith(OPENING):
            self._inside, self._held = True, text.removeprefix(OPENING)
        elif not OPENING.startswith(text):
            self.decided = True

    def _reasoning(self) -> str:
        """Returns the reasoning so far: up to the closing tag, or its possible start."""
        thought, tag, rest = self._held.partition(CLOSING)
        if tag:
            self._inside, self.decided, self._held = False, True, rest
            return thought
        certain = len(thought) - _longest_beginning(thought)
        self._held = thought[certain:]
        return thought[:certain]


def is_separated(message: Object) -> bool:
    """Whether the server separates reasoning itself: it sends the reasoning field, possibly empty."""
    return isinstance(message.get("reasoning_content"), str)


def split_thought(text: str) -> tuple[str, str]:
    """Returns reasoning and text of an unstreamed answer."""
    tags = ThinkTags()
    reasoning, answer = tags.feed(text)
    more_reasoning, more_answer = tags.finish()
    return reasoning + more_reasoning, answer + more_answer


def _longest_beginning(text: str) -> int:
    """Returns how many characters at the end of `text` may start the closing tag."""
    return next(size for size in range(len(CLOSING) - 1, -1, -1) if text.endswith(CLOSING[:size]))
