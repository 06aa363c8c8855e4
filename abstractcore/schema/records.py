"""`CallRecord`: one finished call as data, for cost tracking, dashboards and workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .call_warnings import CallWarning
from .calls import ModelCall
from .frozen_json import EMPTY, freeze, freeze_object
from .immutable import Immutable
from .json_values import JSONValue
from .replies import ModelReply
from .responses import AttemptRecord, MediaDecision
from .usage import Usage

Outcome = Literal["done", "failed", "cancelled", "abandoned"]
"""How a call ended: with a reply, with an error, by cancellation, or with a stream that was not read to its end."""

Capture = Literal["off", "redacted", "full"]
"""Whether records hold the call and the reply: not at all, only their sizes, or in full. Digests are always set."""


@dataclass(frozen=True, slots=True)
class ErrorRecord(Immutable):
    """An error as data: the name of its class and its message."""

    type: str
    message: str
    status: int | None = None
    request_id: str | None = None
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class CallRecord(Immutable):
    """One logical call with all its attempts.

    `started_at` is in seconds since the epoch, `seconds` how long it took, `seconds_to_first` until a stream's first
    deltas. `call` and `reply` are there in full, redacted (texts and files replaced by their sizes) or not at all, as
    the subscriber chose; their digests are there always. A reply that broke off is as far as it came. `usage` and
    `cost` (US dollars, None if not known) are of this call with all its attempts, as far as they were reported.
    `operation` is what the provider was asked for; full records hold the `result` of one other than chat.
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
    cost: float | None
    media: tuple[MediaDecision, ...]
    warnings: tuple[CallWarning, ...]
    error: ErrorRecord | None
    tags: Mapping[str, str] = EMPTY  # type: ignore[assignment]
    operation: str = "chat"
    result: JSONValue = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tags", freeze_object(self.tags, "tags"))
        object.__setattr__(self, "result", freeze(self.result, "result"))
