"""Sets the origin of reasoning to the model name of the call.

Vendors report another name: the dated version of an alias. With that origin, reasoning would not be sent back to the
alias.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..schema import Delta, ModelCall, ModelReply, PartDelta, ReasoningPart, ReasoningStart

_HOLDERS = frozenset({ReasoningStart, PartDelta})


def with_origin(reply: ModelReply, call: ModelCall) -> ModelReply:
    """Returns `reply` with the model of `call` as the origin of its reasoning."""
    if not any(isinstance(part, ReasoningPart) for part in reply.parts):
        return reply
    parts = (_owned(part, call) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(parts))


def set_origin(deltas: Iterable[Delta], call: ModelCall) -> None:
    """Sets the origin in deltas of a stream, in place."""
    for delta in deltas:
        if type(delta) not in _HOLDERS:  # the most frequent case: this runs for every delta
            continue
        if isinstance(delta, ReasoningStart):
            delta.origin = _origin(delta.origin, call)
        elif isinstance(delta, PartDelta) and isinstance(delta.part, ReasoningPart):
            delta.part = _owned(delta.part, call)


def _owned(part: ReasoningPart, call: ModelCall) -> ReasoningPart:
    return replace(part, origin=_origin(part.origin, call))


def _origin(named: str | None, call: ModelCall) -> str | None:
    """Returns the model of the call, unless the origin is another provider's."""
    if named is not None and not named.startswith(f"{call.provider}/"):
        return named
    return f"{call.provider}/{call.model}" if call.provider and call.model else named
