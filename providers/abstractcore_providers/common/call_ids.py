"""Ids of tool calls: valid in the format, and unique within a conversation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import replace
from typing import cast

from abstractcore.schema import NO_OPTIONS, Message, ProviderOptions, ToolCall, freeze_object

from .item_options import AS_RECEIVED

_LONGEST_OPENAI_ID = 64


def numbered(turn: int, index: int, used: Container[str]) -> str:
    """Returns `call_{turn}_{index}`, with a number appended if it is in use."""
    name = f"call_{turn}_{index}"
    number = 0
    unused = name
    while unused in used:
        number += 1
        unused = f"{name}_{number}"
    return unused


def fits_openai(id: str) -> bool:
    """Whether OpenAI accepts the id of a call: chat completions and Responses reject those over 64 characters."""
    return 0 < len(id) <= _LONGEST_OPENAI_ID


class SentCallIds:
    """Maps ids to those sent: ids that `is_legal` accepts, given the index of their message, are kept; others are
    replaced.

    `new` generates an unused id for the call at an index of a message. It depends only on earlier messages, so that ids
    stay the same as the conversation grows.
    """

    def __init__(
        self,
        messages: Iterable[Message],
        is_legal: Callable[[int, str], object],
        new: Callable[[int, int, Collection[str]], str] = numbered,
    ) -> None:
        self._names: dict[tuple[int, str], str] = {}
        self.renames = False
        """Whether any id differs from the call's own."""
        used: set[str] = set()
        for turn, message in enumerate(messages):
            if message.role != "assistant":
                continue
            for index, call in enumerate(message.tool_calls):
                name = call.id
                if not is_legal(turn, name) or name in used:
                    name = new(turn, index, used)
                    self.renames = True
                used.add(name)
                self._names[turn, call.id] = name

    def of_call(self, turn: int, id: str) -> str:
        """Returns the id of a call in message `turn`."""
        return self._names.get((turn, id), id)

    def of_result(self, turn: int, id: str) -> str:
        """Returns the call id of a result in message `turn`; the schema puts results right after their calls."""
        return self.of_call(turn - 1, id)


class ReceivedIds:
    """Assigns the ids of the calls of one reply: the vendor's ids, made unique.

    A call without an id gets `call_{number}`, and so does one whose id is already in use, since its result could not be
    matched. The received id is kept in `provider_options` under `AS_RECEIVED`; the new one is sent back.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(
        self, received: str | None, number: int, options: ProviderOptions = NO_OPTIONS
    ) -> tuple[str, ProviderOptions]:
        """Returns the id of the call with this number, and its options."""
        if received and received not in self._taken:
            self._taken.add(received)
            return received, options
        id = f"call_{number}"
        while id in self._taken:
            id += "_"
        self._taken.add(id)
        if received:
            noted = freeze_object({**options, AS_RECEIVED: {"id": received}}, "provider_options")
            options = cast(ProviderOptions, noted)
        return id, options

    def name(self, call: ToolCall, number: int) -> ToolCall:
        """Returns `call`, which has the vendor's id or an empty one, with its assigned id."""
        id, options = self.give(call.id, number, call.provider_options)
        return call if id == call.id else replace(call, id=id, provider_options=options)
