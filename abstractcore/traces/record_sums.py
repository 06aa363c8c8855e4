"""Records as rows of sums, for what the table of sums has not: each call under its model, and its attempts that others
followed under theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Subquery,
    case,
    cast,
    column,
    func,
    literal,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import JSONB

from .filters import Filter, tag_value
from .spending import RETRIED
from .tables import SUMS, records

_SECONDS_AN_HOUR: Final = 3_600


class _OtherModel(NamedTuple):
    """What was spent on an attempt of another model than that of its record; `source` is the table of all of one."""

    source: Any
    provider: ColumnElement[Any]
    model: ColumnElement[Any]
    known: ColumnElement[Any]
    estimated: ColumnElement[Any]


def sums_of_records(dialect: str, tags: Sequence[str], wanted: Filter, *, apart: bool) -> Subquery:
    """Returns rows with the columns of the table of sums, and the values of `tags` in `tag0`, `tag1` and so on.

    Attempts that others followed are rows of their own if they are to be `apart`. They are found by what became of
    their call, and by the model that was asked.
    """
    of_call = replace(wanted, model=None).conditions_of(records)
    of_call += [tag_value(dialect, name) == value for name, value in (wanted.tags or {}).items()]
    of_call.append(records.c.kind != "interaction")
    values = {f"tag{index}": tag_value(dialect, name) for index, name in enumerate(tags)}
    values |= {"kind": records.c.kind, "operation": records.c.operation, "hour": _hour(dialect)}
    own = {"provider": records.c.provider, "model": records.c.model}
    whole = _row({**values, **own, "outcome": records.c.outcome}, _sums_of_call(apart=apart)).where(*of_call)
    if not apart:
        return whole.subquery()
    retried, is_retried = {**values, "outcome": literal(RETRIED)}, _retried(known=True) + _retried(known=False) > 0
    other = _other_model(dialect)
    rest = {
        "known": _retried(known=True) - _sum_of(other.known, other),
        "estimated": _retried(known=False) - _sum_of(other.estimated, other),
    }
    of_other = {"provider": other.provider, "model": other.model}
    spent = {"known": other.known, "estimated": other.estimated}
    return union_all(
        whole,
        _row({**retried, **own}, rest).where(*of_call, is_retried),
        _row({**retried, **of_other}, spent)
        .join_from(records, other.source, literal(True))
        .where(*of_call, is_retried),
    ).subquery()


def _row(values: Mapping[str, ColumnElement[Any]], sums: Mapping[str, ColumnElement[Any]]) -> Select[Any]:
    """Returns a row with these columns; a sum that is not given is 0."""
    columns = [cast(sums.get(name, literal(0)), BigInteger).label(name) for name in SUMS]
    return select(*(each.label(name) for name, each in sorted(values.items())), *columns)


def _sums_of_call(*, apart: bool) -> Mapping[str, ColumnElement[Any]]:
    """Returns what a record adds, without its attempts that others followed if they are `apart`."""
    nothing = literal(0)
    unpriced = records.c.cost.is_(None) & records.c.estimated_cost.is_(None)
    return {
        "calls": literal(1),
        "known": func.coalesce(records.c.cost, 0) - (_retried(known=True) if apart else nothing),
        "estimated": func.coalesce(records.c.estimated_cost, 0) - (_retried(known=False) if apart else nothing),
        "saved": func.coalesce(records.c.saved_cost, 0),
        "unknown": case(((records.c.kind == "call") & unpriced, 1), else_=0),
        **{name: func.coalesce(records.c[name], 0) for name in ("input_tokens", "output_tokens", "cached_tokens")},
    }


def _retried(*, known: bool) -> ColumnElement[Any]:
    return func.coalesce(records.c.retried_cost if known else records.c.retried_estimated, 0)


def _sum_of(amount: ColumnElement[Any], other: _OtherModel) -> ColumnElement[Any]:
    """Returns the sum of an amount over the other models of a record."""
    found = select(func.coalesce(func.sum(amount), 0)).select_from(other.source).correlate(records)
    return found.scalar_subquery()


def _other_model(dialect: str) -> _OtherModel:
    """Returns an element of the JSON of other models. Its costs are part of those of all attempts."""
    if dialect == "postgresql":
        elements = func.jsonb_array_elements(cast(records.c.retried_models, JSONB))
        source = elements.table_valued(column("value", JSONB)).lateral()
        fields = [source.c.value[index].astext for index in range(4)]
    else:
        source = func.json_each(records.c.retried_models).table_valued("value")
        fields = [func.json_extract(source.c.value, f"$[{index}]") for index in range(4)]
    provider, model, known, estimated = fields
    known, estimated = (cast(each, BigInteger) for each in (known, estimated))
    whole_known, whole_estimated = _retried(known=True), _retried(known=False)
    return _OtherModel(
        source,
        provider,
        model,
        case((known < whole_known, known), else_=whole_known),
        case((estimated < whole_estimated, estimated), else_=whole_estimated),
    )


def _hour(dialect: str) -> ColumnElement[Any]:
    hours: ColumnElement[Any] = records.c.started_at / _SECONDS_AN_HOUR
    return cast(func.floor(hours) if dialect == "postgresql" else hours, Integer)
