"""Sets the origin of reasoning in the deltas of a stream to the model name of the call."""

from __future__ import annotations

from collections.abc import Iterable

from ..schema import Delta, ModelCall, PartDelta, ReasoningPart, ReasoningStart
from .reasoning_origins import origin_of, owned

_HOLDERS = frozenset({ReasoningStart, PartDelta})


def set_origin(deltas: Iterable[Delta], call: ModelCall) -> None:
    """Sets the origin in deltas of a stream, in place."""
    for delta in deltas:
        if type(delta) not in _HOLDERS:  # the most frequent case: this runs for every delta
            continue
        if isinstance(delta, ReasoningStart):
            delta.origin = origin_of(delta.origin, call)
        elif isinstance(delta, PartDelta) and isinstance(delta.part, ReasoningPart):
            delta.part = owned(delta.part, call)
