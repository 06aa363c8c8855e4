"""RecordMetrics: their sums are those of the records, with known, estimated and unknown costs apart."""

from __future__ import annotations

from decimal import Decimal

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from abstractcore import (
    OverloadedError,
    Price,
    ScriptExhaustedError,
    Services,
    Usage,
    create_llm,
    tool,
)
from abstractcore.otel.metrics import RecordMetrics
from abstractcore.schema import Billing
from abstractcore.testing import ScriptedReply
from tests.core.otel.conftest import Program
from tests.core.otel.test_attributes import record
from tests.core.tools.loops import calls

USAGE = Usage(input=100, output=40, cached=60, cache_written=20, reasoning=10)
USAGE_COUNTERS = {
    "input": "gen_ai.client.inference.usage.input_tokens",
    "output": "gen_ai.client.inference.usage.output_tokens",
    "cached": "gen_ai.client.inference.usage.cache_read.input_tokens",
    "cache_written": "gen_ai.client.inference.usage.cache_write.input_tokens",
    "reasoning": "gen_ai.client.inference.usage.reasoning.output_tokens",
}


@tool(price="0.25")
def add(left: int, right: int) -> int:
    """Adds two numbers."""
    return left + right


def work(services: Services) -> None:
    """Makes 60 calls: whole and streamed ones, with tools, with retries, failed, abandoned and without a price."""
    price = Price(input=1, output=2)
    reply = ScriptedReply.text("one two three", usage=USAGE)
    priced = create_llm("scripted", model="priced", replies=lambda call: reply, services=services, price=price)
    for _ in range(20):
        priced.generate("hi")
        with priced.stream("hi") as stream:
            list(stream)
    for _ in range(4):
        with priced.stream("hi") as stream:
            next(stream)
    looping = [calls(("add", {"left": 1, "right": 2})), reply] * 5
    llm = create_llm("scripted", model="tools", replies=looping, services=services, price=price)
    for _ in range(5):
        llm.generate("hi", tools=[add], run_tools=True)
    free = create_llm("scripted", model="unpriced", replies=[OverloadedError("busy"), reply], services=services)
    free.generate("hi")
    for _ in range(5):
        with pytest.raises(ScriptExhaustedError):
            free.generate("hi")


def test_sums_are_those_of_the_records(program: Program, services: Services):
    program.instrument()
    work(services)
    records, runs = program.calls(), program.tool_runs()
    assert (len(records), len(runs)) == (60, 5)
    for field, name in USAGE_COUNTERS.items():
        assert program.total(name) == sum(getattr(each.usage, field) or 0 for each in records)
    known = sum((each.cost for each in [*records, *runs] if each.cost is not None), Decimal(0))
    estimated = sum((each.estimated_cost for each in records if each.estimated_cost is not None), Decimal(0))
    unknown = [each for each in records if each.cost is None and each.estimated_cost is None]
    assert known > 0
    assert estimated > 0
    assert program.total("abstractcore.cost.usd") == pytest.approx(float(known), rel=1e-12)
    assert program.total("abstractcore.cost.estimated_usd") == pytest.approx(float(estimated), rel=1e-12)
    assert program.total("abstractcore.cost.unknown_calls") == len(unknown)
    spans = [dict(span.attributes or {}) for span in program.finished()]
    for name, total in (("abstractcore.cost.usd", known), ("abstractcore.cost.estimated_usd", estimated)):
        assert sum(span.get(name, 0) for span in spans) == pytest.approx(float(total), rel=1e-12)
    assert sum(span.get("gen_ai.usage.input_tokens", 0) for span in spans) == program.total(USAGE_COUNTERS["input"])
    durations = program.metrics()["gen_ai.client.inference.duration"]
    assert sum(count for _, (count, _) in durations) == 60
    assert {attributes.get("error.type") for attributes, _ in durations} == {None, "abandoned", "ScriptExhaustedError"}
    first = program.metrics()["gen_ai.client.inference.time_to_first_chunk"]
    assert sum(count for _, (count, _) in first) == sum(1 for each in records if each.streamed)


def measured(*usages: Usage, operation: str = "chat") -> dict[str, dict[str, float]]:
    """Returns the counts of counters by modality."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    metrics = RecordMetrics(provider.get_meter("test"))
    for usage in usages:
        metrics.add(record(usage=usage, operation=operation))
    data = reader.get_metrics_data()
    assert data is not None
    found: dict[str, dict[str, float]] = {}
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        for point in metric.data.data_points:
            modality = str(dict(point.attributes or {}).get("gen_ai.token.modality"))
            found.setdefault(metric.name, {})[modality] = getattr(point, "value", getattr(point, "sum", 0.0))
    provider.shutdown()
    return found


def test_tokens_are_counted_by_modality():
    billing = Billing(counts={"input_image": 30, "cache_read_image": 10})
    found = measured(Usage(input=100, output=40, cached=15, input_audio=5, output_audio=2, billing=billing))
    assert found[USAGE_COUNTERS["input"]] == {"audio": 5, "image": 30, "unknown": 65}
    assert found[USAGE_COUNTERS["output"]] == {"audio": 2, "unknown": 38}
    assert found[USAGE_COUNTERS["cached"]] == {"image": 10, "unknown": 5}


def test_parts_that_are_more_than_the_total_are_left_out():
    found = measured(Usage(input=10, output=1, input_audio=50))
    assert found[USAGE_COUNTERS["input"]] == {"unknown": 10}


def test_call_without_usage_counts_no_tokens():
    found = measured(Usage())
    assert found[USAGE_COUNTERS["input"]] == found[USAGE_COUNTERS["output"]] == {"unknown": 0}
    assert USAGE_COUNTERS["cached"] not in found
    assert found["gen_ai.client.inference.operation.input_tokens"] == {"None": 0}


def test_embeddings_have_metrics_of_their_own():
    found = measured(Usage(input=10), operation="embed")
    assert sorted(found) == [
        "abstractcore.cost.unknown_calls",
        "gen_ai.client.embeddings.duration",
        "gen_ai.client.embeddings.operation.input_tokens",
    ]
    assert found["gen_ai.client.embeddings.operation.input_tokens"] == {"None": 10}


def test_other_operations_have_a_duration_and_their_tokens():
    found = measured(Usage(input=10), operation="transcribe")
    assert found["gen_ai.client.operation.duration"] == {"None": 1.0}
    assert found[USAGE_COUNTERS["input"]] == {"unknown": 10}
    assert "gen_ai.client.inference.duration" not in found
