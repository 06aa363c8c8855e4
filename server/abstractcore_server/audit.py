"""`AuditLog`: who used the server, when and for what, as JSON lines: never what was said, and never a key."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pydantic_core import to_json

from abstractcore.private_files import private
from abstractcore.schema import ModelCall

from .access import Access, Grant, Lease, Settlement
from .guard_decisions import GuardDecision
from .receipts import Receipt

GONE = 499
"""The status of a request whose client left before the response began."""
_log = logging.getLogger("abstractcore.server")


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A call of the tool `tool` of an MCP server that this server has run; how it ended, after how many seconds."""

    server: str
    tool: str
    outcome: str
    seconds: float


@dataclass(slots=True)
class Entry:
    """One request. `key` is the name of its key, `route` the pattern of its path, `model` the last one called.

    `tokens` are those of all its calls, `cost` theirs in US dollars, None if one is unknown; `decisions` those of
    guards. `background` is the status that a response in the background ended with: an entry of its own, after that of
    its request.
    """

    trace_id: str
    method: str
    route: str | None
    key: str | None = None
    model: str | None = None
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Decimal(0)
    estimated: bool = False
    background: str | None = None
    tools: list[ToolRun] = field(default_factory=list[ToolRun])
    receipt: Receipt = field(default_factory=Receipt)
    decisions: list[GuardDecision] = field(default_factory=list[GuardDecision])
    is_written: bool = False

    async def begin(self, access: Access, grant: Grant, call: ModelCall) -> Lease:
        """Lets a call in, as `access` does, and counts it here when it is settled."""
        self.model = f"{call.provider}/{call.model}"
        return _CountedLease(self, await access.begin(grant, call))

    def count(self, settlement: Settlement) -> None:
        """Adds what a call used."""
        self.calls += 1
        self.input_tokens += settlement.usage.input or 0
        self.output_tokens += settlement.usage.output or 0
        costs = [each for each in (self.cost, settlement.cost) if each is not None]
        self.cost = sum(costs, Decimal(0)) if len(costs) == 2 else None
        self.estimated = self.estimated or settlement.estimated

    def data(self, status: int | None, reply: str, now: float) -> dict[str, Any]:
        """Returns the entry of a request that was answered with a status, None if its client left before; `reply` is
        the SHA-256 of the body that was sent.
        """
        return {
            "time": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
            "key": self.key,
            "method": self.method,
            "route": self.route,
            "model": self.model,
            "status": GONE if status is None else status,
            "calls": self.calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost": None if self.cost is None else f"{self.cost:f}",
            "estimated": self.estimated,
            "trace_id": self.trace_id,
            **({} if self.background is None else {"background": self.background}),
            **({"guards": [decision.data() for decision in self.decisions]} if self.decisions else {}),
            **({"tools": [asdict(each) for each in self.tools]} if self.tools else {}),
            **({"receipt": self.receipt.data(reply)} if self.receipt.calls else {}),
        }


class _CountedLease:
    """A lease that is counted in the entry of its request."""

    def __init__(self, entry: Entry, lease: Lease) -> None:
        self._entry = entry
        self._lease = lease

    async def settle(self, settlement: Settlement) -> None:
        """Counts the call, and settles its lease."""
        self._entry.count(settlement)
        await self._lease.settle(settlement)


class AuditLog:
    """Appends a line for each request to a file that only its owner may read. A line is one write, so several processes
    may share the file; it is opened for each, so it may be renamed at any time.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def write(self, entry: Entry, status: int | None, reply: str) -> None:
        """Appends the line of a request, once; a failure is logged, and the request goes on."""
        if entry.is_written:
            return
        entry.is_written = True
        try:
            with open(self._path, "ab", buffering=0, opener=private) as file:
                file.write(to_json(entry.data(status, reply, time.time())) + b"\n")
        except OSError as error:
            _log.error("the audit log %s was not written: %s", self._path, error.strerror)
