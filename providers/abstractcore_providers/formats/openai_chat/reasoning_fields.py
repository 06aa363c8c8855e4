"""The field of an assistant's message in which its reasoning is sent back.

A server that passes on models of many vendors wants it in the field in which it came (`RECEIVED`). The part's signature
keeps the name of that field; the usual one needs none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from abstractcore.schema import Message, Part, ReasoningPart, TextPart

from ...common.reading import Object
from .dialect import BLOCKS, DETAILS, PIECES, RECEIVED, TAGS, USUAL, ChatDialect
from .reasoning_details import is_block
from .think_tags import is_separated, split_thought

_SIGNATURES = {field: f'{{"field":"{field}"}}' for field in ("reasoning", PIECES, TAGS)}
_FIELDS = {signature: field for field, signature in _SIGNATURES.items()}


def signature_for(field: str | None, dialect: ChatDialect) -> str | None:
    """Returns the signature of reasoning that came in `field`."""
    return _SIGNATURES.get(field or "") if dialect.reasoning_field == RECEIVED else None


def field_for(message: Message, dialect: ChatDialect, origin: str | None) -> str | None:
    """Returns the field for the reasoning in an answer of the model `origin`; None if none is sent back."""
    if origin is None or dialect.reasoning_field != RECEIVED:
        return None if origin is None else dialect.reasoning_field
    own = [part for part in message.parts if isinstance(part, ReasoningPart) and part.origin == origin]
    for part in own:
        if not part.is_plain and part.signature not in _FIELDS:
            return BLOCKS if is_block(part) else DETAILS
    return _FIELDS.get(own[0].signature or "", USUAL) if own else USUAL


def without_field(part: ReasoningPart) -> ReasoningPart:
    """Returns the part without a signature that names the field."""
    return replace(part, signature=None) if part.signature in _FIELDS else part


def with_reasoning(parts: tuple[Part, ...], data: Object, dialect: ChatDialect, origin: str | None) -> tuple[Part, ...]:
    """Returns the parts of the content of the answer `data`: its reasoning, also that between tags, keeps where it
    came.
    """
    signature = signature_for(PIECES, dialect)
    if signature is not None:
        parts = tuple(replace(part, signature=signature) if isinstance(part, ReasoningPart) else part for part in parts)
    first = parts[0] if parts else None
    if dialect.reasoning_field not in (RECEIVED, TAGS) or not isinstance(first, TextPart) or is_separated(data):
        return parts
    thought, text = split_thought(first.text)
    if not thought:
        return parts
    answer = (replace(first, text=text),) if text else ()
    return (ReasoningPart(thought, signature_for(TAGS, dialect), origin=origin), *answer, *parts[1:])


def turns_with_calls(messages: Iterable[Message]) -> frozenset[int]:
    """Returns the indexes of messages in turns in which tools are called; a turn begins with a user's message."""
    found: set[int] = set()
    turn: list[int] = []
    called = False
    for index, message in enumerate(messages):
        if message.role == "user":
            turn, called = [], False
        turn.append(index)
        called = called or bool(message.tool_calls)
        if called:
            found.update(turn)
    return frozenset(found)
