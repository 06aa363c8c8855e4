"""`ApprovedCalls`: the results of calls that a client has approved, each of which runs once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from abstractcore.errors import InvalidInputError
from abstractcore.schema import PendingCall, TextPart, ToolAnswer, ToolCall, ToolResult

from ..failures import RequestRefused
from ..stored_state import StoredState

if TYPE_CHECKING:
    from ..store.approved_calls import BegunCall


class ApprovedCalls:
    """The calls of all processes with the same store. A client that retries sends its answer again: the call is not run
    again, and has the result of the first time. `owner` is whose call it is: clients choose the ids of items that they
    send.
    """

    def __init__(self, stored: StoredState) -> None:
        self._stored = stored
        self._saving: set[asyncio.Task[None]] = set()

    async def answers(self, owner: str, approved: Sequence[tuple[str, PendingCall]]) -> list[ToolAnswer]:
        """Returns how calls go on, each with the id of the item that asked about it: they may run, or have a result.

        Raises `InvalidInputError` for one that has begun before, and has no result: then no other one may run either.
        Raises `RequestRefused` while the database is down.
        """
        await self.saved()
        ids = [_digest(owner, request, pending.call) for request, pending in approved]
        begun = await self._stored.run(lambda tables: tables.approved_calls.begin({*ids}))
        return [_answer(request, pending, begun.get(id)) for id, (request, pending) in zip(ids, approved, strict=True)]

    def keep(self, owner: str, request: str, call: ToolCall, result: ToolResult) -> None:
        """Begins to save the text of the result of a call that has run: files would take too much room."""
        texts = [part.text for part in result.content if isinstance(part, TextPart)]
        data: dict[str, object] = {"texts": texts, "is_error": result.is_error}
        saving = asyncio.create_task(self._save(_digest(owner, request, call), data))
        self._saving.add(saving)
        saving.add_done_callback(self._saving.discard)

    async def _save(self, id: str, data: dict[str, object]) -> None:
        with suppress(RequestRefused):  # of a database that is down, which was logged: no result will be known
            await self._stored.run(lambda tables: tables.approved_calls.end(id, data))

    async def saved(self) -> None:
        """Waits until all results are saved."""
        if self._saving:
            await asyncio.wait([*self._saving])


def _answer(request: str, pending: PendingCall, begun: BegunCall | None) -> ToolAnswer:
    if begun is None:
        return pending.allow()
    if begun.result is None:
        problem = f"the call of {request[:100]!r} has begun before, and no result is known: it may have taken effect"
        raise InvalidInputError(problem, path="input")
    return pending.result(*map(TextPart, begun.result["texts"]), is_error=begun.result["is_error"])


def _digest(owner: str, request: str, call: ToolCall) -> str:
    return hashlib.sha256(json.dumps([owner, request, call.name, call.arguments_text]).encode()).hexdigest()
