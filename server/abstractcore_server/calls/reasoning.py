"""Reasoning and summaries that come back through clients: their signatures as opaque text."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import (
    Delta,
    Message,
    ModelReply,
    OpaquePart,
    Part,
    ReasoningEnd,
    ReasoningPart,
    ReasoningStart,
    ToolCall,
    ToolCallEnd,
    ToolCallStart,
    ToolResult,
)

from ..responses.items import Item, new_id

_MARK = b"abstractcore:1:"
"""A multiple of three bytes, so that its base64 is the beginning of that of the whole."""
BEGINNING = base64.b64encode(_MARK).decode()
"""How every opaque text of the server begins."""


def encode_opaque(content: Any) -> str:
    """Returns JSON data as opaque text: base64 after a mark. It is not a secret, and not signed."""
    return base64.b64encode(_MARK + json.dumps(content).encode()).decode()


def decode_opaque(value: object) -> Any:
    """Returns the data of an opaque text; None for anything else."""
    if not isinstance(value, str) or not value.startswith(BEGINNING):
        return None
    try:
        return json.loads(base64.b64decode(value, validate=True)[len(_MARK) :])
    except (ValueError, RecursionError):
        return None


T = TypeVar("T", ReasoningPart, ReasoningEnd)
_ID_MARK = "_ac1_"
OPAQUE_MARKS = (BEGINNING.encode(), _ID_MARK.encode())
"""What is in each request with opaque text of the server, which its provider must not get as it is."""
OPAQUE_PARTS = (OpaquePart, ReasoningPart, ToolCall, ToolResult)
"""Parts that may have it."""


class OpaqueSignature(NamedTuple):
    """The contents of an opaque signature: the model that wrote the reasoning, and what it signed it with."""

    origin: str
    signature: str | None
    redacted_data: str | None


def decode_signature(value: str | None) -> OpaqueSignature | None:
    """Returns the contents of an opaque signature; None for any other."""
    found = decode_opaque(value)
    if not isinstance(found, list):
        return None
    try:
        decoded = OpaqueSignature(*cast("list[Any]", found))
    except TypeError:
        return None
    are_texts = all(each is None or isinstance(each, str) for each in decoded)  # pyright: ignore[reportUnnecessaryIsInstance]
    return decoded if are_texts and decoded.origin else None


def with_opaque_signatures(reply: ModelReply, origin: str) -> ModelReply:
    """Returns a reply of the model `origin` with opaque signatures."""
    if not any(isinstance(part, ReasoningPart | ToolCall) for part in reply.parts):
        return reply
    return replace(reply, parts=tuple(_with_opaque_signature(part, origin) for part in reply.parts))


def _with_opaque_signature(part: Part, origin: str) -> Part:
    if isinstance(part, ToolCall) and part.signature is not None:
        return replace(part, id=encode_signed_id(part.id, origin, part.signature), signature=None)
    return _encoded_signature(part, part.origin) if isinstance(part, ReasoningPart) else part


def encode_signed_id(id: str, origin: str, signature: str) -> str:
    """Returns the id of a tool call with its signature, in characters that every API allows in ids."""
    content = base64.urlsafe_b64encode(json.dumps([origin, signature]).encode()).decode().rstrip("=")
    return f"{id}{_ID_MARK}{content}"


def decode_signed_id(id: str) -> tuple[str, str | None, str | None]:
    """Returns the id of a tool call, the model that made it and its signature; None for both if it has none."""
    plain, mark, content = id.partition(_ID_MARK)
    if not mark:
        return id, None, None
    try:
        origin, signature = json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))
    except (ValueError, TypeError):
        return id, None, None
    return (plain, origin, signature) if isinstance(origin, str) and isinstance(signature, str) else (id, None, None)


def _encoded_signature(holder: T, origin: str | None) -> T:
    """Returns reasoning with one signature, which holds all: few formats have more than one field."""
    if not origin or (holder.signature is None and holder.redacted_data is None):
        return holder
    opaque = encode_opaque([origin, holder.signature, holder.redacted_data])
    return replace(holder, signature=opaque, redacted_data=None)


class StreamSignatureEncoder:
    """Encodes the signatures of a stream of the model `origin`."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._origins: dict[int, str | None] = {}

    def encode_signatures(self, batch: Sequence[Delta]) -> list[Delta]:
        """Returns the deltas of one network chunk with opaque signatures. A tool call whose signature comes in a
        later chunk than its id keeps none: vendors that sign calls send them whole.
        """
        ends = (delta for delta in batch if isinstance(delta, ToolCallEnd))
        signatures = {delta.block: delta.signature for delta in ends if delta.signature is not None}
        return [self._encode(delta, signatures) for delta in batch]

    def _encode(self, delta: Delta, signatures: Mapping[int, str]) -> Delta:
        if isinstance(delta, ToolCallStart) and delta.block in signatures:
            return replace(delta, id=encode_signed_id(delta.id, self._origin, signatures[delta.block]))
        if isinstance(delta, ReasoningStart):
            self._origins[delta.block] = delta.origin
        elif isinstance(delta, ReasoningEnd):
            return _encoded_signature(delta, self._origins.get(delta.block))
        return delta


def with_origins(messages: tuple[Message, ...], parsed: str, actual: str, *, own_format: bool) -> tuple[Message, ...]:
    """Returns a conversation whose reasoning has the model that wrote it as its origin, and whose summaries are
    messages of the user; raises as `with_summaries` does.

    The format has parsed it with the origin `parsed`. An opaque signature brings its origin; other reasoning is of the
    model `actual`, if the client speaks that provider's own format (`own_format`), or has no signature.
    """

    def own(part: Part) -> Part:
        if isinstance(part, ToolCall):
            id, origin, signature = decode_signed_id(part.id)
            return part if origin is None else replace(part, id=id, signature=signature if origin == actual else None)
        if isinstance(part, ToolResult):
            id = decode_signed_id(part.call_id)[0]
            return part if id == part.call_id else replace(part, call_id=id)
        return own_reasoning(part) if isinstance(part, ReasoningPart) else part

    def own_reasoning(part: ReasoningPart) -> ReasoningPart:
        decoded = decode_signature(part.signature)
        if decoded is not None:
            return replace(
                part, origin=decoded.origin, signature=decoded.signature, redacted_data=decoded.redacted_data
            )
        return replace(part, origin=actual) if part.origin == parsed and (own_format or part.is_plain) else part

    messages = with_summaries(messages, own_format=own_format)
    return tuple(replace(message, parts=_whole(message.parts, map(own, message.parts))) for message in messages)


def _whole(given: Sequence[Part], owned_parts: Iterable[Part]) -> tuple[Part, ...]:
    """Returns parts in which an opaque signature without a text is that of the reasoning before it: streams of some
    APIs send the signature after the text, and their clients return both as they came.
    """
    whole: list[Part] = []
    for part, own in zip(given, owned_parts, strict=True):
        before = whole[-1] if whole else None
        is_end = isinstance(part, ReasoningPart) and not part.text and decode_signature(part.signature) is not None
        if is_end and isinstance(own, ReasoningPart) and isinstance(before, ReasoningPart) and before.is_plain:
            whole[-1] = replace(own, text=before.text)
        else:
            whole.append(own)
    return tuple(whole)


_KIND, _CONTENT, _SUMMARY = "compaction", "encrypted_content", "summary"
_WORDS = "This is a summary of the conversation until here:\n\n"


def compaction(summary: str) -> Item:
    """Returns the item of a summary, which any model can continue from."""
    return {"id": new_id("cmp_"), "type": _KIND, _CONTENT: encode_opaque({_SUMMARY: summary})}


def with_summaries(messages: tuple[Message, ...], *, own_format: bool) -> tuple[Message, ...]:
    """Returns messages in which the summary of each compaction is a message of the user.

    Raises `InvalidInputError` for a compaction of a vendor, unless the model speaks its format (`own_format`).
    """
    return tuple(each for message in messages for each in _expand_compactions(message, own_format))


def _expand_compactions(message: Message, own_format: bool) -> Iterator[Message]:
    kept: list[Part] = []
    for part in message.parts:
        content = _content(part)
        summary = _summary(content)
        if summary is None:
            if content is not None and not own_format:
                reason = "it is a compaction that only the vendor's models can read: send the items that it stands for"
                raise InvalidInputError(reason, path="input")
            kept.append(part)
            continue
        if kept:
            yield replace(message, parts=tuple(kept))
        yield Message.user(_WORDS + summary)
        kept = []
    if kept or not message.parts:
        yield message if len(kept) == len(message.parts) else replace(message, parts=tuple(kept))


def _content(part: Part) -> object:
    """Returns the content of a part that is a compaction; None for other parts."""
    if not isinstance(part, OpaquePart) or part.kind != _KIND or not isinstance(part.data, Mapping):
        return None
    return cast("Mapping[str, Any]", part.data).get(_CONTENT)


def _summary(content: object) -> str | None:
    found = decode_opaque(content)
    summary = cast("Mapping[str, Any]", found).get(_SUMMARY) if isinstance(found, dict) else None
    return summary if isinstance(summary, str) else None
