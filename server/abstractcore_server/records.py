"""What is recorded of requests: receipts with digests of all that went through, lines of the audit log, and counts."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import jiter
from pydantic_core import to_json

from abstractcore.errors import InvalidInputError
from abstractcore.private_files import make_private_folder, private
from abstractcore.schema import CostSums, ModelCall

from .access.admission import AccessControl, CallLease, Grant, Settlement
from .access.content_guards import GuardDecision
from .calls.passthrough import Relay, SentCall, changed_paths, digest_of

RECEIPT_HEADER = "x-abstractcore-receipt"
_MOST_PATHS = 20
"""How many changed paths of a call a header holds."""
_MOST_CALLS = 8
"""How many calls a header holds, the last ones: proxies refuse long headers."""
_FILE = "receipt.json"
_COMPACT = json.JSONEncoder(separators=(",", ":"))
_log = logging.getLogger("abstractcore.server")


@dataclass(slots=True)
class Receipt:
    """What one request, with the body `request`, became. `reply_changes` are the paths in which guards, or the client's
    name of the model, have changed the reply: those of its JSON, of a stream its blocks.
    """

    request: bytes = b""
    reply_changes: tuple[str, ...] = ()
    _relays: list[tuple[str, Relay]] = field(default_factory=list[tuple[str, Relay]])

    def add(self, model: str, relay: Relay) -> None:
        """Adds what a model is about to be sent, in one request or in several rounds; a fallback is one more."""
        self._relays.append((model, relay))

    def add_reply_changes(self, paths: Iterable[str]) -> None:
        """Adds paths in which the reply was changed."""
        self.reply_changes = tuple(dict.fromkeys((*self.reply_changes, *paths)))

    @property
    def calls(self) -> list[tuple[str, SentCall]]:
        """The calls that were sent, each with its model."""
        return [(model, call) for model, relay in self._relays for call in relay.calls]

    def header(self, reply: str | None = None) -> str:
        """Returns the value of the header; without `reply`, the digest of the body, that of a stream, which has begun
        only.
        """
        data = self.data(reply, is_begun=reply is None)
        if len(data["calls"]) > _MOST_CALLS:
            data |= {"calls": data["calls"][-_MOST_CALLS:], "more_calls": len(data["calls"]) - _MOST_CALLS}
        for each, name in [(data, "reply_changed"), *((call, "changed") for call in data["calls"])]:
            more = len(each.get(name, ())) - _MOST_PATHS
            if more > 0:
                each[name] = [*each[name][:_MOST_PATHS], f"... {more} more"]
        return _COMPACT.encode(data)

    def data(self, reply: str | None, *, is_begun: bool = False) -> dict[str, Any]:
        """Returns the receipt as JSON data: SHA-256 of the bodies, and for each call the paths of JSON in which its
        request differs from the client's, and those in which the reply was changed, if it was. The replies
        of a call that has begun only are not known; one that failed has none.
        """
        calls: list[dict[str, Any]] = []
        for model, call in self.calls:
            request, received = call.digests
            calls.append({"model": model, "request": request, "changed": list(call.changed)})
            if not (is_begun or call.has_failed):
                calls[-1]["reply"] = received
        changes = {"reply_changed": [*self.reply_changes]} if self.reply_changes else {}
        return {"request": digest_of(self.request), "calls": calls, "reply": reply, **changes}


async def save_receipt(folder: str, trace_id: str, receipt: Receipt, reply: bytes) -> None:
    """Saves a receipt with its bodies; a failure is logged."""
    try:
        await asyncio.to_thread(ReceiptFolder(folder).save, trace_id, receipt, reply)
    except OSError as error:
        _log.error("the receipt of %s was not written: %s", trace_id, error.strerror)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one digest, or list of changes, of a receipt. `note` says more."""

    what: str
    agrees: bool
    note: str = ""


class ReceiptFolder:
    """A folder of receipts with the bodies that they are of, which only its owner may read: one folder for each trace,
    with `receipt.json` and a file for each body, named by its digest.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def save(self, trace_id: str, receipt: Receipt, reply: bytes) -> None:
        """Writes a receipt; raises `OSError`."""
        replies = (call.answer() for _, call in receipt.calls if not call.has_failed)
        of_calls = (*(call.request for _, call in receipt.calls), *replies)
        folder = self._folder / trace_id
        make_private_folder(self._folder)
        folder.mkdir(mode=0o700)
        for body in (receipt.request, reply, *of_calls):
            _write(folder / digest_of(body), body)
        data = json.dumps(receipt.data(digest_of(reply)), indent=2)
        _write(folder / f"{_FILE}.part", data.encode() + b"\n")
        os.replace(folder / f"{_FILE}.part", folder / _FILE)

    def verify(self, trace_id: str, request: bytes | None = None, reply: bytes | None = None) -> list[Finding]:
        """Computes the digests and the changes of a receipt again; `request` and `reply` are what the client has sent
        and got, by its own account.

        Raises `InvalidInputError` for an unknown trace, and for a receipt that cannot be read.
        """
        folder = self._folder / trace_id
        if not trace_id.isalnum() or not (folder / _FILE).is_file():
            raise InvalidInputError(f"there is no receipt of {trace_id[:80]!r} in {self._folder}", path="trace")
        try:
            data = json.loads((folder / _FILE).read_bytes())
            return list(_findings(folder, data, request, reply))
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInputError(f"the receipt {folder / _FILE} cannot be read: {error!r}") from None


def _findings(folder: Path, data: dict[str, Any], request: bytes | None, reply: bytes | None) -> Iterator[Finding]:
    received = _body(folder, data["request"])
    yield _body_finding("request as received", received)
    if request is not None:
        yield Finding("request of the client", digest_of(request) == data["request"])
    for number, call in enumerate(data["calls"], 1):
        which = f" in call {number}" if len(data["calls"]) > 1 else ""
        sent = _body(folder, call["request"])
        yield _body_finding(
            f"request as sent to {call['model']}{which}", sent, _same(sent, received, "the client's bytes")
        )
        if received is not None and sent is not None:
            changed = list(changed_paths(jiter.from_json(received), jiter.from_json(sent)))
            yield Finding(f"changed paths{which}", changed == call["changed"], ", ".join(changed) or "none")
        if "reply" in call:
            yield _body_finding(f"reply of {call['model']}{which}", _body(folder, call["reply"]))
    written = _body(folder, data["reply"])
    replies = [call["reply"] for call in data["calls"] if "reply" in call]
    last = _body(folder, replies[-1]) if replies else None
    changed = data.get("reply_changed", [])
    note = f"changed: {', '.join(changed)}" if changed else _same(written, last, "the provider's bytes")
    yield _body_finding("reply as sent", written, note)
    if reply is not None:
        yield Finding("reply of the client", digest_of(reply) == data["reply"])


def _body(folder: Path, digest: str) -> bytes | None:
    """Returns a body; None if it is missing, or not what its digest says."""
    try:
        body = (folder / Path(digest).name).read_bytes()
    except OSError:
        return None
    return body if digest_of(body) == digest else None


def _body_finding(what: str, body: bytes | None, note: str = "") -> Finding:
    return Finding(what, body is not None, note if body is not None else "the body is missing, or was changed")


def _same(one: bytes | None, other: bytes | None, words: str) -> str:
    return words if one == other else ""


def _write(path: Path, data: bytes) -> None:
    with open(path, "wb", opener=private) as file:
        file.write(data)


CLIENT_CLOSED_REQUEST = 499
"""The status of a request whose client left before the response began."""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A call of the tool `tool` of an MCP server that this server has run; how it ended, after how many seconds."""

    server: str
    tool: str
    outcome: str
    seconds: float


@dataclass(slots=True)
class AuditEntry:
    """One request. `key` is the name of its key, `route` the pattern of its path, `model` the last one called.

    `tokens` are those of all its calls, `cost` theirs in US dollars, None if one is unknown, `costs` their three sums;
    `decisions` those of guards. `background` is the status that a response in the background ended with: an entry of
    its own, after that of its request.
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
    costs: CostSums = field(default_factory=CostSums)
    estimated: bool = False
    background: str | None = None
    tools: list[ToolRun] = field(default_factory=list[ToolRun])
    receipt: Receipt = field(default_factory=Receipt)
    decisions: list[GuardDecision] = field(default_factory=list[GuardDecision])
    is_written: bool = False

    async def begin(self, access: AccessControl, grant: Grant, call: ModelCall) -> CallLease:
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
        self.costs += settlement.sums
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
            "status": CLIENT_CLOSED_REQUEST if status is None else status,
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

    def __init__(self, entry: AuditEntry, lease: CallLease) -> None:
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

    def write(self, entry: AuditEntry, status: int | None, reply: str) -> None:
        """Appends the line of a request, once; a failure is logged, and the request goes on."""
        if entry.is_written:
            return
        entry.is_written = True
        try:
            with open(self._path, "ab", buffering=0, opener=private) as file:
                file.write(to_json(entry.data(status, reply, time.time())) + b"\n")
        except OSError as error:
            _log.error("the audit log %s was not written: %s", self._path, error.strerror)


_OTHER = "other"
_MOST_MODELS = 200
"""How many models have counts of their own: others, and paths that no route has, count as "other"."""
_MOST_TOOLS = 1000
"""How many tools, by server and outcome, have counts of their own."""
DURATION_LIMITS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Upper limits of the durations of requests, in seconds."""


class RequestCounts:
    """What the requests of this process have used since its start; `running` is the number of those that it is
    answering. It is used in the thread of the event loop alone.
    """

    def __init__(self) -> None:
        self.running = 0
        self.requests: Counter[tuple[str, str]] = Counter()
        self.tokens: Counter[tuple[str, str]] = Counter()
        self.calls: Counter[str] = Counter()
        self.costs: dict[str, CostSums] = {}
        self.decisions: Counter[tuple[str, str, str]] = Counter()
        self.tools: Counter[tuple[str, str, str]] = Counter()
        self.durations: Counter[float] = Counter()
        self.seconds = 0.0

    def count(self, entry: AuditEntry, status: int, seconds: float) -> None:
        """Counts a request that has been answered, or whose client has left."""
        self.requests[entry.route or _OTHER, str(status)] += 1
        self.seconds += seconds
        self.durations[next((limit for limit in DURATION_LIMITS if seconds <= limit), float("inf"))] += 1
        self.count_calls(entry)

    def count_calls(self, entry: AuditEntry) -> None:
        """Counts the calls of a request, or of what it began in the background, and the decisions of their guards."""
        for decision in entry.decisions:
            self.decisions[decision.guard, decision.checked, decision.outcome] += 1
        for each in entry.tools:
            key = (each.server, each.tool, each.outcome)
            is_known = key in self.tools or len(self.tools) < _MOST_TOOLS
            self.tools[key if is_known else (each.server, _OTHER, each.outcome)] += 1
        if entry.calls and entry.model is not None:
            is_known = entry.model in self.calls or len(self.calls) < _MOST_MODELS
            model = entry.model if is_known else _OTHER
            self.calls[model] += entry.calls
            self.tokens[model, "input"] += entry.input_tokens
            self.tokens[model, "output"] += entry.output_tokens
            self.costs[model] = self.costs.get(model, CostSums()) + entry.costs
