"""The ledger's records, and what is known of a run: plain values, and the rule by which records are chained.

The hash of a record is the SHA-256 of the canonical JSON of six fields: `at` (microseconds since the epoch), `body`
(the SHA-256 of its stored body), `kind`, `prev_hash` (the hash of the record before it, null for the first one), `run`
and `seq`. Canonical JSON is UTF-8 with sorted keys and no spaces.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal, TypeAlias

from abstractcore.errors import InvalidInputError
from abstractcore.schema import DisplayTable, RichDisplay, shown_json
from abstractcore.schema.amounts import moment

from .json_documents import JSON, member
from .programs import WaitReason

Status: TypeAlias = Literal["running", "waiting", "completed", "failed", "cancelled"]
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
_MOST_USED: Final = 10**15
"""More tokens or dollars than any run uses; a float has such a number exactly."""
ENDED: Final = frozenset({"completed", "failed", "cancelled"})
RecordKind: TypeAlias = Literal[
    "created", "step", "started", "retry", "interrupted", "decided", "journal", "paused", "resumed", "warning", "ended",
    "redacted",
]  # fmt: skip
"""What a record reports: the run was created; an item was applied, with all that the step asked for; an effect is begun
again; it failed and is tried later; nobody knows whether it was done; somebody has decided that; an event of an agent's
loop; the run was paused, or resumed; a limit is near; the run was ended by a command, a limit or an error; the body of
a record was deleted."""


LONGEST_KIND: Final = 20
"""The longest kind of a record, in characters."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a ledger. `body` is None once it is redacted; `body_sha256` is the hash of its stored bytes."""

    run: str
    seq: int
    kind: str
    at: float
    body: JSON
    body_sha256: str
    hash: str


def chained(run: str, seq: int, kind: str, at: float, body_sha256: str, previous: str | None) -> str:
    """Returns the hash of a record; `previous` is that of the record before it, None for the first one."""
    return envelope_hash(envelope(run, seq, kind, at, body_sha256, previous))


def envelope(run: str, seq: int, kind: str, at: float, body_sha256: str, previous: str | None) -> dict[str, JSON]:
    """Returns what is hashed of a record."""
    at_microseconds = round(at * 1e6)
    return {"at": at_microseconds, "body": body_sha256, "kind": kind, "prev_hash": previous, "run": run, "seq": seq}


def envelope_hash(hashed: dict[str, JSON]) -> str:
    """Returns the hash of a record from what is hashed of it."""
    return hashlib.sha256(_encode(hashed).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use: `steps`, `tokens` of models, `dollars`, and `seconds` from its creation on. None: no limit.

    A run that reaches a limit fails, before the next effect; at 80 % of one, its ledger gets a warning.
    The tokens and dollars of a child count for its parent too, once the parent takes the child's end.
    """

    steps: int | None = 100_000
    tokens: int | None = None
    dollars: Decimal | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "tokens"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise InvalidInputError(f"expected an integer of at least 1, got {value!r:.80}", path=f"limits.{name}")
        if self.seconds is not None:
            seconds: Any = self.seconds
            if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e11:
                raise InvalidInputError(f"expected seconds, got {seconds!r:.80}", path="limits.seconds")
        if self.dollars is not None:
            object.__setattr__(self, "dollars", _decimal(self.dollars))

    def to_data(self) -> JSON:
        """Returns the limits as JSON."""
        data = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**data, "dollars": None if self.dollars is None else str(self.dollars)}

    @classmethod
    def from_data(cls, data: JSON) -> Limits:
        """Returns limits from JSON."""
        return cls(**{name: data[name] for name in ("steps", "tokens", "dollars", "seconds") if name in data})


def check_used(tokens: Any, dollars: Any) -> None:
    """Raises `InvalidInputError` for tokens or dollars that cannot be counted against limits."""
    _check_count(tokens, "tokens")
    if not isinstance(dollars, Decimal) or not dollars.is_finite() or not 0 <= dollars < _MOST_USED:
        hint = "Write Decimal('0.05'), with decimal imported."
        raise InvalidInputError(f"expected a Decimal of at least 0, got {dollars!r:.40}", path="dollars", hint=hint)


def _check_count(value: Any, path: str) -> None:
    if type(value) is not int or not 0 <= value < _MOST_USED:
        problem = f"expected an integer of at least 0, and less than {_MOST_USED:,}, got {type(value).__name__}"
        raise InvalidInputError(problem, path=path)


def _decimal(value: Any) -> Decimal:
    try:
        number = value if isinstance(value, Decimal) else Decimal(str(value))
    except InvalidOperation:
        raise InvalidInputError(f"expected dollars, got {value!r:.80}", path="limits.dollars") from None
    if not number.is_finite() or number <= 0:
        raise InvalidInputError(f"expected more than 0 dollars, got {value!r:.80}", path="limits.dollars")
    return number


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run has used: its steps, and tokens of models and dollars, as far as prices are known, with those of its
    children that have ended.
    """

    steps: int = 0
    tokens: int = 0
    dollars: Decimal = Decimal(0)

    def to_data(self) -> JSON:
        """Returns it as JSON."""
        return {"steps": self.steps, "tokens": self.tokens, "dollars": str(self.dollars)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Spent:
        """Returns it from JSON; raises `InvalidInputError` for what cannot be counted, as of a damaged row."""
        spent = cls(data["steps"], data["tokens"], Decimal(data["dollars"]))
        check_used(spent.tokens, spent.dollars)
        _check_count(spent.steps, "steps")
        return spent


@dataclass(frozen=True, slots=True)
class OpenWait:
    """A wait of a run, as it is stored. `opened` is the number of the record that opened it."""

    run: str
    key: str
    reason: WaitReason
    deadline: float | None
    asked: JSON
    opened: int


@dataclass(frozen=True, slots=True)
class RunInfo(RichDisplay):
    """What is known of a run. Times are seconds since the epoch.

    `state` is that of its program. `inflight` is the effect that was begun, with its attempt; `seq` the number of its
    records, and `head` the hash of the last one. `due_at` is when a worker has to see to it, None if nobody has to.
    """

    id: str
    program: str
    status: Status
    created: float
    """When it was started."""
    updated: float
    """When it last changed."""
    seq: int
    head: str
    state: JSON = None
    inflight: JSON = None
    output: JSON = None
    error: JSON = None
    due_at: float | None = None
    owner: str | None = None
    fence: int = 0
    """Grows with each lease: a worker with an older one cannot write."""
    paused_at: float | None = None
    """When it was paused, or None."""
    parent: str | None = None
    session: str | None = None
    limits: Limits = field(default_factory=Limits)
    spent: Spent = field(default_factory=Spent)
    """What it has used of its limits."""

    def __display__(self) -> Iterator[object]:
        yield DisplayTable([self.__display_row__()])
        if self.output is not None:
            yield self.output if isinstance(self.output, str) else shown_json(self.output)

    def __display_row__(self) -> dict[str, object]:
        error = None if self.error is None else f"{member(self.error, 'type')}: {member(self.error, 'message')}"
        return {
            "run": self.id,
            "program": self.program,
            "status": f"{self.status} (paused)" if self.paused_at is not None and not self.ended else self.status,
            "error": error,
            "created": moment(self.created),
            "updated": moment(self.updated),
            "steps": self.spent.steps,
            "tokens": self.spent.tokens,
            "cost": self.spent.dollars,
        }

    @property
    def ended(self) -> bool:
        """Whether the run has completed, failed or was cancelled."""
        return self.status in ENDED
