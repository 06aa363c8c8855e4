"""`CallRecord`: one finished call as data, for cost tracking, dashboards and workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from .. import schema
from .call_warnings import CallWarning
from .calls import ModelCall
from .deferred_costs import CostSource, checked_cost
from .error_records import ErrorRecord
from .frozen_json import EMPTY, freeze, freeze_object
from .immutable import Immutable
from .json_values import JSONValue
from .media_decisions import MediaDecision
from .replies import ModelReply
from .responses import AttemptRecord
from .usage import Usage

Outcome = Literal["done", "failed", "cancelled", "abandoned"]
"""How a call ended: with a reply, with an error, by cancellation, or with a stream that was not read to its end."""

Capture = Literal["off", "redacted", "full"]
"""Whether records hold the call and the reply: not at all, only their sizes, or in full. Digests are always set."""


@dataclass(frozen=True, slots=True)
class CallRecord(Immutable):
    """One logical call with all its attempts.

    `started_at` is in seconds since the epoch, `seconds` the duration, `seconds_to_first` the time to a stream's first
    deltas. `call` and `reply` are in full, redacted (texts and files replaced by their sizes) or None, as the
    subscriber chose; their digests are always set. An interrupted reply holds what arrived. `usage` and `cost` cover
    all attempts of the call, as far as they were reported, and the conversions of its files, but for calls with records
    of their own, such as captions: sums over all records are what was spent. `cost` is in US dollars, exact, with its
    `cost_source`; it is None for the `cost_reason`. `price_rows` are the digests of the price rows that applied, each
    with the indexes of the conditions in it that held. `operation` is the requested operation; full records of
    operations other than chat hold its `result`. `input` is what it was requested for beside a call, such as the texts
    to embed, in full or redacted. `verification` is that of the answer, with `verify=True`; only full records hold its
    texts.
    """

    trace_id: str
    parent_id: str | None
    provider: str
    model: str
    outcome: Outcome
    streamed: bool
    started_at: float
    seconds: float
    seconds_to_first: float | None
    call_digest: str
    reply_digest: str | None
    call: ModelCall | None
    reply: ModelReply | None
    attempts: tuple[AttemptRecord, ...]
    usage: Usage
    cost: Decimal | None
    media: tuple[MediaDecision, ...]
    warnings: tuple[CallWarning, ...]
    error: ErrorRecord | None
    tags: Mapping[str, str] = EMPTY  # type: ignore[assignment]
    operation: str = "chat"
    result: JSONValue = None
    cost_source: CostSource | None = None
    cost_reason: str | None = None
    price_rows: tuple[str, ...] = ()
    verification: schema.Verification | None = None
    input: JSONValue = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cost", checked_cost(self.cost))
        object.__setattr__(self, "tags", freeze_object(self.tags, "tags"))
        object.__setattr__(self, "result", freeze(self.result, "result"))
        object.__setattr__(self, "input", freeze(self.input, "input"))
