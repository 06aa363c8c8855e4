"""Spend: sums by hour, model, operation, outcome and tag, changed in the transaction that writes the records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import sub
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.dialects import postgresql, sqlite

from ..database import Statement
from .column_values import hour_of, tags_of
from .tables import SUMS, spend

MOST_VALUES: Final = 1_000
"""So many values of a tag in an hour have rows of their own."""
RETRIED: Final = "retried"
"""The outcome of retried attempts, in sums: their costs are not part of those of the call's own outcome."""
OTHER: Final = "other"
"""The value of the rest of a tag with more values."""
SUMMED: Final = (
    "id",
    "month",
    "kind",
    "trace_id",
    "provider",
    "model",
    "operation",
    "outcome",
    "started_at",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cost",
    "estimated_cost",
    "retried_cost",
    "retried_estimated",
    "tags",
)
"""The columns of a record that its part in the sums depends on."""


class SpendKey(NamedTuple):
    """A row of `traces_spend`, by its primary key."""

    tag: str
    hour: int
    value: str
    folded: int
    kind: str
    provider: str
    model: str
    operation: str
    outcome: str


class SpendChanges:
    """What a transaction adds to the sums, and takes from them. `folded` are the tags that had too many values."""

    def __init__(self, known: dict[tuple[str, int], set[str]]) -> None:
        self.folded: set[str] = set()
        self._known = known
        """Values that have rows by tag and hour, as far as this process has read them: rows are never deleted."""
        self._sums: dict[SpendKey, list[int]] = defaultdict(lambda: [0] * len(SUMS))

    def add(self, row: Any, sign: int = 1) -> None:
        """Adds a record, or takes it out with a `sign` of -1. An interaction has no costs of its own."""
        if row.kind == "interaction":
            return
        hour = hour_of(row.started_at)
        parts = [(row.outcome, _sums(row))]
        retried = _sums_of_retried(row)
        if any(retried):
            whole = parts[0][1]
            parts = [(row.outcome, [*map(sub, whole, retried)]), (RETRIED, retried)]
        tags = [(tag, value) for tag, value in tags_of(row).items() if tag]  # the name "" is that of the sums of all
        for tag, value in (("", ""), *tags):
            for outcome, sums in parts:
                key = SpendKey(tag, hour, value, 0, row.kind, row.provider, row.model, row.operation, outcome)
                total = self._sums[key]
                for index, number in enumerate(sums):
                    total[index] += sign * number

    def write(self, connection: Connection) -> None:
        """Changes the rows, in one order, so that two transactions do not wait for each other."""
        upsert = _UPSERTS[connection.dialect.name]
        upsert.many(connection, [_values(key, sums) for key, sums in sorted(self._fold(connection).items())])

    def _fold(self, connection: Connection) -> Mapping[SpendKey, list[int]]:
        """Returns the sums, in which values of a tag that are too many are one."""
        new: dict[tuple[str, int], dict[str, None]] = defaultdict(dict)
        for key in self._sums:
            if key.tag and key.value not in self._known.get((key.tag, key.hour), ()):
                new[key.tag, key.hour][key.value] = None
        rest: set[tuple[str, int, str]] = set()
        for (tag, hour), values in new.items():
            known = {row.value for row in _FIND_VALUES.all(connection, tag=tag, hour=hour)}
            self._known[tag, hour] = known
            unknown = [value for value in values if value not in known]
            rest.update((tag, hour, value) for value in unknown[max(0, MOST_VALUES - len(known)) :])
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        return self._folded(rest) if rest else self._sums

    def _folded(self, rest: set[tuple[str, int, str]]) -> Mapping[SpendKey, list[int]]:
        self.folded.update(tag for tag, _, _ in rest)
        result: dict[SpendKey, list[int]] = defaultdict(lambda: [0] * len(SUMS))
        for key, sums in self._sums.items():
            if (key.tag, key.hour, key.value) in rest:
                key = key._replace(value=OTHER, folded=1)
            result[key] = [old + new for old, new in zip(result[key], sums, strict=True)]
        return result


def _sums_of_retried(row: Any) -> Sequence[int]:
    """Returns the part of a record's sums that was spent on attempts that were retried; it does not count as a call."""
    return (0, row.retried_cost or 0, row.retried_estimated or 0, 0, 0, 0, 0)


def _sums(row: Any) -> Sequence[int]:
    """Returns what a record adds to each of `SUMS`."""
    is_unknown = row.kind == "call" and row.cost is None and row.estimated_cost is None
    tokens = (row.input_tokens or 0, row.output_tokens or 0, row.cached_tokens or 0)
    return (1, row.cost or 0, row.estimated_cost or 0, int(is_unknown), *tokens)


def _values(key: SpendKey, sums: Iterable[int]) -> dict[str, Any]:
    """Returns the values of a row; PostgreSQL has no texts with a zero byte."""
    texts = {name: each.replace("\x00", "") if isinstance(each, str) else each for name, each in key._asdict().items()}
    return {**texts, **dict(zip(SUMS, sums, strict=True))}


def _upsert(insert: Any) -> Statement:
    made = insert(spend)
    added = {name: spend.c[name] + made.excluded[name] for name in SUMS}
    return Statement(made.on_conflict_do_update(index_elements=list(SpendKey._fields), set_=added))


_MOST_KNOWN = 10_000
_UPSERTS: Final = {"sqlite": _upsert(sqlite.insert), "postgresql": _upsert(postgresql.insert)}
_FIND_VALUES: Final = Statement(
    select(spend.c.value)
    .where(spend.c.tag == bindparam("tag"), spend.c.hour == bindparam("hour"), spend.c.folded == 0)
    .distinct()
)
