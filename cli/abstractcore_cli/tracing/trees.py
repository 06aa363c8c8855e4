"""`abstractcore traces show`: a trace as a tree with a waterfall, then its conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len

import abstractcore
from abstractcore import CallRecord, ToolRecord, TraceRecord
from abstractcore.schema import visible
from abstractcore.schema.amounts import cost_of, dollars, moment, seconds, sums, tokens

from ..layout import wrapped
from ..reporting import json_line, reported
from ..screen import can_show, screen_width, show_facts, show_lines, write
from .bars import ASCII, UNICODE, Ink, span_bar
from .conversations import Conversation, shortened

if TYPE_CHECKING:
    from abstractcore.schema import MediaDecision
    from abstractcore.traces import Trace, TraceNode

_GAP: Final = 2
_LEAST_BAR, _MOST_BAR = 8, 60


def show_trace(id: str, place: str | None, *, as_json: bool) -> None:
    """Prints the tree that a record is in, and its conversation."""
    from .stores import opened, record_id

    with reported(as_json=as_json), opened(place) as store:
        trace = store.trace(record_id(store, id))
        if as_json:
            write(json_line({"trace": _data(trace), "exit_code": 0}))
            return
        ink = UNICODE if can_show(UNICODE.text) else ASCII
        show_facts(f"trace {trace.root.record.trace_id}", _facts(trace))
        show_lines(_tree_lines(trace, ink, screen_width()))
        show_lines(Conversation().lines(node.record for node in trace))


def _facts(trace: Trace) -> Iterator[tuple[str, str]]:
    root = trace.root.record
    yield "began", moment(min(node.record.started_at for node in trace))
    yield "outcome", root.outcome
    yield "took", seconds(_end(trace) - _begin(trace))
    yield "cost", sums(trace.costs)
    if root.tags:
        yield "tags", " ".join(f"{name}={value}" for name, value in root.tags.items())
    for node in trace:
        for score in node.scores:
            comment = f": {score.comment}" if score.comment else ""
            of_record = "" if node is trace.root else f" of {node.name}"
            yield "scores", f"{score.name} {score.value:g}{of_record}{comment}"
    if trace.is_cut:
        yield "cut", "it has more records than can be shown"


def _begin(trace: Trace) -> float:
    return min(node.record.started_at for node in trace)


def _end(trace: Trace) -> float:
    return max(node.record.started_at + node.record.seconds for node in trace)


@dataclass(frozen=True, slots=True)
class _TreeRow:
    """A record in the tree. `indent` is what stands before its details."""

    label: str
    indent: str
    cells: tuple[str, ...]
    record: TraceRecord


def _tree_lines(trace: Trace, ink: Ink, width: int) -> Iterator[list[tuple[str, str]]]:
    """Yields a line for each record, with a bar that says when it ran if there is room, and lines of its details."""
    begin = _begin(trace)
    total = _end(trace) - begin
    rows = [*_rows(trace.root, begin, ink)]
    if not width:
        for row in rows:
            yield [("\t".join((row.label, *row.cells)).rstrip(), "")]
            details = (" ".join(visible(detail).split()) for detail in _details(row.record))
            yield from ([(f"{row.indent}{detail}", "")] for detail in details)
        yield [("", "")]
        return
    sizes = [max(map(cell_len, column)) for column in zip(*(row.cells for row in rows), strict=True)]
    beside = sum(sizes) + _GAP * len(sizes)
    longest = max(cell_len(row.label) for row in rows)
    has_bars = width - beside - _GAP - longest >= _LEAST_BAR
    bar_size = min(_MOST_BAR, width - beside - _GAP - longest) if has_bars else 0
    for row in rows:
        cells = "".join(" " * _GAP + cell.ljust(size) for cell, size in zip(row.cells, sizes, strict=True))
        bar = span_bar(row.record.started_at - begin, row.record.seconds, total, bar_size, ink)
        style = "bold" if row.record.outcome == "done" else "bold red"
        if longest + beside <= width:
            label = row.label + " " * (longest - cell_len(row.label))
            yield [(label, style), (cells, ""), (f"{' ' * _GAP}{bar}" if bar else "", "cyan")]
        else:
            yield [(row.label, style)]
            yield from ([(row.indent + line, "")] for line in wrapped(cells.strip(), width - len(row.indent)))
        for detail in _details(row.record):
            lines = wrapped(" ".join(visible(detail).split()), max(20, width - len(row.indent)), "  ")
            yield from ([(row.indent, ""), (line, "dim")] for line in lines)
    yield [("", "")]


def _rows(root: TraceNode, begin: float, ink: Ink) -> Iterator[_TreeRow]:
    """Yields a row for each record, depth first."""
    waiting: list[tuple[TraceNode, str, str]] = [(root, "", "")]
    while waiting:
        node, before, indent = waiting.pop()
        below = indent + (ink.trunk if node.children else " " * len(ink.trunk))
        yield _TreeRow(before + _label(node), below, _cells(node.record, begin), node.record)
        for number, child in reversed([*enumerate(node.children, 1)]):
            is_last = number == len(node.children)
            branch = ink.last if is_last else ink.fork
            waiting.append((child, indent + branch, indent + (" " * len(ink.trunk) if is_last else ink.trunk)))


def _label(node: TraceNode) -> str:
    record = node.record
    if isinstance(record, ToolRecord):
        return " ".join(visible(f"{record.tool}()").split())
    if isinstance(record, CallRecord):
        operation = "" if record.operation == "chat" else f" ({record.operation})"
        return " ".join(visible(f"{record.provider}/{record.model}{operation}").split())
    return record.kind


def _cells(record: TraceRecord, begin: float) -> tuple[str, ...]:
    """Returns the outcome, when it began, how long it took, its tokens and its cost."""
    outcome: str = record.outcome
    counts = cost = ""
    if isinstance(record, CallRecord):
        outcome = "thrown away" if record.discarded and outcome == "done" else outcome
        counts = f"{tokens(record.usage.input)} in, {tokens(record.usage.output)} out"
        cost = cost_of(record.cost, record.estimated_cost, record.saved_cost)
    elif isinstance(record, ToolRecord):
        cost = "" if record.cost is None else dollars(record.cost)
    else:
        outcome = record.status or outcome
    return outcome, f"+{seconds(max(0.0, record.started_at - begin))}", seconds(record.seconds), counts, cost


def _details(record: TraceRecord) -> Iterator[str]:
    """Yields what else is to say about a record, one line each."""
    if isinstance(record, CallRecord):
        yield from _details_of_call(record)
    elif isinstance(record, ToolRecord):
        yield from _details_of_tool(record)
    if record.error is not None:
        yield f"error: {record.error.type}: {record.error.message}"
    for warning in record.warnings:
        yield f"warning: {warning.message}"


def _details_of_call(record: CallRecord) -> Iterator[str]:
    if record.cached_at is not None:
        yield f"from a cache, asked for {moment(record.cached_at)}"
    if record.seconds_waited:
        yield f"waited {seconds(record.seconds_waited)} for limits"
    if record.seconds_to_first is not None:
        yield f"first words after {seconds(record.seconds_to_first)}"
    if len(record.attempts) > 1 or any(attempt.error for attempt in record.attempts):
        for attempt in record.attempts:
            status = "" if attempt.status is None else f" {attempt.status}"
            error = f" {attempt.error}" if attempt.error else ""
            cost = ""
            if attempt.cost is not None or attempt.estimated_cost is not None:
                cost = f", {cost_of(attempt.cost, attempt.estimated_cost)}"
            waited = f", after a wait of {seconds(attempt.seconds_waited)}" if attempt.seconds_waited else ""
            yield f"attempt {attempt.number}:{status}{error}, {seconds(attempt.seconds)}{waited}{cost}"
    yield from (_decision(decision) for decision in record.media)
    if record.cost is None and record.cost_reason:
        yield f"cost: {record.cost_reason}"


def _decision(decision: MediaDecision) -> str:
    line = f"file {decision.source}: {decision.route}, since {decision.reason}"
    if decision.model is not None:
        line += f"; by {decision.model}"
    return line if decision.sent is None else f"{line}; sent {decision.sent.media_type}"


def _details_of_tool(record: ToolRecord) -> Iterator[str]:
    if record.server is not None:
        yield f"by the {'agent' if record.source == 'a2a' else 'server'} {record.server}"
    if record.approval is not None:
        yield f"{record.approval.decision} by the {record.approval.by}"
    if record.arguments is not None:
        yield f"arguments {shortened(record.arguments)}"
    if record.result is not None:
        yield f"{'error' if record.result.is_error else 'result'} {shortened(record.result.as_text)}"


def _data(trace: Trace) -> dict[str, Any]:
    costs = trace.costs
    amounts = {"known": f"{costs.known:f}", "estimated": f"{costs.estimated:f}", "unknown": costs.unknown}
    return {"costs": amounts, "is_cut": trace.is_cut, "records": [_node_data(node) for node in trace]}


def _node_data(node: TraceNode) -> dict[str, Any]:
    scores: Sequence[dict[str, Any]] = [
        {"name": each.name, "value": each.value, "comment": each.comment, "at": each.at} for each in node.scores
    ]
    record = json.loads(abstractcore.to_json(node.record))
    return {"depth": node.depth, "name": node.name, "record": record, "scores": scores}
