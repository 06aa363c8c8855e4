"""What worked calls cost is the same wherever it is read: responses, records, the store, budgets, spans, metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import BaseModel

from abstractcore import (
    LLM,
    AbstractCoreError,
    Billing,
    Blob,
    Budget,
    CallRecord,
    MediaResult,
    Services,
    ToolLoop,
    TraceRecord,
    Usage,
    context,
    create_llm,
    tool,
)
from abstractcore.budgets import DatabaseLedger
from abstractcore.otel import instrument
from abstractcore.ports import Made
from abstractcore.traces import CostSums, TraceStore
from abstractcore_media.audio.backend import CallTranscriber
from tests.backend_doubles import PNG, Beeper, Painter, leave_out_installed_backends
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer
from tests.core.engine.test_operations import Vendor
from tests.core.traces.worked_calls import PRICE, WORKED, Worked
from tests.media.parts import EXAMPLES

MEETING = EXAMPLES / "meeting.wav"


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


class Asker:
    """A backend of images whose prompts a model writes."""

    is_local = True
    asked: Mapping[str, Any] = MappingProxyType({})
    usage: Usage | None = None

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    async def t2i(self, prompt: str) -> Made:
        await self.owner.generate(prompt, max_output_tokens=50, **self.asked)
        return Made.of(PNG, "image/png", usage=self.usage)


class SyncAsker(Asker):
    def t2i(self, prompt: str) -> Made:  # pyright: ignore[reportIncompatibleMethodOverride]
        self.owner.llm.generate(prompt, max_output_tokens=50, parent_id=self.owner.trace_id)
        return Made.of(PNG, "image/png")


class ChargedAsker(Asker):
    is_local = False
    usage = Usage(billing=Billing(Decimal("0.01")))


class UnpricedAsker(Asker):
    is_local = False


class ToolAsker(Asker):
    asked: Mapping[str, Any] = {"tools": [translate], "run_tools": True}


class FailingAsker(Asker):
    async def t2i(self, prompt: str) -> Made:
        await super().t2i(prompt)
        raise ValueError("the brush is dry")


ASKERS = {
    "async": Asker,
    "sync": SyncAsker,
    "charged": ChargedAsker,
    "unpriced": UnpricedAsker,
    "tools": ToolAsker,
    "failing": FailingAsker,
    "unanswered": Asker,
}


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
                loop: ToolLoop | None = getattr(error, "loop", None)
                return None if loop is None else loop.costs
        if response is None:
            return None
        made: Sequence[MediaResult[Any]] = getattr(response, "made", ())
        return sum((each.costs for each in made), response.costs)

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
        if case.kind == "ask":
            backend = f"tests:{case.options.get('backend', 'async')}"
            llm = create_llm(case.model, **options, **price, budgets=self.budgets, vision_backend=backend)
            return llm.vision.t2i("hi")
        if case.kind in ("caption", "caption streamed"):
            options |= {"facts": {"accepts": []}, "vision_model": self._second(case, facts={"accepts": ["image"]})}
        elif case.kind in ("transcribe", "listen"):
            options |= {"facts": {"accepts": []}, "transcription_model": self._second(case, "openai/whisper-1")}
        llm: Any = create_llm(case.model, **options, **price, **facts, budgets=self.budgets)
        picture = Blob.from_bytes(PNG, "image/png", name=f"{case.name}.png")  # a file of its own: captions are kept
        if case.kind == "background":
            llm.generate("hi", provider_options={"openai-responses": {"background": True}})
            for _ in range(2):
                llm.operate("retrieve_reply", arguments={"id": "r"})
            return None
        if case.kind == "transcribe":
            return llm.audio.transcribe(MEETING)
        if case.kind in ("stream", "left", "caption streamed"):
            with llm.stream("hi", media=[picture] if case.kind == "caption streamed" else None) as stream:
                for _ in stream:
                    if case.kind == "left":
                        return None
            return stream.response
        more: Any = {
            "loop": {"tools": [translate, clock], "run_tools": True},
            "tool that asks": {"tools": [tool(partial(self._ask, case), name="ask")], "run_tools": True},
            "caption": {"media": [picture]},
            "listen": {"media": [MEETING]},
            "typed": {"response_model": Answer},
            "media": {"modalities": ["text", "audio", "image"]},
        }.get(case.kind, {})
        given: Any = {"max_output_tokens": 50, **case.options, **more}
        response = llm.generate("hi", **given)
        return None if case.kind == "tool that asks" else response  # which has no costs of calls that tools make

    def _second(self, case: Worked, model: str | None = None, **options: Any) -> LLM:
        """A model that is asked for another one."""
        price: Any = {"price": PRICE} if model is None else {}
        url, model = f"{self.server.url}/v1", model or case.model
        return create_llm(model, base_url=url, api_key="k", max_retries=1, services=self.services, **price, **options)

    def _ask(self, case: Worked) -> str:
        """Asks another model."""
        return self._second(case, budgets=self.budgets).generate("hi").content


@pytest.fixture
def program(
    server: ScriptedServer, services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Program]:
    """A program with two budgets that hold for all of its calls, one of them in a database."""
    leave_out_installed_backends(monkeypatch)
    services.registry.add_provider(Vendor(f"{server.url}/v1"))

    def register(registry: Any) -> None:
        registry.register_backend(capability="voice", backend_id="tests:voice", factory=Beeper)
        registry.register_backend(capability="vision", backend_id="tests:vision", factory=Painter, priority=1)
        registry.register_backend(capability="audio", backend_id="tests:audio", factory=CallTranscriber)
        for name, asker in ASKERS.items():
            registry.register_backend(capability="vision", backend_id=f"tests:{name}", factory=asker)

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
    for name, state in memory.items():
        assert replace(state, budget="") == replace(shared[name], budget=""), name
        counted = by_case[name]
        assert (state.known, state.reserved) == (counted.known, 0), name
        # What is unknown is not nothing: a budget counts what it has reserved for it.
        assert state.estimated == counted.estimated or (counted.unknown and state.estimated > counted.estimated), name
        assert state.spent == state.known + state.estimated

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
