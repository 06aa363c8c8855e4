"""Whose reasoning it is: the model as it was called, by whatever name the provider answers under.

A call to an alias is answered in the name of a dated model. The next call goes to the alias again, and takes the
reasoning with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..schema import Delta, ModelCall, ModelReply, PartDelta, ReasoningPart, ReasoningStart


def origin_of(call: ModelCall) -> str:
    """`provider/model`, as reasoning names it."""
    return f"{call.provider}/{call.model}"


def own_reply(reply: ModelReply, origin: str) -> ModelReply:
    """`reply` with its reasoning named after `origin`."""
    if not any(isinstance(part, ReasoningPart) for part in reply.parts):
        return reply
    parts = (replace(part, origin=origin) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(parts))


def own_deltas(deltas: Iterable[Delta], origin: str) -> None:
    """As `own_reply`, for the deltas of a stream, in place."""
    for delta in deltas:
        if type(delta) is ReasoningStart:
            delta.origin = origin
        elif type(delta) is PartDelta and isinstance(delta.part, ReasoningPart):
            delta.part = replace(delta.part, origin=origin)
