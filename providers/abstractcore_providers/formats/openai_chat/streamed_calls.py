"""Matches fragments of a stream with tool calls, in the ways in which servers number and name them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...common.reading import Object, count_of, mend, text_of


@dataclass(slots=True)
class StreamedChatCall:
    """A call that was begun, with the server's id, which may be empty. It is started when its name is known."""

    received: str
    name: str
    block: int
    fields: Object = field(default_factory=dict[str, Any])
    """The fields of its fragments until then; those that were not empty count."""
    has_arguments: bool = False

    def add(self, fragment: Object, name: str) -> None:
        """Adds a fragment before the call is started."""
        self.fields |= {key: value for key, value in fragment.items() if value or key not in self.fields}
        self.received = mend(text_of(self.fields, "id") or "")
        self.name = name


class StreamedCalls:
    """The calls of one stream, in their order; their blocks are numbered from `first_block`."""

    __slots__ = ("_at", "_first_block", "begun")

    def __init__(self, first_block: int) -> None:
        self.begun: list[StreamedChatCall] = []
        self._first_block = first_block
        self._at: dict[int, list[StreamedChatCall]] = {}

    def find(self, fragment: Object, name: str) -> StreamedChatCall | None:
        """Returns the call that `fragment` continues; None if it starts one.

        Calls are distinguished by index, by id if the index repeats, and else by a different name.
        """
        index, id = count_of(fragment, "index"), text_of(fragment, "id") or ""
        here = self._at.get(index or 0)
        if not here:
            return None
        last = here[-1]
        if id:
            id = mend(id)
            same = next((call for call in here if call.received == id), None)
            return last if same is None and not last.received and not (name and last.name) else same
        return None if name and last.name and (index is None or name != last.name) else last

    def begin(self, fragment: Object) -> StreamedChatCall:
        """Adds a new call."""
        call = StreamedChatCall("", "", self._first_block + len(self.begun))
        self.begun.append(call)
        self._at.setdefault(count_of(fragment, "index") or 0, []).append(call)
        return call
