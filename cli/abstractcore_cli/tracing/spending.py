"""`abstractcore costs`: sums of costs as a table with bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len

from abstractcore.schema import visible
from abstractcore.schema.amounts import counted, dollars, sums

from ..reporting import json_line, reported
from ..screen import can_show, note, screen_width, show_table, write
from .bars import ASCII, UNICODE, stacked_bar
from .stores import CallChoice, lacking_tag, opened

if TYPE_CHECKING:
    from abstractcore.traces import CostRow, CostSums, TraceStore

_NUMBERS: Final = ("known", "estimated", "unknown", "saved", "calls", "failed", "in", "out")
_GAP: Final = 2
_LEAST_BAR, _MOST_BAR = 6, 40
_TIMES: Final = ("day", "hour")
_NO_VALUE: Final = {"model": "(tools)", "provider": "(tools)"}
_LOST: Final = {
    "failed": "calls that failed",
    "cancelled": "calls that were cancelled",
    "abandoned": "streams that were not read to their end",
    "retried": "attempts that others followed",
    "discarded": "answers that were thrown away and asked for again",
}


def show_costs(by: Sequence[str], choice: CallChoice, place: str | None, *, as_json: bool) -> None:
    """Prints the sums of each group: times in their order, others the dearest first."""
    with reported(as_json=as_json), opened(place) as store:
        names = [name for given in by for name in given.split(",") if name]
        rows = store.costs(by=names, **choice.filters())
        times = [name for name in names if name in _TIMES]
        rows.sort(key=lambda row: [row.group[name] or "" for name in times])
        total = _total(rows)
        lost = _lost(store, choice) if "tool" not in names else {}
        if as_json:
            data = {"by": names, "rows": [_facts(row) for row in rows], "total": _amounts(total)}
            outcomes = {outcome: _amounts(costs) for outcome, costs in lost.items()}
            write(json_line({**data, "without_result": outcomes, "exit_code": 0}))
            return
        if not rows:
            is_all = choice.model is None and not choice.tags and not choice.failed
            note(f"No calls since {choice.since}." if is_all else choice.why_none(store))
            return
        _show(names, rows)
        for name in names:
            tag = name.removeprefix("tag:")
            if tag != name and (lacking := lacking_tag(store, tag)):
                note(f"No call has the tag {tag}; {lacking}")
                note(f"Give it to calls: abstractcore ask --tag {tag}=VALUE, or tags={{{tag!r}: ...}} in Python.")
        note(f"total: {sums(total)}")
        for outcome, costs in lost.items():
            note(f"of it, {_LOST[outcome]}: {sums(costs)}")
        if any(row.is_folded for row in rows):
            note("'other' is the rest of a tag that has too many values in an hour.")


def _show(names: Sequence[str], rows: Sequence[CostRow]) -> None:
    cells = [(*_group(row, names), *_numbers(row)) for row in rows]
    headers = (*names, *_NUMBERS)
    room = screen_width() - sum(
        max(cell_len(visible(cell)) for cell in column) + _GAP for column in zip(headers, *cells, strict=True)
    )
    if room < _LEAST_BAR:
        show_table(headers, cells)
        return
    ink = UNICODE if can_show(UNICODE.text) else ASCII
    width = min(room, _MOST_BAR)
    largest = max(float(row.costs.known + row.costs.estimated) for row in rows)
    bars = [stacked_bar(float(row.costs.known), float(row.costs.estimated), largest, width, ink) for row in rows]
    show_table((*headers, ""), [(*row, bar) for row, bar in zip(cells, bars, strict=True)])


def _group(row: CostRow, names: Sequence[str]) -> list[str]:
    values = [(name, row.group[name]) for name in names]
    return [_NO_VALUE.get(name, "(none)") if value is None else value or "(empty)" for name, value in values]


def _numbers(row: CostRow) -> tuple[str, ...]:
    costs = row.costs
    return (
        "-" if not costs.known and costs.unknown >= row.calls > 0 else dollars(costs.known),
        f"about {dollars(costs.estimated)}" if costs.estimated else "-",
        counted(costs.unknown, "call") if costs.unknown else "-",
        dollars(costs.saved) if costs.saved else "-",
        f"{row.calls:,}",
        f"{row.failed:,}",
        f"{row.input_tokens:,}",
        f"{row.output_tokens:,}",
    )


def _lost(store: TraceStore, choice: CallChoice) -> dict[str, CostSums]:
    """Returns what was spent without a result that was used, by outcome."""
    rows = store.costs(by=["outcome"], **choice.filters())
    found = {row.group["outcome"] or "": row.costs for row in rows}
    return {outcome: found[outcome] for outcome in _LOST if outcome in found}


def _total(rows: Sequence[CostRow]) -> CostSums:
    from abstractcore.traces import CostSums

    total = CostSums()
    for row in rows:
        total += row.costs
    return total


def _facts(row: CostRow) -> dict[str, Any]:
    return {
        "group": dict(row.group),
        **_amounts(row.costs),
        "calls": row.calls,
        "failed": row.failed,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cached_tokens": row.cached_tokens,
        "is_folded": row.is_folded,
    }


def _amounts(costs: CostSums) -> dict[str, Any]:
    amounts = {name: f"{getattr(costs, name):f}" for name in ("known", "estimated", "saved")}
    return {**amounts, "unknown": costs.unknown}
