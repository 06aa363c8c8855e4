"""Texts of recorded streams, each changed as a whole: a credential may be divided over several deltas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...schema import Delta, ReasoningDelta, TextDelta, ToolCallDelta

Batches: TypeAlias = "tuple[tuple[Delta, ...], ...]"
_Growing: TypeAlias = TextDelta | ReasoningDelta | ToolCallDelta


def with_whole_texts(batches: Batches, change: Callable[[str], str]) -> Batches:
    """Returns the batches of a stream with `change` applied to the whole text of each block.

    Text before and after the change stays in its delta; what replaces the rest is in one.
    """
    blocks: defaultdict[tuple[type[Delta], int], list[_Growing]] = defaultdict(list)
    for delta in (delta for batch in batches for delta in batch):
        if isinstance(delta, _Growing):
            blocks[type(delta), delta.block].append(delta)
    changed: dict[int, Delta] = {}
    for deltas in blocks.values():
        texts = [_text_of(delta) for delta in deltas]
        for delta, before, after in zip(deltas, texts, _divided(texts, change), strict=True):
            if before != after:
                changed[id(delta)] = _with_text(delta, after)
    return tuple(tuple(changed.get(id(delta), delta) for delta in batch) for batch in batches)


def _text_of(delta: _Growing) -> str:
    return delta.arguments_text if isinstance(delta, ToolCallDelta) else delta.text


def _with_text(delta: _Growing, text: str) -> Delta:
    return replace(delta, arguments_text=text) if isinstance(delta, ToolCallDelta) else replace(delta, text=text)


def _divided(texts: Sequence[str], change: Callable[[str], str]) -> Sequence[str]:
    """Returns `texts`, with `change` applied to all of them together."""
    whole = "".join(texts)
    clean = change(whole)
    if clean == whole:
        return texts
    begin = _shared(whole, clean)
    kept = _shared(whole[begin:][::-1], clean[begin:][::-1])
    end, new = len(whole) - kept, clean[begin : len(clean) - kept]
    divided: list[str] = []
    position = 0
    for text in texts:
        left, right = text[: max(begin - position, 0)], text[max(end - position, 0) :]
        holds_new = position <= begin < position + len(text)
        divided.append(left + new + right if holds_new else left + right)
        position += len(text)
    return divided


def _shared(left: str, right: str) -> int:
    """Returns the length of the common prefix."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (ours, theirs) in pairs if ours != theirs), min(len(left), len(right)))
