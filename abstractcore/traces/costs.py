"""What calls cost: known, estimated and unknown, and what caches saved, summed by model, time, tool and tag."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final
from typing import cast as cast_type

from sqlalchemy import ColumnElement, Connection, case, func, literal, literal_column, null, select

from ..errors import InvalidInputError
from ..schema import CostSums
from ..schema.base_error import shown
from ..schema.reprs import RichDisplay
from .column_values import SUCCEEDED, dollars, hour_of, searched
from .filters import Filter
from .record_sums import sums_of_records
from .spending import FOLDED_NAMES, LONGEST, MOST_NAMES, MOST_VALUES, OTHER
from .tables import AMOUNTS, SUMS, spend

_NAMES: Final = ("model", "provider", "operation", "outcome", "hour", "day", "tool")
_NAMED: Final = ("model", "provider", "operation", "tool")
_MOST_NAMES: Final = 10_000
_MOST_GROUPS: Final = 32
"""The names to sum by: each is a column, and a tag a join, of which a database has a limit."""
_TAG = "tag:"
_SPLIT: Final = frozenset({"model", "provider", "outcome"})
"""What attempts that others followed may have of their own."""
_COUNTS: Final = tuple(name for name in SUMS[1:] if name not in AMOUNTS)
_PART: Final = 10**9
_SECONDS_AN_HOUR: Final = 3_600
_log = logging.getLogger("abstractcore.traces")
_warned: set[str] = set()


@dataclass(frozen=True, slots=True)
class CostRow(RichDisplay):
    """The calls of one group. `group` has a value for each name in `by`; `calls` counts calls of models, of which
    `failed` ended without a result, or the runs of a tool. `is_folded` says that it is the rest of a tag that has too
    many values in an hour, whose own value is "other".
    """

    group: Mapping[str, str | None]
    costs: CostSums
    """Certain and estimated costs in US dollars."""
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    """Input tokens that providers read from their caches."""
    is_folded: bool = False

    def __display_row__(self) -> dict[str, object]:
        return {
            **self.group,
            "calls": self.calls,
            "failed": self.failed or None,
            "tokens in": self.input_tokens,
            "tokens out": self.output_tokens,
            "cached": self.cached_tokens or None,
            "known": self.costs.known,
            "estimated": self.costs.estimated or None,
            "unknown": self.costs.unknown or None,
            "saved": self.costs.saved or None,
        }


def costs(connection: Connection, by: Sequence[str], wanted: Filter) -> list[CostRow]:
    """Returns the sums of the calls that are wanted, the dearest first."""
    names, wanted = _checked(by), wanted.checked()
    of_names = (name.removeprefix(_TAG) for name in names if name.startswith(_TAG))
    tags = list(dict.fromkeys([*of_names, *(wanted.tags or ())]))
    if len(tags) <= 1 and _has_sums(connection, wanted):
        rows = _from_spend(connection, names, tags[0] if tags else "", wanted)
    else:
        rows = _from_records(connection, names, wanted)
    found = [_row(row, names) for row in rows]
    shown_rows = [row for row in found if row.calls or row.costs != CostSums()]
    return sorted(shown_rows, key=lambda row: (-row.costs.known - row.costs.estimated, -row.calls, *_texts(row.group)))


def names(connection: Connection, of: str) -> list[str]:
    """Returns the names that sums have, in their order."""
    wanted = searched(of, "of")
    if wanted == "tag":
        statement = select(spend.c.tag).where(spend.c.tag != "", spend.c.folded != FOLDED_NAMES)
    elif wanted.startswith(_TAG):
        statement = select(spend.c.value).where(spend.c.tag == wanted.removeprefix(_TAG), spend.c.folded == 0)
    elif wanted in _NAMED:
        is_tool = spend.c.kind == "tool"
        column = spend.c.model if wanted == "tool" else spend.c[wanted]
        statement = select(column).where(spend.c.tag == "", is_tool if wanted == "tool" else ~is_tool)
    else:
        hint = f"Write {', '.join(map(repr, _NAMED))}, 'tag' or 'tag:NAME'."
        raise InvalidInputError(f"there are no names of {shown(of)}", path="of", hint=hint)
    return sorted(row[0] for row in connection.execute(statement.distinct().limit(_MOST_NAMES)))


def warn_of_folded(tags: Iterable[str]) -> None:
    """Logs, once for each tag, that its values are too many or too long for sums of their own; for "" that tags are."""
    for tag in tags:
        if tag in _warned or len(_warned) >= MOST_VALUES:
            continue
        _warned.add(tag)
        if tag:
            _log.warning(
                "the tag %s has over %d values in an hour, or one of over %d characters: the rest is summed as 'other'",
                shown(tag),
                MOST_VALUES,
                LONGEST,
            )
        else:
            _log.warning(
                "calls of an hour have over %d tags, or one of over %d characters: the rest has no sums of its own",
                MOST_NAMES,
                LONGEST,
            )


def _checked(by: Sequence[str]) -> tuple[str, ...]:
    given = cast_type("tuple[object, ...]", (by,) if isinstance(by, str) else tuple(by))
    if len(given) > _MOST_GROUPS:
        hint = f"Sum by up to {_MOST_GROUPS} names, or several times."
        raise InvalidInputError(f"costs cannot be summed by {len(given):,} names at once", path="by", hint=hint)
    names = tuple(searched(name, "by") if isinstance(name, str) else "" for name in given)
    for name, written in zip(names, given, strict=True):
        if name not in _NAMES and (not name.startswith(_TAG) or name == _TAG):
            hint = f"Write {', '.join(map(repr, _NAMES))} or 'tag:NAME'."
            raise InvalidInputError(f"costs cannot be summed by {shown(written)}", path="by", hint=hint)
    return names


def _has_sums(connection: Connection, wanted: Filter) -> bool:
    """Returns whether the wanted calls have sums: attempts that others followed have one outcome, whatever became of
    their call, and the sums of a value may be in those of the rest of its tag, or of all tags.
    """
    if wanted.failed is not None:
        return False
    if not wanted.tags:
        return True
    rest = ((spend.c.tag == OTHER) & (spend.c.folded == FOLDED_NAMES)) | (
        spend.c.tag.in_([*wanted.tags]) & (spend.c.folded != 0)
    )
    folded = select(spend.c.value).where(rest, *_hours(spend.c.hour, wanted)).limit(1)
    return connection.execute(folded).first() is None


def _from_spend(connection: Connection, names: Sequence[str], tag: str, wanted: Filter) -> list[Any]:
    groups = {name: _group(spend, spend.c.hour, name) for name in names if not name.startswith(_TAG)}
    found = _sums_of_spend(connection, groups, names, tag, wanted)
    if not tag or wanted.tags:
        return found
    return [*found, *_untagged(_sums_of_spend(connection, groups, names, "", wanted), found, names)]


def _sums_of_spend(
    connection: Connection,
    groups: Mapping[str, ColumnElement[Any]],
    names: Sequence[str],
    tag: str,
    wanted: Filter,
) -> list[Any]:
    """Returns the sums of the records with a tag, or of all."""
    values = [spend.c.value == each for each in (wanted.tags or {}).values()]
    value: ColumnElement[Any] = spend.c.value if tag else literal_column("NULL")
    keys = [value if name.startswith(_TAG) else groups[name] for name in names]
    folded = case((spend.c.folded == 0, 0), else_=1)
    conditions = [_of_tag(tag), *values, *_only(spend, names, wanted)]
    return _summed(connection, spend, names, [*keys, folded], [*conditions, *_hours(spend.c.hour, wanted)])


def _summed(
    connection: Connection,
    table: Any,
    names: Sequence[str],
    keys: Sequence[ColumnElement[Any]],
    conditions: Sequence[ColumnElement[bool]],
) -> list[Any]:
    """Returns the sums of a table that has the columns of sums. The last key is 1 for the rest of a tag."""
    counted = _counted(table, names)
    labels = [*(f"by{index}" for index in range(len(names))), "folded"]
    statement = (
        select(
            *(key.label(label) for key, label in zip(keys, labels, strict=True)),
            func.sum(case((counted, table.c.calls), else_=0)).label("calls"),
            func.sum(case((counted & ~table.c.outcome.in_(SUCCEEDED), table.c.calls), else_=0)).label("failed"),
            *_amounts(table),
            *(func.sum(table.c[name]).label(name) for name in _COUNTS),
        )
        .where(*conditions)
        .group_by(*(literal_column(str(number)) for number in range(1, len(keys) + 1)))
    )
    return [_whole(row) for row in connection.execute(statement).mappings()]


def _of_tag(tag: str) -> ColumnElement[bool]:
    """Returns the condition for the rows of a tag, or of all records; in hours in which it has none, for those of
    records with tags that have none, which may have it.
    """
    if not tag:
        return spend.c.tag == ""
    own = (spend.c.tag == tag) & (spend.c.folded != FOLDED_NAMES)
    other = spend.alias("other")
    has_own = select(other.c.hour).where(
        other.c.tag == tag, other.c.hour == spend.c.hour, other.c.folded != FOLDED_NAMES
    )
    return own | ((spend.c.tag == OTHER) & (spend.c.folded == FOLDED_NAMES) & ~has_own.exists())


def _untagged(total: Sequence[Any], tagged: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Returns the sums of records without the tag: those of all, without those of each value."""
    keys = [f"by{index}" for index, name in enumerate(names) if not name.startswith(_TAG)]
    rest = {tuple(row[key] for key in keys): dict(row) for row in total}
    for row in tagged:
        whole = rest[tuple(row[key] for key in keys)]
        for name in ("calls", "failed", *SUMS[1:]):
            whole[name] -= row[name]
    return [*rest.values()]


def _from_records(connection: Connection, names: Sequence[str], wanted: Filter) -> list[Any]:
    """Returns sums that the table of sums has not, by reading the records."""
    tags = list(dict.fromkeys(name.removeprefix(_TAG) for name in names if name.startswith(_TAG)))
    apart = wanted.model is not None or not _SPLIT.isdisjoint(names)
    table = sums_of_records(connection.dialect.name, tags, wanted, apart=apart)
    keys = [
        table.c[f"tag{tags.index(name.removeprefix(_TAG))}"]
        if name.startswith(_TAG)
        else _group(table, table.c.hour, name)
        for name in names
    ]
    conditions = [*_hours(table.c.hour, wanted), *_only(table, names, replace(wanted, failed=None))]
    return _summed(connection, table, names, [*keys, literal(0)], conditions)


def _amounts(table: Any) -> list[ColumnElement[Any]]:
    """Returns the sums of amounts, each in two parts: SQLite adds up integers of 64 bits only, $9,223,372."""
    return [
        func.sum(part).label(f"{name}_{label}")
        for name in AMOUNTS
        for label, part in (("high", table.c[name] // _PART), ("low", table.c[name] % _PART))
    ]


def _whole(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Returns a row with the sums of amounts in one part."""
    return {**row, **{name: row[f"{name}_high"] * _PART + row[f"{name}_low"] for name in AMOUNTS}}


def _group(table: Any, hour: Any, name: str) -> ColumnElement[Any]:
    """Returns what a name in `by` groups by."""
    is_tool = table.c.kind == "tool"
    if name == "day":
        return hour // 24
    if name == "hour":
        return hour
    if name == "tool":
        return table.c.model
    if name in ("model", "provider"):
        return case((is_tool, null()), else_=table.c[name])
    return table.c[name]


def _counted(table: Any, names: Sequence[str]) -> ColumnElement[bool]:
    """Returns whether a row counts: runs of tools add to costs, but are not counted as calls."""
    return table.c.kind == ("tool" if "tool" in names else "call")


def _only(table: Any, names: Sequence[str], wanted: Filter) -> list[ColumnElement[bool]]:
    of_kind = [table.c.kind == "tool"] if "tool" in names else []
    of_model = [table.c.kind == "call"] if wanted.model is not None else []  # a tool's name is in the same column
    return [*of_kind, *of_model, *wanted.conditions_of(table)]


def _hours(hour: ColumnElement[Any], wanted: Filter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.since is not None:
        conditions.append(hour >= hour_of(wanted.since))
    if wanted.until is not None:
        conditions.append(hour < hour_of(wanted.until + _SECONDS_AN_HOUR - 1))
    return conditions


def _row(row: Any, names: Sequence[str]) -> CostRow:
    group = {name: _shown(name, row[f"by{index}"]) for index, name in enumerate(names)}
    amounts = {name: dollars(row[name]) for name in AMOUNTS}
    sums = CostSums(**amounts, unknown=int(row["unknown"]))
    counts = [int(row[name]) for name in ("calls", "failed", "input_tokens", "output_tokens", "cached_tokens")]
    return CostRow(group, sums, *counts, is_folded=bool(row["folded"]))


def _shown(name: str, value: Any) -> str | None:
    """Returns a value of a group as text: times as ISO 8601, in UTC."""
    if name == "day":
        return datetime.fromtimestamp(int(value) * 86_400, UTC).strftime("%Y-%m-%d")
    if name == "hour":
        return datetime.fromtimestamp(int(value) * _SECONDS_AN_HOUR, UTC).strftime("%Y-%m-%dT%H:00Z")
    return value


def _texts(group: Mapping[str, str | None]) -> list[str]:
    return [value or "" for value in group.values()]
