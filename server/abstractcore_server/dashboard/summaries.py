"""Sums over time, and rows of calls, as the JSON that the page draws."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from abstractcore.schema import CostSums

if TYPE_CHECKING:
    from abstractcore.traces import CallSummary, CostRow, TraceStore

    from .query import CallsQuery, SummaryQuery

SAMPLED_CALLS: Final = 5_000
"""Durations, and the names of tags, are those of so many of the latest calls."""
PAGE_CALLS: Final = 50
_GROUPS: Final = 7
"""So many groups have lines of their own; the others are one."""
OTHERS: Final = "(others)"
_MOST_TIMES: Final = 2_000
_DAY_SECONDS: Final = 86_400
_AMOUNTS: Final = ("known", "estimated", "saved")
_COUNTS: Final = ("unknown", "calls", "failed", "input_tokens", "output_tokens")


def summary(store: TraceStore, query: SummaryQuery) -> dict[str, Any]:
    """Returns the sums of each group over time, and how long its latest calls took."""
    unit = "hour" if query.step % _DAY_SECONDS else "day"
    rows = store.costs(by=[unit, query.by], since=query.since)
    latest = store.calls(since=query.since, limit=SAMPLED_CALLS)
    step = query.step
    starts = {text: _floor(_seconds(text), step) for text in {row.group[unit] or "" for row in rows}}
    times = _times(sorted({*starts.values()} | {_floor(each.started_at, step) for each in latest}), step)
    names = _largest(rows, query.by)
    places = {time: index for index, time in enumerate(times)}
    groups = {name: _SummedGroup(len(times)) for name in names}
    for row in rows:
        name = _name(row, query.by)
        group = groups.setdefault(name if name in names else OTHERS, _SummedGroup(len(times)))
        place = places.get(starts[row.group[unit] or ""])
        if place is not None:
            group.add(place, row)
    return {
        "times": times,
        "groups": [{"name": name, **group.shown()} for name, group in groups.items()],
        "seconds": [*_durations(latest, query.by, names, times, step)],
        "sampled": len(latest),
        "is_sample": len(latest) == SAMPLED_CALLS,
        "is_cut": len(times) == _MOST_TIMES,
        "tags": sorted({name for each in latest for name in each.tags}),
        "totals": _totals(rows),
    }


class _SummedGroup:
    """The sums of a group: of all its time, and by place in the list of times."""

    def __init__(self, length: int) -> None:
        self._sums: dict[str, list[float]] = {name: [0] * length for name in (*_AMOUNTS, *_COUNTS)}
        self._costs = CostSums()

    def add(self, place: int, row: CostRow) -> None:
        """Adds a row."""
        self._costs += row.costs
        for name, number in _numbers(row).items():
            self._sums[name][place] += number

    def shown(self) -> dict[str, Any]:
        """Returns the sums; totals of amounts as exact texts."""
        return {**self._sums, **{f"{name}_total": text for name, text in amounts(self._costs).items()}}


def calls_page(store: TraceStore, query: CallsQuery) -> dict[str, Any]:
    """Returns one page of calls, and whether there are more."""
    found = store.calls(
        since=query.since,
        until=query.until,
        model=query.model,
        tags=query.tags,
        failed=query.failed,
        text=query.text,
        order=query.order,
        skip=query.skip,
        limit=PAGE_CALLS + 1,
    )
    return {"calls": [call_row(each) for each in found[:PAGE_CALLS]], "has_more": len(found) > PAGE_CALLS}


def call_row(call: CallSummary) -> dict[str, Any]:
    """Returns one call without its content."""
    return {
        "id": call.trace_id,
        "number": call.number,
        "provider": call.provider,
        "model": call.model,
        "operation": call.operation,
        "outcome": call.outcome,
        "started_at": call.started_at,
        "seconds": call.seconds,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cost": amount(call.cost),
        "estimated_cost": amount(call.estimated_cost),
        "saved_cost": amount(call.saved_cost),
        "tags": dict(call.tags),
    }


def amounts(costs: CostSums) -> dict[str, str | None]:
    """Returns sums in dollars as exact texts."""
    return {name: amount(getattr(costs, name)) for name in _AMOUNTS}


def amount(dollars: Decimal | None) -> str | None:
    """Returns an amount as exact text."""
    return None if dollars is None else f"{dollars:f}"


def _seconds(text: str) -> float:
    """Returns when an hour or a day of the store's sums begins."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def _floor(seconds: float, step: int) -> int:
    return math.floor(seconds / step) * step


def _times(starts: Sequence[int], step: int) -> list[int]:
    """Returns all times from the first to the last; only those with calls if there were too many."""
    if not starts or (starts[-1] - starts[0]) // step >= _MOST_TIMES:
        return [*starts[-_MOST_TIMES:]]
    return [*range(starts[0], starts[-1] + 1, step)]


def _name(row: CostRow, by: str) -> str:
    if row.is_folded:
        return OTHERS
    return row.group[by] or ("(tools)" if by in ("model", "provider") else "(without)")


def _largest(rows: Iterable[CostRow], by: str) -> list[str]:
    """Returns the names of the groups that cost most, then of those with most calls."""
    totals: dict[str, list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0)])
    for row in rows:
        total = totals[_name(row, by)]
        total[0] += row.costs.known + row.costs.estimated
        total[1] += row.calls
    totals.pop(OTHERS, None)
    return sorted(totals, key=lambda name: (*(-each for each in totals[name]), name))[:_GROUPS]


def _numbers(row: CostRow) -> Mapping[str, float]:
    """Returns the sums of a row, as numbers that a chart can draw."""
    return {
        **{name: float(getattr(row.costs, name)) for name in _AMOUNTS},
        "unknown": row.costs.unknown,
        "calls": row.calls,
        "failed": row.failed,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
    }


def _totals(rows: Sequence[CostRow]) -> dict[str, Any]:
    numbers = [_numbers(row) for row in rows]
    costs = sum((row.costs for row in rows), CostSums())
    return {**amounts(costs), **{name: sum(each[name] for each in numbers) for name in _COUNTS}}


def _durations(
    calls: Iterable[CallSummary], by: str, names: Sequence[str], times: Sequence[int], step: int
) -> Iterable[dict[str, Any]]:
    """Yields for each group the median and the 95th percentile of the seconds of its calls, by time."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for call in calls:
        name = _group_of(call, by)
        found[name if name in names else OTHERS][_floor(call.started_at, step)].append(call.seconds)
    for name in [*names, OTHERS]:
        if name in found:
            of_times = [sorted(found[name].get(time, ())) for time in times]
            yield {
                "name": name,
                "median": [_percentile(each, 0.5) for each in of_times],
                "p95": [_percentile(each, 0.95) for each in of_times],
            }


def _group_of(call: CallSummary, by: str) -> str:
    if by == "provider":
        return call.provider
    return call.model if by == "model" else call.tags.get(by.removeprefix("tag:"), "(without)")


def _percentile(values: Sequence[float], share: float) -> float | None:
    """Returns the value below which a share of the sorted values is (nearest rank)."""
    return values[max(0, math.ceil(share * len(values)) - 1)] if values else None
