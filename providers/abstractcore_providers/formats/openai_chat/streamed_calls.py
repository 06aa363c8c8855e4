"""Matches fragments of a stream with tool calls, in the ways in which servers number and name them."""

from __future__ import annotations

from dataclasses import dataclass

from ...common.json_reading import Object, count_of, text_of
from ...common.surrogates import mend


@dataclass(slots=True)
class StreamedCall:
    """A call that was started, with the server's id, which may be empty."""

    received: str
    name: str
    block: int


class StreamedCalls:
    """The calls of one stream, in their order; their blocks are numbered from `first_block`."""

    __slots__ = ("_at", "_first_block", "begun")

    def __init__(self, first_block: int) -> None:
        self.begun: list[StreamedCall] = []
        self._first_block = first_block
        self._at: dict[int, list[StreamedCall]] = {}

    def find(self, fragment: Object, name: str) -> StreamedCall | None:
        """Returns the call that `fragment` continues; None if it starts one.

        Calls are distinguished by index, by id if the index repeats, and else by a different name.
        """
        index, id = count_of(fragment, "index"), mend(text_of(fragment, "id") or "")
        here = self._at.get(index or 0)
        if not here:
            return None
        last = here[-1]
        if id:
            same = next((call for call in here if call.received == id), None)
            return last if same is None and not last.received and not name else same
        return None if name and (index is None or name != last.name) else last

    def begin(self, fragment: Object, name: str) -> StreamedCall:
        """Adds a new call."""
        id, number = mend(text_of(fragment, "id") or ""), len(self.begun)
        call = StreamedCall(id, name, self._first_block + number)
        self.begun.append(call)
        self._at.setdefault(count_of(fragment, "index") or 0, []).append(call)
        return call
