"""`ApprovedCalls`: the results of calls that a client has approved, each of which runs once."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import replace

from ...errors import InvalidInputError
from ...schema import PendingCall, TextPart, ToolAnswer, ToolCall, ToolResult

_MOST = 256
"""How many results are kept: clients send an answer again soon or not at all."""


class ApprovedCalls:
    """The calls of this process. A client that retries sends its answer again: the call is not run again, and has the
    result of the first time. `owner` is whose call it is: clients choose the ids of items that they send.
    """

    def __init__(self) -> None:
        self._results: OrderedDict[bytes, ToolResult | None] = OrderedDict()

    def answer(self, owner: str, request: str, pending: PendingCall) -> ToolAnswer:
        """Returns how the call goes on that the item `request` asked about: it may run, or has its result.

        Raises `InvalidInputError` for one that has begun before, and has no result.
        """
        key = _key(owner, request, pending.call)
        if key not in self._results:
            self._results[key] = None
            if len(self._results) > _MOST:
                self._results.popitem(last=False)
            return pending.allow()
        result = self._results[key]
        if result is None:
            problem = (
                f"the call of {request[:100]!r} has begun before, and no result is known: it may have taken effect"
            )
            raise InvalidInputError(problem, path="input")
        return pending.result(*result.content, is_error=result.is_error)

    def keep(self, owner: str, request: str, call: ToolCall, result: ToolResult) -> None:
        """Keeps the text of the result of a call that has run: files would take too much memory."""
        key = _key(owner, request, call)
        if key in self._results:
            texts = tuple(part for part in result.content if isinstance(part, TextPart))
            self._results[key] = replace(result, content=texts)


def _key(owner: str, request: str, call: ToolCall) -> bytes:
    return hashlib.sha256(json.dumps([owner, request, call.name, call.arguments_text]).encode()).digest()
