"""The order in which the format takes the parts of an assistant's message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from abstractcore.schema import AudioPart, CallWarning, Part, ReasoningPart, TextPart

from ...common import reordering

P = TypeVar("P", bound=Part)


def rank(part: Part) -> int:
    """Reasoning, text, audio, tool calls: each kind has a field of its own, and nothing says what stood first."""
    if isinstance(part, ReasoningPart):
        return 0
    if isinstance(part, TextPart):
        return 1
    return 2 if isinstance(part, AudioPart) else 3


def in_order(kept: Sequence[tuple[int, P]], path: str, warnings: list[CallWarning]) -> list[tuple[int, P]]:
    """The parts (each with its index in `path`) as the format has them, with a warning for each that moves."""
    return reordering.in_order(kept, rank, path, warnings)
