"""Makes the ids of a reply's tool calls unique in its conversation.

A decoder knows one reply only: calls that came without an id have the same numbers in every turn, and so have those of
vendors that count anew. Clients keep results by id for a whole conversation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from .calls import ModelCall
from .messages import Message
from .parts import Part, ToolCall
from .replies import ModelReply

_MADE = re.compile(r"call_\d+_\d+(_\d+)?")
"""Ids that `CallIds` makes, and those that are made for calls which a client returns without theirs."""


class CallIds:
    """The ids of the tool calls of a conversation, and of the reply that continues it: those of its `messages`, and of
    further `replies`. New ids depend on nothing else, so that a request that is sent again gets the same ones.

    Once a conversation has ids that were made for it, all further ones are: it may come from a client that returns no
    ids, and has the vendor's nevertheless, which a vendor may repeat.
    """

    def __init__(self, messages: Sequence[Message], replies: Sequence[ModelReply] = ()) -> None:
        self._used = {call.id for each in (*messages, *replies) for call in each.tool_calls}
        self._turn = sum(message.role == "assistant" for message in messages) + len(replies)
        self._count = 0
        self._makes_all = any(map(_MADE.fullmatch, self._used))

    def new(self) -> str:
        """Returns an id for the next call of the reply: `call_{turn}_{index}`, with a number appended if it is in
        use.
        """
        base = id = f"call_{self._turn}_{self._count}"
        number = 1
        while id in self._used:
            id, number = f"{base}_{number}", number + 1
        return self._add(id)

    def unique(self, id: str) -> str:
        """Returns the id of the next call of the reply: a new one if `id` is in use, empty, or may be of an earlier
        turn.
        """
        return self._add(id) if id and id not in self._used and not self._makes_all else self.new()

    def in_reply(self, reply: ModelReply) -> ModelReply:
        """Returns the reply, each of whose calls has an id of its own."""
        parts = tuple(self._in_part(part) for part in reply.parts)
        return reply if parts == reply.parts else replace(reply, parts=parts)

    def _in_part(self, part: Part) -> Part:
        return replace(part, id=self.unique(part.id)) if isinstance(part, ToolCall) else part

    def _add(self, id: str) -> str:
        self._used.add(id)
        self._count += 1
        return id


def with_unique_ids(reply: ModelReply, call: ModelCall) -> ModelReply:
    """Returns `reply` without ids of tool calls that are in use in the conversation of `call`."""
    return CallIds(call.messages).in_reply(reply) if reply.tool_calls else reply
