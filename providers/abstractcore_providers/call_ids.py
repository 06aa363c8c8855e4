"""Ids of tool calls as a format takes them, and no id twice in a conversation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable

from abstractcore.schema import Message


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
