"""Reasoning that a server leaves in the text, as the model wrote it: `<think>...</think>` before the answer."""

from __future__ import annotations

from ...common.json_reading import Object

OPENING, _CLOSING = "<think>", "</think>"


class ThinkTags:
    """Tells reasoning from text in pieces cut anywhere. Only what the text begins with, spaces aside, counts.

    `decided` says that all that is still to come is text.
    """

    def __init__(self) -> None:
        self.decided = False
        self._inside = False
        self._held = ""

    def feed(self, text: str) -> tuple[str, str]:
        """What is certain by now of reasoning and of text, in this order; a tag's possible beginning is held back."""
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
        """What was held back: a tag that never came to its end is no tag."""
        rest, self._held = self._held, ""
        return (rest, "") if self._inside else ("", rest)

    def _begin(self) -> None:
        """Whether the text begins with the tag, as soon as that shows."""
        text = self._held.lstrip()
        if text.startswith(OPENING):
            self._inside, self._held = True, text.removeprefix(OPENING)
        elif not OPENING.startswith(text):
            self.decided = True

    def _reasoning(self) -> str:
        """The reasoning so far: up to the closing tag, or to what may become one."""
        thought, tag, rest = self._held.partition(_CLOSING)
        if tag:
            self._inside, self.decided, self._held = False, True, rest
            return thought
        certain = len(thought) - _longest_beginning(thought)
        self._held = thought[certain:]
        return thought[:certain]


def is_separated(message: Object) -> bool:
    """Whether the server tells reasoning from text by itself: it sends the reasoning's field, be it empty."""
    return isinstance(message.get("reasoning_content"), str)


def split_thought(text: str) -> tuple[str, str]:
    """Reasoning and text of a whole answer."""
    tags = ThinkTags()
    reasoning, answer = tags.feed(text)
    more_reasoning, more_answer = tags.finish()
    return reasoning + more_reasoning, answer + more_answer


def _longest_beginning(text: str) -> int:
    """How many characters at the end of `text` the closing tag may begin with."""
    return next(size for size in range(len(_CLOSING) - 1, -1, -1) if text.endswith(_CLOSING[:size]))
