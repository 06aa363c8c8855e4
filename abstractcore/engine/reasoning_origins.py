"""Whose reasoning a reply holds: that of the model asked, under the name it was asked by.

Vendors answer under another name than they are called by: an alias becomes the dated name of a version. What is kept
under that name would not go back to the alias.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..schema import Delta, ModelCall, ModelReply, PartDelta, ReasoningPart, ReasoningStart

_HOLDERS = frozenset({ReasoningStart, PartDelta})


def with_origin(reply: ModelReply, call: ModelCall) -> ModelReply:
    """`reply`, with its reasoning that of `call`'s model."""
    if not any(isinstance(part, ReasoningPart) for part in reply.parts):
        return reply
    parts = (_owned(part, call) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(parts))


def set_origin(deltas: Iterable[Delta], call: ModelCall) -> None:
    """As `with_origin`, for the deltas of a stream, which are changed."""
    for delta in deltas:
        if type(delta) not in _HOLDERS:  # nearly all: this runs for every delta
            continue
        if isinstance(delta, ReasoningStart):
            delta.origin = _origin(delta.origin, call)
        elif isinstance(delta, PartDelta) and isinstance(delta.part, ReasoningPart):
            delta.part = _owned(delta.part, call)


def _owned(part: ReasoningPart, call: ModelCall) -> ReasoningPart:
    return replace(part, origin=_origin(part.origin, call))


def _origin(named: str | None, call: ModelCall) -> str | None:
    """The model asked, unless it is said to be another provider's."""
    if named is not None and not named.startswith(f"{call.provider}/"):
        return named
    return f"{call.provider}/{call.model}" if call.provider and call.model else named
