"""An access that lets everyone in, and remembers what their calls were settled with."""

from __future__ import annotations

import queue

from abstractcore import ModelCall
from abstractcore_server import CallLease, Grant, OpenAccess, Settlement
from abstractcore_server.requests import RequestHead
from tests.chaos_server import PATIENCE_SECONDS


class Accounts(OpenAccess):
    """Remembers settlements."""

    def __init__(self) -> None:
        self.begun: list[ModelCall] = []
        self.settled: list[Settlement] = []
        self._new: queue.Queue[Settlement] = queue.Queue()
        self.grant = Grant()

    async def admit(self, request: RequestHead) -> Grant:
        """Returns what the test grants."""
        await super().admit(request)
        return self.grant

    async def begin(self, grant: Grant, call: ModelCall) -> CallLease:
        """Lets a call in."""
        self.begun.append(call)
        return self

    async def settle(self, settlement: Settlement) -> None:
        """Remembers a settlement."""
        self.settled.append(settlement)
        self._new.put(settlement)

    def clear(self) -> None:
        """Forgets all settlements."""
        self.begun.clear()
        self.settled.clear()
        self.grant = Grant()
        self._new = queue.Queue()

    def wait(self) -> Settlement:
        """Returns the next settlement."""
        return self._new.get(timeout=PATIENCE_SECONDS)
