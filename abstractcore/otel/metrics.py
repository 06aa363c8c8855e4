"""Metrics of records: durations, tokens by modality, and costs: known, estimated and unknown ones apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from opentelemetry.metrics import Counter, Histogram, Meter

from ..schema import CallRecord, InteractionRecord, ToolRecord, TraceRecord, Usage
from . import names
from .attributes import error_type, operation_of, provider_of, requested_model
from .names import Metric

_UNKNOWN: Final = "unknown"
_AUDIO: Final[Mapping[str, str]] = {"input": "input_audio", "output": "output_audio"}
"""The field of `Usage` that has the audio tokens of another one."""
_METERS: Final[Mapping[str, Mapping[str, str]]] = {
    "input": {"image": "input_image"},
    "output": {"image": "output_image"},
    "cached": {"audio": "cache_read_audio", "image": "cache_read_image"},
}
"""The meters of `Billing` that are parts of a field, by modality."""


class RecordMetrics:
    """The instruments of one meter."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._counters: dict[Metric, Counter] = {}
        self._histograms: dict[Metric, Histogram] = {}

    def add(self, record: TraceRecord) -> None:
        """Adds a record."""
        if isinstance(record, InteractionRecord):
            return
        if isinstance(record, ToolRecord):
            if record.cost is not None:
                attributes = {names.OPERATION: names.EXECUTE_TOOL, names.TOOL_NAME: record.tool}
                self._count(names.SPENT, float(record.cost), attributes)
            return
        attributes = _attributes(record)
        operation = operation_of(record)
        if operation == names.CHAT:
            self._add_inference(record, attributes)
        elif operation == names.EMBEDDINGS:
            self._add_embeddings(record, attributes)
        else:
            self._record(names.OTHER_DURATION, record.seconds, attributes | _error(record))
            self._add_tokens(record.usage, attributes)
        self._add_cost(record, attributes)

    def _add_inference(self, record: CallRecord, attributes: dict[str, str]) -> None:
        failed = attributes | _error(record)
        usage = record.usage
        self._record(names.INFERENCE_DURATION, record.seconds, failed)
        if record.streamed and record.seconds_to_first is not None:
            self._record(names.FIRST_CHUNK, record.seconds_to_first, attributes)
        self._record(names.INPUT_OF_OPERATION, _count(usage.input), failed)
        self._record(names.OUTPUT_OF_OPERATION, _count(usage.output), failed)
        self._add_tokens(usage, attributes, always=("input", "output"))

    def _add_embeddings(self, record: CallRecord, attributes: dict[str, str]) -> None:
        failed = attributes | _error(record)
        self._record(names.EMBEDDINGS_DURATION, record.seconds, failed)
        self._record(names.INPUT_OF_EMBEDDINGS, _count(record.usage.input), failed)

    def _add_tokens(self, usage: Usage, attributes: dict[str, str], always: tuple[str, ...] = ()) -> None:
        for field, metric in names.USED.items():
            count = getattr(usage, field)
            if count is None and field not in always:
                continue
            for modality, tokens in _by_modality(usage, field, _count(count)):
                self._count(metric, tokens, {**attributes, names.MODALITY: modality})

    def _add_cost(self, record: CallRecord, attributes: dict[str, str]) -> None:
        if record.cost is not None:
            self._count(names.SPENT, float(record.cost), attributes)
        if record.estimated_cost is not None:
            self._count(names.SPENT_ABOUT, float(record.estimated_cost), attributes)
        if record.saved_cost is not None:
            self._count(names.SAVED, float(record.saved_cost), attributes)
        if record.cost is None and record.estimated_cost is None:
            self._count(names.UNKNOWN, 1, attributes)

    def _count(self, metric: Metric, amount: float, attributes: Mapping[str, str]) -> None:
        counter = self._counters.get(metric)
        if counter is None:
            counter = self._meter.create_counter(metric.name, metric.unit, metric.description)
            self._counters[metric] = counter
        counter.add(amount, attributes)

    def _record(self, metric: Metric, amount: float, attributes: Mapping[str, str]) -> None:
        histogram = self._histograms.get(metric)
        if histogram is None:
            histogram = self._meter.create_histogram(
                metric.name, metric.unit, metric.description, explicit_bucket_boundaries_advisory=metric.boundaries
            )
            self._histograms[metric] = histogram
        histogram.record(amount, attributes)


def _attributes(record: CallRecord) -> dict[str, str]:
    found = {
        names.OPERATION: operation_of(record),
        names.PROVIDER: provider_of(record),
        names.REQUEST_MODEL: requested_model(record),
    }
    if record.reply is not None and record.reply.model is not None:
        found[names.RESPONSE_MODEL] = record.reply.model
    return found


def _error(record: CallRecord) -> dict[str, str]:
    kind = error_type(record)
    return {} if kind is None else {names.ERROR_TYPE: kind}


def _count(tokens: int | None) -> int:
    return max(0, tokens or 0)


def _by_modality(usage: Usage, field: str, total: int) -> Iterator[tuple[str, int]]:
    """Yields the tokens of a field by modality, with those of which none is reported: together they are its total."""
    known: dict[str, int] = {}
    if field in _AUDIO:
        known["audio"] = _count(getattr(usage, _AUDIO[field]))
    counts: Mapping[str, int] = {} if usage.billing is None else usage.billing.counts
    for modality, meter in _METERS.get(field, {}).items():
        known[modality] = _count(counts.get(meter))
    rest = total - sum(known.values())
    if rest < 0:  # a vendor's parts may be more than its total
        yield _UNKNOWN, total
        return
    yield from ((modality, tokens) for modality, tokens in known.items() if tokens)
    if rest or not total:
        yield _UNKNOWN, rest
