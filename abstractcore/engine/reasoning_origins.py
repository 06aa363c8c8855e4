"""Sets the origin of reasoning to the model name of the call.

Vendors report another name: the dated version of an alias. With that origin, reasoning would not be sent back to the
alias.
"""

from __future__ import annotations

from dataclasses import replace

from ..schema import ModelCall, ModelReply, ReasoningPart


def with_origin(reply: ModelReply, call: ModelCall) -> ModelReply:
    """Returns `reply` with the model of `call` as the origin of its reasoning."""
    if not any(isinstance(part, ReasoningPart) for part in reply.parts):
        return reply
    parts = (owned(part, call) if isinstance(part, ReasoningPart) else part for part in reply.parts)
    return replace(reply, parts=tuple(parts))


def owned(part: ReasoningPart, call: ModelCall) -> ReasoningPart:
    """Returns `part` with the model of `call` as its origin."""
    return replace(part, origin=origin_of(part.origin, call))


def origin_of(named: str | None, call: ModelCall) -> str | None:
    """Returns the model of the call, unless the origin is another provider's."""
    if named is not None and not named.startswith(f"{call.provider}/"):
        return named
    return f"{call.provider}/{call.model}" if call.provider and call.model else named
