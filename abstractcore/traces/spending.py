"""Spend: sums by hour, model, operation, outcome and tag, changed in the transaction that writes the records."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import add, sub
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite

from ..database import Statement
from .column_values import hour_of, searchable, tags_of
from .tables import SUMS, spend

MOST_VALUES: Final = 1_000
"""So many values of a tag in an hour have rows of their own."""
MOST_NAMES: Final = 100
"""So many names of tags in an hour have rows."""
LONGEST: Final = 200
"""The most characters of a name or a value of a tag that has rows: PostgreSQL's indexes take no long ones."""
FOLDED_NAMES: Final = 2
"""What `folded` is in the rows of records with further names of tags: each such record counts once."""
RETRIED: Final = "retried"
"""The outcome of retried attempts, in sums: their costs are not part of those of the call's own outcome."""
OTHER: Final = "other"
"""The value of the rest of a tag with more values, and the name of further tags."""
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
    "saved_cost",
    "retried_cost",
    "retried_estimated",
    "retried_models",
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


class KnownSums:
    """What a process knows of the rows, which are never deleted: values by tag and hour, names of tags by hour."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, int], set[str]] = {}
        self.names: dict[int, set[str]] = {}

    def forget_some(self) -> None:
        """Keeps it small."""
        if len(self.values) > _MOST_TAGS or sum(map(len, self.values.values())) > _MOST_KNOWN:
            self.values.clear()
        if len(self.names) > _MOST_HOURS:
            self.names.clear()


@dataclass(slots=True)
class _Part:
    """The sums of records whose fields of a key, and whose tags, are equal."""

    hour: int
    of: tuple[str, str, str, str, str]
    """The fields of its keys from the kind to the outcome."""
    tags: Mapping[str, str]
    sums: list[int]

    def add_to(self, total: dict[SpendKey, list[int]], tag: str = "", value: str = "", folded: int = 0) -> None:
        """Adds it to the sums of a tag, or of all records."""
        key = SpendKey(tag, self.hour, value, folded, *self.of)
        total[key] = [*map(add, total[key], self.sums)]


class SpendChanges:
    """What a transaction adds to the sums, and takes from them. `folded` are the tags that had too many values; "" says
    that an hour had too many names of tags.
    """

    def __init__(self, known: KnownSums) -> None:
        self.folded: set[str] = set()
        self._known = known
        self._parts: dict[tuple[int, tuple[str, str, str, str, str], str | None], _Part] = {}

    def add(self, row: Any) -> None:
        """Adds a record. An interaction has no costs of its own."""
        self._change(row, add)

    def take_out(self, row: Any) -> None:
        """Takes out a record that was added earlier."""
        self._change(row, sub)

    def _change(self, row: Any, changed: Callable[[int, int], int]) -> None:
        if row.kind == "interaction":
            return
        hour = hour_of(row.started_at)
        for provider, model, outcome, sums in _parts(row):
            of = (row.kind, provider, model, row.operation, outcome)
            part = self._parts.get((hour, of, row.tags))
            if part is None:
                tags = {tag: value for tag, value in tags_of(row).items() if tag}  # "" is the name of the sums of all
                part = self._parts[hour, of, row.tags] = _Part(hour, of, tags, _no_sums())
            part.sums = [*map(changed, part.sums, sums)]

    def sums(self, without: Set[tuple[str, int]] = frozenset()) -> dict[SpendKey, list[int]]:
        """Returns the sums of all records, and of each value of their tags; one row is that of all records with a tag
        `without` sums of its own, by its name and hour.
        """
        sums: dict[SpendKey, list[int]] = defaultdict(_no_sums)
        for part in self._parts.values():
            part.add_to(sums)
            left_out = [tag for tag in part.tags if (tag, part.hour) in without] if without else ()
            for tag, value in part.tags.items():
                if tag not in left_out and len(value) <= LONGEST:
                    part.add_to(sums, tag, value)
                elif tag not in left_out:
                    self.folded.add(tag)
                    part.add_to(sums, tag, OTHER, 1)
            if left_out:
                part.add_to(sums, OTHER, OTHER, FOLDED_NAMES)
        return sums

    def write(self, connection: Connection) -> None:
        """Changes the rows, in one order, so that two transactions do not wait for each other."""
        upsert = _UPSERTS[connection.dialect.name]
        sums = self._fold_values(connection, self.sums(self._too_many_names(connection)))
        self._known.forget_some()
        upsert.many(connection, [_values(key, each) for key, each in sorted(sums.items())])

    def _too_many_names(self, connection: Connection) -> set[tuple[str, int]]:
        """Returns the tags, with the hour, that have no sums, since others were there first."""
        given = dict.fromkeys((tag, part.hour) for part in self._parts.values() for tag in part.tags)
        left_out: set[tuple[str, int]] = set()
        for tag, hour in given:
            if len(tag) > LONGEST:
                left_out.add((tag, hour))
                continue
            if (tag, hour) in self._known.values:
                continue
            names = self._known.names.get(hour)
            if names is None:
                found = _FIND_NAMES.all(connection, hour=hour)
                names = self._known.names[hour] = {row.tag for row in found if row.tag is not None}
            if tag in names:
                continue
            if len(names) < MOST_NAMES:
                names.add(tag)
            elif not _FIND_VALUES.all(connection, tag=tag, hour=hour):  # another process may have been first
                left_out.add((tag, hour))
        if left_out:
            self.folded.add("")
        return left_out

    def _fold_values(self, connection: Connection, sums: Mapping[SpendKey, list[int]]) -> Mapping[SpendKey, list[int]]:
        """Returns the sums, in which values of a tag that are too many are one."""
        new: dict[tuple[str, int], dict[str, None]] = defaultdict(dict)
        for key in sums:
            is_tag = key.tag and not key.folded
            if is_tag and key.value not in self._known.values.get((key.tag, key.hour), ()):
                new[key.tag, key.hour][key.value] = None
        rest: set[tuple[str, int, str]] = set()
        for (tag, hour), values in new.items():
            known = {row.value for row in _FIND_VALUES.all(connection, tag=tag, hour=hour)}
            self._known.values[tag, hour] = known
            unknown = [value for value in values if value not in known]
            rest.update((tag, hour, value) for value in unknown[max(0, MOST_VALUES - len(known)) :])
        if not rest:
            return sums
        self.folded.update(tag for tag, _, _ in rest)
        result: dict[SpendKey, list[int]] = defaultdict(_no_sums)
        for key, each in sums.items():
            if (key.tag, key.hour, key.value) in rest and not key.folded:
                key = key._replace(value=OTHER, folded=1)
            result[key] = [old + new for old, new in zip(result[key], each, strict=True)]
        return result


def _no_sums() -> list[int]:
    return [0] * len(SUMS)


def _parts(row: Any) -> Sequence[tuple[str, str, str, Sequence[int]]]:
    """Returns the parts of a record's sums, each with its provider, model and outcome: what was spent on retried
    attempts has one of its own, for each other model that was asked.
    """
    whole = _sums(row)
    if not (row.retried_cost or row.retried_estimated):
        return [(row.provider, row.model, row.outcome, whole)]
    rest = retried = _sums_of_retried(row)
    parts: list[tuple[str, str, str, Sequence[int]]] = []
    for provider, model, known, estimated in json.loads(row.retried_models or "[]"):
        sums = _in_order(known=min(known, rest[1]), estimated=min(estimated, rest[2]))
        rest = [*map(sub, rest, sums)]
        parts.append((provider, model, RETRIED, sums))
    own = (row.provider, row.model)
    if any(rest):
        parts.append((*own, RETRIED, rest))
    return [(*own, row.outcome, [*map(sub, whole, retried)]), *parts]


def _sums_of_retried(row: Any) -> Sequence[int]:
    """Returns the part of a record's sums that was spent on attempts that were retried; it does not count as a call."""
    return _in_order(known=row.retried_cost or 0, estimated=row.retried_estimated or 0)


def _sums(row: Any) -> Sequence[int]:
    """Returns what a record adds to each of `SUMS`."""
    is_unknown = row.kind == "call" and row.cost is None and row.estimated_cost is None
    return _in_order(
        calls=1,
        known=row.cost or 0,
        estimated=row.estimated_cost or 0,
        saved=row.saved_cost or 0,
        unknown=int(is_unknown),
        input_tokens=row.input_tokens or 0,
        output_tokens=row.output_tokens or 0,
        cached_tokens=row.cached_tokens or 0,
    )


def _in_order(**sums: int) -> Sequence[int]:
    """Returns sums in the order of `SUMS`; 0 for those that are not given."""
    return [sums.get(name, 0) for name in SUMS]


def _values(key: SpendKey, sums: Iterable[int]) -> dict[str, Any]:
    """Returns the values of a row; PostgreSQL has no texts with a zero byte."""
    texts = {name: searchable(each) if isinstance(each, str) else each for name, each in key._asdict().items()}
    return {**texts, **dict(zip(SUMS, sums, strict=True))}


def _upsert(insert: Any) -> Statement:
    made = insert(spend)
    added = {name: spend.c[name] + made.excluded[name] for name in SUMS}
    return Statement(made.on_conflict_do_update(index_elements=list(SpendKey._fields), set_=added))


_MOST_TAGS: Final = 1_000
_MOST_KNOWN: Final = 100_000
_MOST_HOURS: Final = 100
_UPSERTS: Final = {"sqlite": _upsert(sqlite.insert), "postgresql": _upsert(postgresql.insert)}
_FIND_VALUES: Final = Statement(
    select(spend.c.value)
    .where(spend.c.tag == bindparam("tag"), spend.c.hour == bindparam("hour"), spend.c.folded == 0)
    .distinct()
)
_tags = select(func.min(spend.c.tag).label("tag")).where(spend.c.tag > "").cte("tags", recursive=True)
_next = select(func.min(spend.c.tag)).where(spend.c.tag > _tags.c.tag).scalar_subquery()
_names = _tags.union_all(select(_next).where(_tags.c.tag.is_not(None)))
_of_hour = select(spend.c.hour).where(
    spend.c.tag == _names.c.tag, spend.c.hour == bindparam("hour"), spend.c.folded != FOLDED_NAMES
)
_FIND_NAMES: Final = Statement(select(_names.c.tag).where(_of_hour.exists()))
"""Goes from one name to the next in the primary key: the table may be large."""
