"""Ids of tool calls as they are sent: some vendors prescribe their length."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from abstractcore.schema import Message

from ...common.conversations import SentCallIds, fits_openai


def call_ids(messages: Iterable[Message], size: int | None) -> SentCallIds:
    """Returns the ids to send: those of the prescribed `size`, and numbers for the others.

    Where `size` is None, those that OpenAI accepts, and new ones for the others.
    """
    if size is None:
        return SentCallIds(messages, lambda _, id: fits_openai(id))

    def is_allowed(turn: int, id: str) -> bool:
        return len(id) == size and id.isascii() and id.isalnum()

    def new(turn: int, index: int, used: Collection[str]) -> str:
        """Returns the first unused number, starting from the number of ids, of which at most as many are in use."""
        number = len(used)
        while f"{number:0{size}}" in used:
            number += 1
        return f"{number:0{size}}"

    return SentCallIds(messages, is_allowed, new)
