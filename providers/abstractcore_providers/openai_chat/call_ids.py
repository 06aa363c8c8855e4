"""Ids of tool calls where a vendor prescribes how many letters and digits they have."""

from __future__ import annotations

from collections.abc import Iterable

from abstractcore.schema import Message


class CallIds:
    """The ids to send: every call's own, or a new one for an id that is not allowed or was used before.

    A new id depends on what stands before only, so that a longer conversation keeps the ids. `size` None: all are
    allowed.
    """

    def __init__(self, messages: Iterable[Message], size: int | None) -> None:
        self._names: dict[tuple[int, str], str] = {}
        if size is None:
            return
        used: set[str] = set()
        for turn, message in enumerate(messages):
            for call in message.tool_calls:
                name = call.id if _is_allowed(call.id, size) and call.id not in used else _unused(used, size)
                used.add(name)
                self._names[turn, call.id] = name

    def of_call(self, turn: int, id: str) -> str:
        """The id of a call in message `turn`."""
        return self._names.get((turn, id), id)

    def of_result(self, turn: int, id: str) -> str:
        """The id in a result in message `turn`, which the schema puts right after its call's."""
        return self.of_call(turn - 1, id)


def _is_allowed(id: str, size: int) -> bool:
    return len(id) == size and id.isascii() and id.isalnum()


def _unused(used: set[str], size: int) -> str:
    """The first number that is free, counted from how many ids there are: at most as many are taken."""
    number = len(used)
    while f"{number:0{size}}" in used:
        number += 1
    return f"{number:0{size}}"
