"""Compactions: items of the Responses API that stand for the earlier part of a conversation, as a summary of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from abstractcore.errors import InvalidInputError
from abstractcore.schema import Message, OpaquePart, Part

from .items import Item, new_id
from .seals import sealed, unsealed

_KIND, _CONTENT, _SUMMARY = "compaction", "encrypted_content", "summary"
_WORDS = "This is a summary of the conversation until here:\n\n"


def compaction(summary: str) -> Item:
    """Returns the item of a summary, which any model can continue from."""
    return {"id": new_id("cmp_"), "type": _KIND, _CONTENT: sealed({_SUMMARY: summary})}


def with_summaries(messages: tuple[Message, ...], *, own_format: bool) -> tuple[Message, ...]:
    """Returns messages in which the summary of each compaction is a message of the user.

    Raises `InvalidInputError` for a compaction of a vendor, unless the model speaks its format (`own_format`).
    """
    if not any(isinstance(part, OpaquePart) for message in messages for part in message.parts):
        return messages
    return tuple(each for message in messages for each in _opened(message, own_format))


def _opened(message: Message, own_format: bool) -> Iterator[Message]:
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
    """Returns what a part has as the content of a compaction; None for other parts."""
    if not isinstance(part, OpaquePart) or part.kind != _KIND or not isinstance(part.data, Mapping):
        return None
    return cast("Mapping[str, Any]", part.data).get(_CONTENT)


def _summary(content: object) -> str | None:
    found = unsealed(content)
    summary = cast("Mapping[str, Any]", found).get(_SUMMARY) if isinstance(found, dict) else None
    return summary if isinstance(summary, str) else None
