"""What worked calls cost is the same wherever it is read: responses, records, the store, budgets, spans, metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from abstractcore import CallRecord, Services
from abstractcore.traces import CostSums
from tests.backend_doubles import leave_out_installed_backends
from tests.chaos_server import ScriptedServer
from tests.core.traces.programs import Program, counters, recorded, running, sums_of_spans
from tests.core.traces.worked_calls import WORKED


@pytest.fixture
def program(
    server: ScriptedServer, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Program]:
    """A program without a cache."""
    leave_out_installed_backends(monkeypatch)
    with running(server, services, tmp_path) as program:
        yield program


def test_each_worked_call_has_a_name_of_its_own():
    assert len(WORKED) == len({case.name for case in WORKED})
    assert sum(case.known is not None for case in WORKED) >= 20


def test_costs_are_the_same_everywhere(program: Program):
    responses: dict[str, CostSums] = {}
    store = program.store
    with recorded(program):
        for case in WORKED:
            found = program.sums_of(case)
            if found is not None:
                responses[case.name] = found

    by_case = {name: CostSums() for name in (case.name for case in WORKED)}
    for record in program.records:
        by_case[record.tags["case"]] += CostSums.of(record)
    expected = {case.name: (Decimal(case.known or 0), case.estimated, case.unknown) for case in WORKED}
    assert {name: (each.known, each.estimated > 0, each.unknown) for name, each in by_case.items()} == expected

    assert responses == {name: by_case[name] for name in responses}
    assert len(responses) >= 45

    rows = {row.group["tag:case"]: row for row in store.costs(by=["tag:case"], since=0)}
    assert {name: row.costs for name, row in rows.items()} == by_case
    calls = [record for record in program.records if isinstance(record, CallRecord)]
    whole = sum(by_case.values(), CostSums())
    (row,) = store.costs(by=[], since=0)
    assert (row.costs, row.calls) == (whole, len(calls))
    assert row.input_tokens == sum(record.usage.input or 0 for record in calls)
    assert row.output_tokens == sum(record.usage.output or 0 for record in calls)
    scanned = store.costs(by=["tag:case", "tag:none"], since=0)
    assert {row.group["tag:case"]: row.costs for row in scanned} == by_case
    for name, sums in by_case.items():
        trees = [store.trace(each.trace_id) for each in store.calls(tags={"case": name})]
        by_root = {tree.root.record.trace_id: tree.costs for tree in trees}
        assert sum(by_root.values(), CostSums()) == sums, name

    memory, shared = ({case.name: budget.state(case.name) for case in WORKED} for budget in program.budgets)
    for name, state in memory.items():
        assert replace(state, budget="") == replace(shared[name], budget=""), name
        counted = by_case[name]
        assert (state.known, state.reserved) == (counted.known, 0), name
        # What is unknown is not nothing: a budget counts what it has reserved for it.
        assert state.estimated == counted.estimated or (counted.unknown and state.estimated > counted.estimated), name
        assert state.spent == state.known + state.estimated

    spans = program.spans.get_finished_spans()
    assert len(spans) == len(program.records)
    assert sums_of_spans(spans) == whole
    counted = counters(program.reader)
    assert counted["abstractcore.cost.usd"] == pytest.approx(float(whole.known), rel=1e-12)
    assert counted["abstractcore.cost.estimated_usd"] == pytest.approx(float(whole.estimated), rel=1e-12)
    assert counted["abstractcore.cost.unknown_calls"] == whole.unknown
