"""Counts of this process and of those that answer beside it, in Prometheus' text format."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from pathlib import Path

from abstractcore.budgets import BudgetState
from abstractcore.private_files import private
from abstractcore.schema import CostSums

from .records import DURATION_LIMITS, RequestCounts

Counts = Mapping[str, Mapping[str, float]]
"""The values of metrics, by the name of the metric and by its labels."""
_LIVE, _DEAD = ".live.json", ".dead.json"


class SharedFolder:
    """A folder with a file for each process, which only its owner may read. `process` is the name of this one."""

    def __init__(self, folder: Path, process: str) -> None:
        self.folder = folder
        self.process = process

    def save(self, counts: Counts) -> None:
        """Replaces the counts of this process. Raises `OSError`."""
        part = self.folder / f"{self.process}.part"
        _write(part, json.dumps(counts))
        part.replace(self.folder / f"{self.process}{_LIVE}")

    def bury(self, process: str) -> None:
        """Records that another process has died; what it has saved counts on. Raises `OSError`."""
        live, dead = (self.folder / f"{process}{end}" for end in (_LIVE, _DEAD))
        try:
            os.replace(live, dead)
        except FileNotFoundError:
            _write(dead, "{}")

    def others(self) -> list[Counts]:
        """Returns the counts that other processes, which still run, have saved. Raises `OSError`."""
        return self._read(_LIVE)

    def dead(self) -> list[Counts]:
        """Returns the counts that processes had saved before they died. Raises `OSError`."""
        return self._read(_DEAD)

    def dead_processes(self) -> list[str]:
        """Returns the names of the processes that have died."""
        return [file.name.removesuffix(_DEAD) for file in self.folder.glob(f"*{_DEAD}")]

    def _read(self, end: str) -> list[Counts]:
        found: list[Counts] = []
        for file in self.folder.glob(f"*{end}"):
            if file.name.removesuffix(end) != self.process:
                try:
                    found.append(json.loads(file.read_text()))
                except FileNotFoundError:  # its process has died meanwhile
                    continue
        return found


def _write(path: Path, text: str) -> None:
    with open(path, "w", opener=private) as file:
        file.write(text)


_SAVED_SECONDS = 1.0
"""How long it takes until other processes see a count, which is lost if this one is killed before."""
_RUNNING = "requests_running"
_BACKGROUNDS = "background_responses_running"
_WEBSOCKETS = "websocket_connections_open"
_GAUGES = (_RUNNING, _BACKGROUNDS, _WEBSOCKETS)
"""What a process does now: one that has died does nothing."""
_FAMILIES = {
    "workers": ("gauge", "Processes that answer."),
    "worker_deaths_total": ("counter", "Processes that have died, and were replaced."),
    _RUNNING: ("gauge", "Requests that are being answered."),
    _BACKGROUNDS: ("gauge", "Responses that are made in the background."),
    _WEBSOCKETS: ("gauge", "WebSocket connections that are open."),
    "requests_total": ("counter", "Requests that were answered."),
    "request_seconds": ("histogram", "How long requests took, streams to their end."),
    "calls_total": ("counter", "Calls of models."),
    "tokens_total": ("counter", "Tokens of calls."),
    "guard_decisions_total": ("counter", "Decisions of guards."),
    "tool_calls_total": ("counter", "Calls of tools of MCP servers."),
    "cost_dollars_total": ("counter", "What calls cost, as far as it is known."),
    "cost_estimated_dollars_total": ("counter", "About what calls cost that ended without reporting it."),
    "cost_unknown_calls_total": ("counter", "Calls whose cost is neither known nor estimated."),
    "cost_saved_dollars_total": ("counter", "What answers of caches cost when they were asked for."),
}
_BUDGET_FAMILIES = {
    "limit": "What the calls of a budget may cost in its window.",
    "spent": "What the calls of a budget have cost in its window.",
    "reserved": "What the running calls of a budget may cost.",
}
"""By the fields of the state of a budget."""
_log = logging.getLogger("abstractcore.server")


class Metrics:
    """The `counts` of this process since its start, and of all that share its folder, `shared`, as one. `backgrounds`
    and `websockets` return how many responses it makes in the background, and how many connections are open.
    """

    def __init__(
        self,
        shared: SharedFolder | None = None,
        backgrounds: Callable[[], int] = int,
        websockets: Callable[[], int] = int,
    ) -> None:
        self.counts = RequestCounts()
        self._backgrounds = backgrounds
        self._websockets = websockets
        self._shared = shared

    def text(self) -> str:
        """Returns all counts. Raises `OSError` if those of other processes cannot be read."""
        living = [self._counts(), *(self._shared.others() if self._shared is not None else ())]
        dead = self._shared.dead() if self._shared is not None else []
        summed = {name: defaultdict[str, float](float) for name in _FAMILIES}
        nothing: Counts = {name: {} for name in _GAUGES}
        for counts in living + [{**counts, **nothing} for counts in dead]:
            for name, values in counts.items():
                for labels, value in values.items():
                    summed[name][labels] += value
        summed["workers"][""] = len(living)
        summed["worker_deaths_total"][""] = len(dead)
        process = {_labels([("process", str(os.getpid()))]): 1}
        families = [_family("process_info", "gauge", "The process that answers.", process)]
        families += [_family(name, *_FAMILIES[name], values) for name, values in summed.items()]
        return "".join(families)

    @asynccontextmanager
    async def kept_saved(self) -> AsyncGenerator[None]:
        """Lets the other processes see the counts of this one during `async with`, and those at its end."""
        saving = asyncio.create_task(self._save_always())
        try:
            yield
        finally:
            saving.cancel()
            with suppress(asyncio.CancelledError):
                await saving
            self._save()

    async def _save_always(self) -> None:
        while self._shared is not None:
            self._save()
            await asyncio.sleep(_SAVED_SECONDS)

    def _save(self) -> None:
        """Saves the counts; a failure is logged."""
        if self._shared is not None:
            try:
                self._shared.save(self._counts())
            except OSError as error:
                _log.error("the counts of this process were not saved: %s", error.strerror)

    def _counts(self) -> Counts:
        counts = self.counts
        return {
            _RUNNING: {"": counts.running},
            _BACKGROUNDS: {"": self._backgrounds()},
            _WEBSOCKETS: {"": self._websockets()},
            "requests_total": _by_labels(counts.requests, "route", "status"),
            "request_seconds": self._durations(),
            "calls_total": {_labels([("model", model)]): count for model, count in counts.calls.items()},
            "tokens_total": _by_labels(counts.tokens, "model", "direction"),
            "guard_decisions_total": _by_labels(counts.decisions, "guard", "checked", "outcome"),
            "tool_calls_total": _by_labels(counts.tools, "server", "tool", "outcome"),
            "cost_dollars_total": self._costs(lambda sums: sums.known),
            "cost_estimated_dollars_total": self._costs(lambda sums: sums.estimated),
            "cost_unknown_calls_total": self._costs(lambda sums: sums.unknown),
            "cost_saved_dollars_total": self._costs(lambda sums: sums.saved),
        }

    def _costs(self, of: Callable[[CostSums], Decimal | int]) -> dict[str, float]:
        return {_labels([("model", model)]): float(of(sums)) for model, sums in self.counts.costs.items()}

    def _durations(self) -> dict[str, float]:
        below, samples = 0, dict[str, float]()
        for limit in (*DURATION_LIMITS, float("inf")):
            below += self.counts.durations[limit]
            shown = "+Inf" if limit == float("inf") else f"{limit:g}"
            samples[f"_bucket{_labels([('le', shown)])}"] = below
        return samples | {"_sum": self.counts.seconds, "_count": below}


def budget_gauges(states: Iterable[BudgetState]) -> str:
    """Returns how much of budgets is used."""
    found = {_labels([("budget", state.budget)]): state for state in states}
    return "".join(
        _family(f"budget_{name}_dollars", "gauge", about, {each: float(getattr(found[each], name)) for each in found})
        for name, about in _BUDGET_FAMILIES.items()
        if found
    )


def _family(name: str, kind: str, about: str, samples: Mapping[str, float]) -> str:
    full = f"abstractcore_{name}"
    lines = [f"# HELP {full} {about}", f"# TYPE {full} {kind}"]
    return "".join(f"{line}\n" for line in (*lines, *(f"{full}{rest} {value}" for rest, value in samples.items())))


def _by_labels(counts: Mapping[tuple[str, ...], int], *names: str) -> dict[str, float]:
    return {_labels(zip(names, key, strict=True)): count for key, count in counts.items()}


def _labels(pairs: Iterable[tuple[str, str]]) -> str:
    shown = (f'{name}="{_escape(value)}"' for name, value in pairs)
    return f"{{{','.join(shown)}}}"


def _escape(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
