"""What worked calls cost is the same wherever it is read: responses, records, the store, budgets, spans, metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from abstractcore import AbstractCoreError, Budget, CallRecord, Services, TraceRecord, context, create_llm, tool
from abstractcore.budgets import DatabaseLedger
from abstractcore.otel import instrument
from abstractcore.traces import CostSums, TraceStore
from tests.backend_doubles import PNG, Beeper, Painter, leave_out_installed_backends
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer
from tests.core.engine.test_operations import Vendor
from tests.core.traces.worked_calls import PRICE, WORKED, Worked

NOTHING = Decimal(0)


class Answer(BaseModel):
    value: int


@tool(price="0.25")
def translate() -> str:
    """Translates the report."""
    return "Der Bericht"


@tool
def clock() -> str:
    """The time."""
    return "noon"


@dataclass
class Program:
    """A program whose calls are answered by a server, and are recorded, kept, limited and traced."""

    server: ScriptedServer
    services: Services
    store: TraceStore
    budgets: Sequence[Budget]
    records: list[TraceRecord] = field(default_factory=list[TraceRecord])
    spans: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)

    def sums_of(self, case: Worked) -> CostSums | None:
        """Makes a worked call; returns what its response says it cost, None if there is none."""
        for reply in case.replies:
            self.server.script(*(reply if isinstance(reply, tuple) else (reply,)))
        with context(tags={"case": case.name}):
            try:
                response = self._response(case)
            except AbstractCoreError as error:
                return _sums(error.loop) if getattr(error, "loop", None) is not None and not case.unknown else None
        if response is None:
            return None
        made = list(getattr(response, "made", ()) or ())
        return sum(map(_sums, made), _sums(response))

    def _response(self, case: Worked) -> Any:
        price: Any = {} if case.price == "none" else {"price": case.price or PRICE}
        facts: Any = {"facts": {"produces": []}} if case.kind == "media" else {}
        options: Any = {"base_url": f"{self.server.url}/v1", "max_retries": 1, "services": self.services}
        provider = case.model.partition("/")[0]
        if provider not in ("openai-compatible", "vendor"):
            options["api_key"] = "k"
        if case.kind == "embed":
            llm = create_llm("vendor", services=self.services, budgets=self.budgets)
            return llm.operate("embed", arguments={"texts": ["hi"]})
        if case.kind == "caption":
            eye = create_llm(case.model, **options, **price, facts={"accepts": ["image"]})
            llm = create_llm(
                case.model, **options, **price, budgets=self.budgets, vision_model=eye, facts={"accepts": []}
            )
            with self.budgets[0], self.budgets[1]:
                return llm.generate("hi", media=[PNG])
        llm: Any = create_llm(case.model, **options, **price, **facts, budgets=self.budgets)
        if case.kind in ("stream", "left"):
            with llm.stream("hi") as stream:
                for _ in stream:
                    if case.kind == "left":
                        return None
            return stream.response
        more: Any = {
            "loop": {"tools": [translate, clock], "run_tools": True},
            "typed": {"response_model": Answer},
            "media": {"modalities": ["text", "audio", "image"]},
        }.get(case.kind, {})
        given: Any = {"max_output_tokens": 50, **case.options, **more}
        return llm.generate("hi", **given)


def _sums(value: Any) -> CostSums:
    estimated = getattr(value, "estimated_cost", None)
    return CostSums(value.cost or NOTHING, estimated or NOTHING, int(value.cost is None and estimated is None))


@pytest.fixture
def program(
    server: ScriptedServer, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Program]:
    """A program with two budgets that hold for all of its calls, one of them in a database."""
    leave_out_installed_backends(monkeypatch)
    services.registry.add_provider(Vendor(f"{server.url}/v1"))

    def register(registry: Any) -> None:
        registry.register_backend(capability="voice", backend_id="tests:voice", factory=Beeper)
        registry.register_backend(capability="vision", backend_id="tests:vision", factory=Painter)

    services.registry.add_backends(register)
    ledger = DatabaseLedger(tmp_path / "budgets.db")
    budgets = [
        Budget(1_000, by="tag:case", unpriced="allow"),
        Budget(1_000, by="tag:case", unpriced="allow", ledger=ledger),
    ]
    program = Program(server, services, TraceStore(tmp_path / "traces.db"), budgets)
    yield program
    program.store.close()
    ledger.close()


@pytest.fixture
def exporting(program: Program) -> Iterator[None]:
    """Traces the program with OpenTelemetry's SDK."""
    tracers, meters = TracerProvider(shutdown_on_exit=False), MeterProvider([program.reader], shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(program.spans))
    with instrument(tracers, meters, services=program.services):
        yield
    tracers.shutdown()
    meters.shutdown()


def test_each_worked_call_has_a_name_of_its_own():
    assert len(WORKED) == len({case.name for case in WORKED})
    assert sum(case.known is not None for case in WORKED) >= 20


@pytest.mark.usefixtures("exporting")
def test_costs_are_the_same_everywhere(program: Program):
    responses: dict[str, CostSums] = {}
    services, store = program.services, program.store
    with (
        services.records.subscribe(program.records.append, records="all"),
        store.keep_for(services.records, "full"),
    ):
        for case in WORKED:
            found = program.sums_of(case)
            if found is not None:
                responses[case.name] = found
        assert services.records.flush(PATIENCE_SECONDS)
        assert store.flush(PATIENCE_SECONDS)

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
    assert {name: state.spent for name, state in memory.items()} == {
        name: state.spent for name, state in shared.items()
    }
    for name, state in memory.items():
        counted = by_case[name].known + by_case[name].estimated
        # What is unknown is not nothing: a budget counts what it has reserved for it.
        assert state.spent == counted or (by_case[name].unknown and state.spent > counted), name
        assert state.reserved == shared[name].reserved == 0, name

    spans = program.spans.get_finished_spans()
    assert len(spans) == len(program.records)
    assert _of_spans(spans) == whole
    counters = _counters(program.reader)
    assert counters["abstractcore.cost.usd"] == pytest.approx(float(whole.known), rel=1e-12)
    assert counters["abstractcore.cost.estimated_usd"] == pytest.approx(float(whole.estimated), rel=1e-12)
    assert counters["abstractcore.cost.unknown_calls"] == whole.unknown


def _of_spans(spans: Sequence[ReadableSpan]) -> CostSums:
    sums = CostSums()
    for attributes in (span.attributes or {} for span in spans):
        costs = [attributes.get(f"abstractcore.cost.{name}") for name in ("usd", "estimated_usd")]
        known, estimated = (Decimal(repr(each or 0)) for each in costs)
        is_call = attributes["gen_ai.operation.name"] not in ("invoke_agent", "execute_tool")
        sums += CostSums(known, estimated, int(is_call and costs == [None, None]))
    return sums


def _counters(reader: InMemoryMetricReader) -> dict[str, float]:
    data: Any = reader.get_metrics_data()
    metrics = [metric for one in data.resource_metrics for scope in one.scope_metrics for metric in scope.metrics]
    counters = [metric for metric in metrics if metric.name.startswith("abstractcore.")]
    return {metric.name: sum(point.value for point in metric.data.data_points) for metric in counters}
