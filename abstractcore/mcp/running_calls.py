"""`RunningCalls`: the calls that run on a connection, and which of them a question of the server is of."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from mcp_types import ElicitResult

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams

    from .inputs import CallAnswers


class RunningCalls:
    """The calls that run on one connection. Servers before revision 2026-07-28 do not say which a question is of."""

    def __init__(self) -> None:
        self._running: list[CallAnswers] = []
        self._asking = 0
        self._is_exclusive = False
        self._changed = anyio.Event()

    def __bool__(self) -> bool:
        """Returns whether any call runs."""
        return bool(self._running)

    @asynccontextmanager
    async def with_others(self, running: CallAnswers, *, is_exclusive: bool) -> AsyncGenerator[None]:
        """Notes a call while it runs. An exclusive one runs beside no other: the user's answers to its questions must
        not answer those of another call.
        """
        while self._is_exclusive or (is_exclusive and self._running):
            await self._changed.wait()
        self._is_exclusive = is_exclusive
        self._running.append(running)
        try:
            yield
        finally:
            self._running.remove(running)
            self._is_exclusive = False
            self._notify_changed()

    async def answer(self, params: ElicitRequestParams) -> ElicitResult:
        """Answers a question that a server asks while a call runs.

        The call is suspended, and made again with the answer: the server learns that the question was dismissed. The
        question may be of any call that has none yet: it waits until the others have ended, or ask too.
        """
        self._asking += 1
        self._notify_changed()
        try:
            while len(self._without_questions()) > self._asking:
                await self._changed.wait()
            asking = self._without_questions() or self._running
            return asking[0].answer(params) if asking else ElicitResult(action="cancel")
        finally:
            self._asking -= 1
            self._notify_changed()

    def _without_questions(self) -> list[CallAnswers]:
        return [each for each in self._running if not each.questions]

    def _notify_changed(self) -> None:
        """Wakes all who wait for a change of the running calls and their questions."""
        self._changed.set()
        self._changed = anyio.Event()
