"""Hypothesis strategies: streams of deltas."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ...schema import Delta, ModelReply, ReasoningDelta, TextDelta, ToolCallDelta, deltas_of

_SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any)
"""Sizes of the pieces of a text, in turn. A size of 0 is a piece without text, which streams may have anywhere."""


def deltas(reply: ModelReply) -> SearchStrategy[list[Delta]]:
    """Streams that accumulate to `reply`, with its texts in pieces."""
    return _SIZES.map(lambda sizes: _in_pieces(reply, sizes))


def streams(replies: SearchStrategy[ModelReply]) -> SearchStrategy[tuple[ModelReply, list[Delta]]]:
    """Replies, each with a stream that accumulates to it."""
    return st.builds(_streamed, replies, _SIZES)


def _streamed(reply: ModelReply, sizes: Sequence[int]) -> tuple[ModelReply, list[Delta]]:
    return reply, _in_pieces(reply, sizes)


def _in_pieces(reply: ModelReply, sizes: Sequence[int]) -> list[Delta]:
    stream: list[Delta] = []
    for delta in deltas_of(reply):
        if isinstance(delta, TextDelta | ReasoningDelta):
            stream += [type(delta)(0, delta.block, piece) for piece in _pieces(delta.text, sizes)]
        elif isinstance(delta, ToolCallDelta):
            stream += [ToolCallDelta(0, delta.block, piece) for piece in _pieces(delta.arguments_text, sizes)]
        else:
            stream.append(delta)
    for sequence, delta in enumerate(stream):
        delta.sequence = sequence
    return stream


def _pieces(text: str, sizes: Sequence[int]) -> list[str]:
    pieces: list[str] = []
    for size in cycle(sizes):
        if not text and size:
            return pieces
        pieces.append(text[:size])
        text = text[size:]
    return pieces
