"""`Metrics`: what this process has answered, in Prometheus' text format
(https://prometheus.io/docs/instrumenting/exposition_formats/).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..schema import WireResponse
from .audit import Entry

if TYPE_CHECKING:
    from .exchange import Exchange

_OTHER = "other"
_MOST_MODELS = 200
"""How many models have counts of their own: others, and paths that no route has, count as "other"."""
_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Upper limits of the durations of requests, in seconds."""


class Metrics:
    """Counts of one process, since its start; `running` is the number of requests that are being answered. It is used
    in the thread of the event loop alone.
    """

    def __init__(self) -> None:
        self.running = 0
        self._requests: Counter[tuple[str, str]] = Counter()
        self._tokens: Counter[tuple[str, str]] = Counter()
        self._calls: Counter[str] = Counter()
        self._cost: dict[str, float] = {}
        self._buckets: Counter[float] = Counter()
        self._seconds = 0.0

    def count(self, entry: Entry, status: int, seconds: float) -> None:
        """Counts a request that has been answered, or whose client has left."""
        self._requests[entry.route or _OTHER, str(status)] += 1
        self._seconds += seconds
        self._buckets[next((limit for limit in _BUCKETS if seconds <= limit), float("inf"))] += 1
        if entry.calls and entry.model is not None:
            is_known = entry.model in self._calls or len(self._calls) < _MOST_MODELS
            model = entry.model if is_known else _OTHER
            self._calls[model] += entry.calls
            self._tokens[model, "input"] += entry.input_tokens
            self._tokens[model, "output"] += entry.output_tokens
            self._cost[model] = self._cost.get(model, 0.0) + float(entry.cost or 0)

    def text(self) -> str:
        """Returns all counts."""
        names = ("route", "status")
        requests = {_labels(zip(names, key, strict=True)): count for key, count in self._requests.items()}
        tokens = {_labels(zip(("model", "direction"), key, strict=True)): count for key, count in self._tokens.items()}
        calls = {_labels([("model", model)]): count for model, count in self._calls.items()}
        cost = {_labels([("model", model)]): dollars for model, dollars in self._cost.items()}
        process = {_labels([("process", str(os.getpid()))]): 1}
        return "".join(
            (
                _family("process_info", "gauge", "The process that answers.", process),
                _family("requests_running", "gauge", "Requests that are being answered.", {"": self.running}),
                _family("requests_total", "counter", "Requests that were answered.", requests),
                self._durations(),
                _family("calls_total", "counter", "Calls of models.", calls),
                _family("tokens_total", "counter", "Tokens of calls.", tokens),
                _family("cost_dollars_total", "counter", "What calls cost, as far as it is known.", cost),
            )
        )

    def _durations(self) -> str:
        name, below, samples = "request_seconds", 0, dict[str, float]()
        for limit in (*_BUCKETS, float("inf")):
            below += self._buckets[limit]
            shown = "+Inf" if limit == float("inf") else f"{limit:g}"
            samples[f"_bucket{_labels([('le', shown)])}"] = below
        samples |= {"_sum": self._seconds, "_count": below}
        return _family(name, "histogram", "How long requests took, streams to their end.", samples)


async def metrics(exchange: Exchange) -> WireResponse:
    """Answers with the counts of this process."""
    return WireResponse(200, exchange.headers({"content-type": _TYPE}), exchange.state.metrics.text().encode())


def _family(name: str, kind: str, about: str, samples: Mapping[str, float]) -> str:
    full = f"abstractcore_{name}"
    lines = [f"# HELP {full} {about}", f"# TYPE {full} {kind}"]
    return "".join(f"{line}\n" for line in (*lines, *(f"{full}{rest} {value}" for rest, value in samples.items())))


def _labels(pairs: Iterable[tuple[str, str]]) -> str:
    shown = (f'{name}="{_escaped(value)}"' for name, value in pairs)
    return f"{{{','.join(shown)}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
