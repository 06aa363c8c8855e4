"""Makes the ids of the tool calls in a stream unique in its conversation."""

from __future__ import annotations

from collections.abc import Iterable

from ..schema import Delta, ModelCall, ToolCallStart
from ..schema.call_ids import CallIds


class StreamedIds:
    """Sets the ids of one stream's tool calls, in place. The conversation is read when the first call starts."""

    def __init__(self, call: ModelCall) -> None:
        self._call = call
        self._ids: CallIds | None = None

    def set_in(self, deltas: Iterable[Delta]) -> None:
        """Sets the ids in the next deltas of the stream."""
        for delta in deltas:
            if type(delta) is ToolCallStart:
                if self._ids is None:
                    self._ids = CallIds(self._call.messages)
                delta.id = self._ids.unique(delta.id)
