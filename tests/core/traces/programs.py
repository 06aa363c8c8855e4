"""Programs that make worked calls: answered by a server, recorded, kept, limited and traced, with a cache or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
    MediaResult,
    ResponseCache,
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
from tests.backend_doubles import PNG, Beeper, Painter
from tests.chaos_server import PATIENCE_SECONDS, ScriptedServer
from tests.core.engine.test_operations import Vendor
from tests.core.traces.worked_calls import PRICE, Worked
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
    cache: ResponseCache | None = None
    is_second_cached_alone: bool = False
    records: list[TraceRecord] = field(default_factory=list[TraceRecord])
    spans: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    reader: InMemoryMetricReader = field(default_factory=InMemoryMetricReader)

    def sums_of(self, case: Worked) -> CostSums | None:
        """Scripts and makes a worked call; returns what its response says it cost, None if there is none."""
        for reply in case.replies:
            self.server.script(*(reply if isinstance(reply, tuple) else (reply,)))
        return self.sums_again(case)

    def sums_again(self, case: Worked) -> CostSums | None:
        """Makes a worked call; returns what its response says it cost."""
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
        options: Any = {**self._shared(), "base_url": f"{self.server.url}/v1", "max_retries": 1}
        provider = case.model.partition("/")[0]
        if provider not in ("openai-compatible", "vendor"):
            options["api_key"] = "k"
        if case.kind == "embed":
            llm = create_llm("vendor", **self._shared(), budgets=self.budgets)
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
        options |= {
            **self._shared(is_second=True),
            **price,
            "base_url": f"{self.server.url}/v1",
            "api_key": "k",
            "max_retries": 1,
        }
        return create_llm(model or case.model, **options)

    def _shared(self, *, is_second: bool = False) -> dict[str, Any]:
        """The options of all LLMs."""
        is_cached = self.cache is not None and (is_second or not self.is_second_cached_alone)
        return {"services": self.services, "middleware": [self.cache] if is_cached else []}

    def _ask(self, case: Worked) -> str:
        """Asks another model."""
        return self._second(case, budgets=self.budgets).generate("hi").content


@contextmanager
def running(server: ScriptedServer, services: Services, folder: Path) -> Iterator[Program]:
    """Begins a program with two budgets that hold for all of its calls, one of them in a database."""
    services.registry.add_provider(Vendor(f"{server.url}/v1"))

    def register(registry: Any) -> None:
        registry.register_backend(capability="voice", backend_id="tests:voice", factory=Beeper)
        registry.register_backend(capability="vision", backend_id="tests:vision", factory=Painter, priority=1)
        registry.register_backend(capability="audio", backend_id="tests:audio", factory=CallTranscriber)
        for name, asker in ASKERS.items():
            registry.register_backend(capability="vision", backend_id=f"tests:{name}", factory=asker)

    services.registry.add_backends(register)
    ledger = DatabaseLedger(folder / "budgets.db")
    budgets = [
        Budget(1_000, by="tag:case", unpriced="allow"),
        Budget(1_000, by="tag:case", unpriced="allow", ledger=ledger),
    ]
    program = Program(server, services, TraceStore(folder / "traces.db"), budgets)
    try:
        yield program
    finally:
        program.store.close()
        ledger.close()


@contextmanager
def recorded(program: Program) -> Iterator[None]:
    """Keeps the records of a program, and traces it with OpenTelemetry's SDK."""
    tracers, meters = TracerProvider(shutdown_on_exit=False), MeterProvider([program.reader], shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(program.spans))
    services, store = program.services, program.store
    with (
        instrument(tracers, meters, services=services),
        services.records.subscribe(program.records.append, records="all"),
        store.keep_for(services.records, "full"),
    ):
        yield
        assert services.records.flush(PATIENCE_SECONDS)
        assert store.flush(PATIENCE_SECONDS)
    tracers.shutdown()
    meters.shutdown()


def sums_of_spans(spans: Sequence[ReadableSpan]) -> CostSums:
    """Returns the sums of the costs that spans have."""
    total = CostSums()
    for attributes in (span.attributes or {} for span in spans):
        costs = [attributes.get(f"abstractcore.cost.{name}") for name in ("usd", "estimated_usd")]
        known, estimated = (Decimal(repr(each or 0)) for each in costs)
        saved = Decimal(repr(attributes.get("abstractcore.cost.saved_usd", 0)))
        is_call = attributes["gen_ai.operation.name"] not in ("invoke_agent", "execute_tool")
        total += CostSums(known, estimated, int(is_call and costs == [None, None]), saved)
    return total


def counters(reader: InMemoryMetricReader) -> dict[str, float]:
    """Returns the sums of our counters, and of those of tokens."""
    data: Any = reader.get_metrics_data()
    metrics = [metric for one in data.resource_metrics for scope in one.scope_metrics for metric in scope.metrics]
    found = [metric for metric in metrics if hasattr(metric.data.data_points[0], "value")]
    return {metric.name: sum(point.value for point in metric.data.data_points) for metric in found}
