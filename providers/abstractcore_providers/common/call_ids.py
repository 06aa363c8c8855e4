"""Ids of tool calls as a format takes them, and no id twice in a conversation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import replace
from typing import cast

from abstractcore.schema import NO_OPTIONS, Message, ProviderOptions, ToolCall, freeze_object

from .item_options import AS_RECEIVED


def numbered(turn: int, index: int, used: Container[str]) -> str:
    """`call_{turn}_{index}`, with a number behind it if that is used."""
    name = f"call_{turn}_{index}"
    number = 0
    unused = name
    while unused in used:
        number += 1
        unused = f"{name}_{number}"
    return unused


class CallIds:
    """The ids to send: those that `is_legal` lets pass, given the number of their message, and new ones for the others.

    `new` makes an unused one for the call at an index of a message. It depends on what stands before only, so that a
    longer conversation keeps the names.
    """

    def __init__(
        self,
        messages: Iterable[Message],
        is_legal: Callable[[int, str], object],
        new: Callable[[int, int, Collection[str]], str] = numbered,
    ) -> None:
        self._names: dict[tuple[int, str], str] = {}
        self.renames = False
        """Whether any id is another than the call's own."""
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
        """The id of a call in message `turn`."""
        return self._names.get((turn, id), id)

    def of_result(self, turn: int, id: str) -> str:
        """The id in a result in message `turn`, which the schema puts right after its call's."""
        return self.of_call(turn - 1, id)


class ReceivedIds:
    """The ids of the calls of one reply, as they come: the vendor's, but no id twice.

    A call without an id is `call_{number}`, and so is one whose id another has already: that cannot be answered apart
    from it. What it was called stays in its `provider_options`, under `AS_RECEIVED`; it goes back as it is called here.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(
        self, received: str | None, number: int, options: ProviderOptions = NO_OPTIONS
    ) -> tuple[str, ProviderOptions]:
        """The id of the call with this number, and its options."""
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
        """`call`, which has the vendor's id or an empty one, under its id."""
        id, options = self.give(call.id, number, call.provider_options)
        return call if id == call.id else replace(call, id=id, provider_options=options)
