"""How full the context is: an estimate that learns from the usage that providers report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ..schema import (
    MEDIA_PARTS,
    GenerateResponse,
    HostedToolCall,
    HostedToolResult,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    text_tokens,
)

_FIRST_MARGIN = 1.25
_LEAST_MARGIN, _MOST_MARGIN = 0.5, 4.0
_AROUND_A_MESSAGE = 4
_ENOUGH_TO_LEARN = 50
"""Tokens of a request from which a margin is learnt: of a short one, most are around its messages."""

MediaTokens = Callable[[Sequence[MediaPart]], int]
"""Returns about how many tokens files have for a model."""


def message_tokens(messages: Iterable[Message], media_tokens: MediaTokens) -> int:
    """Returns about how many tokens messages have."""
    tokens = 0
    files: list[MediaPart] = []
    for message in messages:
        tokens += _AROUND_A_MESSAGE
        for part in message.parts:
            if type(part) is TextPart:
                tokens += text_tokens(part.text)
            else:
                tokens += sum(map(text_tokens, _texts(part, files)))
    return tokens + (media_tokens(files) if files else 0)


def _texts(part: Part, files: list[MediaPart]) -> Iterator[str]:
    """Yields the texts of a part; adds its files to `files`."""
    if isinstance(part, TextPart | ReasoningPart):
        yield part.text
        if isinstance(part, ReasoningPart):
            yield part.redacted_data or ""
    elif isinstance(part, ToolCall | HostedToolCall):
        yield part.name
        yield part.arguments_text
    elif isinstance(part, ToolResult | HostedToolResult):
        for inner in part.content:
            yield from _texts(inner, files)
    elif isinstance(part, MEDIA_PARTS):
        files.append(part)
    else:
        yield str(part.data)


class ContextMeter:
    """Estimates the tokens of the next request of one model.

    After a response, the tokens that it reports are the size of its conversation; what was added since is estimated,
    with a margin that is the ratio of reported to estimated tokens.
    """

    def __init__(self) -> None:
        self.margin = _FIRST_MARGIN
        self._reported: int | None = None
        """The tokens of the conversation after the last response."""
        self._estimated = 0
        """The estimate of the messages that `_reported` is the size of."""

    def copy(self) -> ContextMeter:
        """Returns a meter that goes on from here alone."""
        other = ContextMeter()
        other.margin, other._reported, other._estimated = self.margin, self._reported, self._estimated
        return other

    @property
    def is_known(self) -> bool:
        """Whether a provider has reported the size of the conversation."""
        return self._reported is not None

    def tokens(self, estimated: int) -> int:
        """Returns about how many tokens a conversation has whose messages are estimated to have so many."""
        if self._reported is None:
            return int(self.margin * estimated)
        return max(0, self._reported + int(self.margin * (estimated - self._estimated)))

    def learn(self, response: GenerateResponse[Any], asked: int, estimated: int) -> None:
        """Takes what a response reports: of a request whose messages were estimated to have `asked` tokens, and of a
        conversation that has `estimated` ones with the answer.
        """
        if not response.steps:
            return
        first, last = response.steps[0].usage, response.steps[-1].usage
        if first.input is not None and asked >= _ENOUGH_TO_LEARN:
            self.margin = min(max(first.input / asked, _LEAST_MARGIN), _MOST_MARGIN)
        if last.input is not None:
            self._reported, self._estimated = last.input + (last.output or 0), estimated

    def take_count(self, tokens: int, estimated: int) -> None:
        """Takes a provider's count of a conversation."""
        self._reported, self._estimated = tokens, estimated
        if estimated >= _ENOUGH_TO_LEARN:
            self.margin = min(max(tokens / estimated, _LEAST_MARGIN), _MOST_MARGIN)

    def forget(self) -> None:
        """Forgets the size of a conversation that was compacted or shortened; the margin stays."""
        self._reported = None
